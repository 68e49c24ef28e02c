"""Kueue's queues, flavors, and configuration.

Source: kubernetes-sigs/kueue:apis/kueue/v1beta2 and apis/config/v1beta2@v0.19.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.fields import parse_texts, text_of
from dra_planner.manifests.parsing.pods import parse_toleration
from dra_planner.model import (
    ClusterQueue,
    FlavorQuota,
    ObjectKey,
    QueueSetup,
    ResourceFlavor,
    ResourceGroup,
    Taint,
)
from dra_planner.quantity import Quantity, QuantityError

KUEUE: Final = "kueue.x-k8s.io"
_CONFIG: Final = "config.kueue.x-k8s.io"


def parse_queues(objects: Iterable[KubernetesObject]) -> QueueSetup:
    """Return the combined content of Kueue's objects. A field with an unexpected type counts as
    missing.
    """
    local: dict[ObjectKey, str] = {}
    queues: dict[str, ClusterQueue] = {}
    flavors: dict[str, ResourceFlavor] = {}
    resources: dict[str, str] | None = None
    for item in objects:
        spec = _mapping(item.data.get("spec"))
        if item.group == KUEUE and item.kind == "LocalQueue":
            local[item.key] = text_of(spec.get("clusterQueue"))
        elif item.group == KUEUE and item.kind == "ClusterQueue":
            queues[item.name] = _cluster_queue(item.name, spec)
        elif item.group == KUEUE and item.kind == "ResourceFlavor":
            flavors[item.name] = _flavor(item.name, spec)
        for config in _configurations(item):
            rows = _items(_mapping(config.get("resources")).get("deviceClassMappings"))
            named = {
                str(name): text_of(row.get("name"))
                for row in rows
                for name in row.get("deviceClassNames") or ()
            }
            resources = {**(resources or {}), **named}
    return QueueSetup(
        local_queues=local, cluster_queues=queues, flavors=flavors, resources=resources
    )


def _configurations(item: KubernetesObject) -> Iterable[Mapping[str, Any]]:
    """Yield Kueue's configuration, which is a separate object or a text in a ConfigMap."""
    if (item.group, item.kind) == (_CONFIG, "Configuration"):
        yield item.data
    elif item.kind == "ConfigMap" and not item.group:
        for text in _mapping(item.data.get("data")).values():
            if isinstance(text, str) and _CONFIG in text:
                try:
                    data, _ = read_yaml(text)
                except Fault:
                    continue
                if isinstance(data, Mapping) and str(data.get("apiVersion", "")).startswith(
                    _CONFIG
                ):
                    yield data


def _cluster_queue(name: str, spec: Mapping[str, Any]) -> ClusterQueue:
    groups = tuple(
        ResourceGroup(
            covered=tuple(str(each) for each in group.get("coveredResources") or ()),
            flavors=tuple(_quota(each) for each in _items(group.get("flavors"))),
        )
        for group in _items(spec.get("resourceGroups"))
    )
    return ClusterQueue(
        name=name, groups=groups, borrows=bool(spec.get("cohort") or spec.get("cohortName"))
    )


def _quota(data: Mapping[str, Any]) -> FlavorQuota:
    nominal: dict[str, Quantity] = {}
    for row in _items(data.get("resources")):
        try:
            nominal[text_of(row.get("name"))] = Quantity.parse(str(row.get("nominalQuota", 0)))
        except QuantityError:
            continue
    return FlavorQuota(text_of(data.get("name")), nominal)


def _flavor(name: str, spec: Mapping[str, Any]) -> ResourceFlavor:
    taints = (
        Taint(text_of(each.get("key")), text_of(each.get("value")), each["effect"])
        for each in _items(spec.get("nodeTaints"))
        if each.get("effect") in ("NoSchedule", "PreferNoSchedule", "NoExecute")
    )
    return ResourceFlavor(
        name=name,
        node_labels=parse_texts(spec.get("nodeLabels")),
        node_taints=tuple(taints),
        tolerations=tuple(parse_toleration(each) for each in _items(spec.get("tolerations"))),
    )


def _mapping(data: Any) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def _items(data: Any) -> list[Mapping[str, Any]]:
    return [each for each in data if isinstance(each, Mapping)] if isinstance(data, list) else []

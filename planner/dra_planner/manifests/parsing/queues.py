"""Kueue's queues, flavors, and configuration.

Source: kubernetes-sigs/kueue:apis/kueue/v1beta2 and apis/config/v1beta2@v0.19.2.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.fields import (
    parse_label_selector,
    parse_quantity,
    parse_texts,
    text_of,
)
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
    stopped: dict[ObjectKey, str] = {}
    topologies: dict[str, tuple[str, ...]] = {}
    resources: dict[str, str] | None = None
    uncounted: list[str] = []
    for item in objects:
        spec = _mapping(item.data.get("spec"))
        if item.group == KUEUE and item.kind == "LocalQueue":
            local[item.key] = text_of(spec.get("clusterQueue"))
            if policy := _stop_policy(spec):
                stopped[item.key] = policy
        elif item.group == KUEUE and item.kind == "Topology":
            levels = (text_of(each.get("nodeLabel")) for each in _items(spec.get("levels")))
            topologies[item.name] = tuple(levels)
        elif item.group == KUEUE and item.kind == "ClusterQueue":
            queues[item.name] = _cluster_queue(item.name, spec)
        elif item.group == KUEUE and item.kind == "ResourceFlavor":
            flavors[item.name] = _flavor(item.name, spec)
        for config in _configurations(item):
            settings = _mapping(config.get("resources"))
            uncounted += _uncounted(settings)
            rows = _items(settings.get("deviceClassMappings"))
            named = {
                str(name): text_of(row.get("name"))
                for row in rows
                for name in row.get("deviceClassNames") or ()
            }
            resources = {**(resources or {}), **named}
    return QueueSetup(
        local_queues=local,
        stopped=stopped,
        topologies=topologies,
        cluster_queues=queues,
        flavors=flavors,
        resources=resources,
        uncounted=tuple(uncounted),
    )


def _uncounted(settings: Mapping[str, Any]) -> list[str]:
    """Return the prefixes of resource names that Kueue excludes, or replaces by other resources."""
    excluded = settings.get("excludeResourcePrefixes")
    names = [text_of(each) for each in excluded] if isinstance(excluded, list) else []
    rows = _items(settings.get("transformations"))
    return names + [text_of(row.get("input")) for row in rows if row.get("strategy") == "Replace"]


def _stop_policy(spec: Mapping[str, Any]) -> str:
    """Return the policy if it stops admission, or an empty text."""
    policy = text_of(spec.get("stopPolicy"))
    return policy if policy in ("Hold", "HoldAndDrain") else ""


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
    selector = spec.get("namespaceSelector")
    return ClusterQueue(
        name=name,
        groups=groups,
        cohort=text_of(spec.get("cohort") or spec.get("cohortName")),
        stop_policy=_stop_policy(spec),
        namespaces=parse_label_selector(selector) if isinstance(selector, Mapping) else None,
    )


def _quota(data: Mapping[str, Any]) -> FlavorQuota:
    rows = _items(data.get("resources"))
    return FlavorQuota(
        text_of(data.get("name")),
        _amounts(rows, "nominalQuota", default=0),
        _amounts(rows, "borrowingLimit"),
    )


def _amounts(
    rows: Iterable[Mapping[str, Any]], key: str, default: int | None = None
) -> dict[str, Quantity]:
    amounts: dict[str, Quantity] = {}
    for row in rows:
        text = row.get(key, default)
        if text is not None:
            with contextlib.suppress(QuantityError):
                amounts[text_of(row.get("name"))] = parse_quantity(text)
    return amounts


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
        topology=text_of(spec.get("topologyName")),
    )


def _mapping(data: Any) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def _items(data: Any) -> list[Mapping[str, Any]]:
    return [each for each in data if isinstance(each, Mapping)] if isinstance(data, list) else []

"""Facts about resources of NVIDIA's device plugin from its ConfigMap, node labels, or the GPU
Operator.

Sources: NVIDIA/k8s-device-plugin:api/config/v1/{config,replicas}.go@1b826ac,
NVIDIA/gpu-operator:api/nvidia/v1/clusterpolicy_types.go@a22dbf6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from dra_planner.documents.plain_values import number
from dra_planner.drivers.protocol.device_plugin import DeviceSharing, PluginFacts

_CONFIG_LABEL: Final = "nvidia.com/device-plugin.config"


def sharing_of(
    facts: PluginFacts, resource: str, node_labels: Mapping[str, str]
) -> DeviceSharing | None:
    """Return how a resource is shared on nodes with these labels, or None if its devices aren't
    shared.

    If there are several named configurations, and no label selects one, the configuration that
    contains the resource applies.
    """
    named = node_labels.get(_CONFIG_LABEL, "")
    if named in facts.by_config:
        return facts.by_config[named].get(resource)
    if resource in facts.shared:
        return facts.shared[resource]
    found = [config[resource] for config in facts.by_config.values() if resource in config]
    is_default = len(facts.by_config) == 1 or resource.endswith(".shared")
    return found[0] if found and is_default else None


def facts_of(kind: str, name: str, data: Mapping[str, Any]) -> PluginFacts | None:
    """Return an object's facts about the device plugin, or None if it doesn't contain any."""
    if kind == "ConfigMap":
        return _of_configurations(name, data.get("data"))
    if kind == "Node":
        metadata = data.get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
        return _of_node(name, labels) if isinstance(labels, Mapping) else None
    is_policy = kind == "ClusterPolicy" and str(data.get("apiVersion", "")).startswith(
        "nvidia.com/"
    )
    return PluginFacts(is_known=True) if is_policy else None


def _of_configurations(name: str, data: Any) -> PluginFacts | None:
    found: dict[str, Mapping[str, DeviceSharing]] = {}
    for key, text in data.items() if isinstance(data, Mapping) else ():
        config = _plugin_config(text)
        if config is not None:
            found[str(key)] = dict(_sharing(config, f"ConfigMap {name}"))
    return PluginFacts(by_config=found, is_known=True) if found else None


def _of_node(name: str, labels: Mapping[str, Any]) -> PluginFacts | None:
    product = str(labels.get("nvidia.com/gpu.product", ""))
    if not product:
        return None
    _, _, profile = product.partition("-MIG-")
    strategy = str(labels.get("nvidia.com/gpu.sharing-strategy", ""))
    replicas = number(labels.get("nvidia.com/gpu.replicas")) or 0
    shared: dict[str, DeviceSharing] = {}
    if strategy in ("time-slicing", "mps") and replicas > 1:
        resource = (
            "nvidia.com/gpu"
            if product.endswith("-SHARED") or strategy == "mps"
            else "nvidia.com/gpu.shared"
        )
        shared[resource] = DeviceSharing(strategy, replicas, f"Node {name}")
    is_single = labels.get("nvidia.com/mig.strategy") == "single" and profile not in ("", "INVALID")
    return PluginFacts(shared=shared, partition=profile if is_single else "", is_known=True)


def _plugin_config(text: Any) -> Mapping[str, Any] | None:
    """Return the configuration of NVIDIA's device plugin in a text, or None if the text contains
    something else.
    """
    try:
        config = yaml.safe_load(text) if isinstance(text, str) else None
    # ValueError is raised for numbers with thousands of digits, and for dates
    except (yaml.YAMLError, ValueError):
        return None
    if not isinstance(config, dict) or config.get("version") != "v1":
        return None
    return config if {"flags", "sharing"} & config.keys() else None


def _sharing(config: Mapping[str, Any], source: str) -> Iterable[tuple[str, DeviceSharing]]:
    sharing = config.get("sharing") or {}
    for key, strategy in (("timeSlicing", "time-slicing"), ("mps", "mps")):
        section = sharing.get(key) or {}
        for entry in section.get("resources") or ():
            replicas = entry.get("replicas")
            if not isinstance(replicas, int) or replicas < 2:
                continue
            name = entry.get("rename") or entry["name"]
            renamed = section.get("renameByDefault") and not entry.get("rename")
            yield (f"{name}.shared" if renamed else name), DeviceSharing(strategy, replicas, source)

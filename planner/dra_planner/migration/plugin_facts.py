"""What a device plugin's resource name means in the source cluster: a whole device, a share of one, or a partition.

A workload alone doesn't say it: `nvidia.com/gpu: 1` is a GPU, one of N replicas, a tenth under MPS, or a MIG slice.
The facts come from node labels, from the plugin's ConfigMap, from the GPU Operator's ClusterPolicy, or from the user.
Sources: NVIDIA/k8s-device-plugin:api/config/v1/{config,replicas}.go@1b826ac,
NVIDIA/gpu-operator:api/nvidia/v1/clusterpolicy_types.go@a22dbf6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import yaml

from dra_planner.manifests.objects import KubernetesObject

_CONFIG_LABEL: Final = "nvidia.com/device-plugin.config"


@dataclass(frozen=True, slots=True)
class Sharing:
    """How one device is handed out several times: `time-slicing` or `mps`, and into how many replicas."""

    strategy: str
    replicas: int
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFacts:
    """Facts about the device plugins of the source cluster.

    `shared` maps a resource name to its sharing. `by_config` does so for each named configuration of the plugin, which
    holds on nodes with that value of the label `nvidia.com/device-plugin.config`. `mig_profile` is the profile that
    `nvidia.com/gpu` stands for under the strategy *single*, "" if it stands for whole GPUs.
    `is_known` is false if no input says anything, so that whole devices are an assumption.
    """

    shared: Mapping[str, Sharing] = field(default_factory=dict)
    by_config: Mapping[str, Mapping[str, Sharing]] = field(default_factory=dict)
    mig_profile: str = ""
    is_known: bool = False

    def sharing_of(self, resource: str, node_labels: Mapping[str, str]) -> Sharing | None:
        """Return how a resource is shared on nodes with these labels; None if its devices aren't shared.

        With several named configurations and no label that picks one, the one that names the resource holds.
        """
        named = node_labels.get(_CONFIG_LABEL, "")
        if named in self.by_config:
            return self.by_config[named].get(resource)
        if resource in self.shared:
            return self.shared[resource]
        found = [config[resource] for config in self.by_config.values() if resource in config]
        is_default = len(self.by_config) == 1 or resource.endswith(".shared")
        return found[0] if found and is_default else None


def read_plugin_facts(objects: Iterable[KubernetesObject], answers: PluginFacts | None = None) -> PluginFacts:
    """Return the facts that objects state, and those of `answers`, which take precedence."""
    facts = PluginFacts()
    for item in objects:
        if item.kind == "ConfigMap":
            facts = _with_configurations(facts, item)
        elif item.kind == "Node":
            facts = _with_node(facts, item)
        elif item.kind == "ClusterPolicy" and item.group == "nvidia.com":
            facts = replace(facts, is_known=True)
    if answers is None:
        return facts
    return PluginFacts(
        shared={**facts.shared, **answers.shared},
        by_config=facts.by_config,
        mig_profile=answers.mig_profile or facts.mig_profile,
        is_known=facts.is_known or answers.is_known,
    )


def _with_configurations(facts: PluginFacts, item: KubernetesObject) -> PluginFacts:
    data = item.data.get("data")
    found: dict[str, Mapping[str, Sharing]] = {}
    for name, text in data.items() if isinstance(data, Mapping) else ():
        config = _plugin_config(text)
        if config is not None:
            found[str(name)] = dict(_sharing(config, f"ConfigMap {item.namespace}/{item.name}"))
    return replace(facts, by_config={**facts.by_config, **found}, is_known=True) if found else facts


def _plugin_config(text: Any) -> Mapping[str, Any] | None:
    """Return the configuration of NVIDIA's device plugin that a text holds; None if it holds something else."""
    try:
        config = yaml.safe_load(text) if isinstance(text, str) else None
    except yaml.YAMLError:
        return None
    if not isinstance(config, dict) or config.get("version") != "v1":
        return None
    return config if {"flags", "sharing"} & config.keys() else None


def _sharing(config: Mapping[str, Any], source: str) -> Iterable[tuple[str, Sharing]]:
    sharing = config.get("sharing") or {}
    for key, strategy in (("timeSlicing", "time-slicing"), ("mps", "mps")):
        section = sharing.get(key) or {}
        for entry in section.get("resources") or ():
            replicas = entry.get("replicas")
            if not isinstance(replicas, int) or replicas < 2:
                continue
            name = entry.get("rename") or entry["name"]
            renamed = section.get("renameByDefault") and not entry.get("rename")
            yield (f"{name}.shared" if renamed else name), Sharing(strategy, replicas, source)


def _with_node(facts: PluginFacts, item: KubernetesObject) -> PluginFacts:
    labels = item.metadata.get("labels")
    labels = labels if isinstance(labels, Mapping) else {}
    product = str(labels.get("nvidia.com/gpu.product", ""))
    if not product:
        return facts
    _, _, profile = product.partition("-MIG-")
    strategy = str(labels.get("nvidia.com/gpu.sharing-strategy", ""))
    replicas = str(labels.get("nvidia.com/gpu.replicas", ""))
    shared = dict(facts.shared)
    if strategy in ("time-slicing", "mps") and replicas.isdigit() and int(replicas) > 1:
        name = "nvidia.com/gpu" if product.endswith("-SHARED") or strategy == "mps" else "nvidia.com/gpu.shared"
        shared[name] = Sharing(strategy, int(replicas), f"Node {item.name}")
    is_single = labels.get("nvidia.com/mig.strategy") == "single" and profile not in ("", "INVALID")
    return replace(facts, shared=shared, mig_profile=profile if is_single else facts.mig_profile, is_known=True)

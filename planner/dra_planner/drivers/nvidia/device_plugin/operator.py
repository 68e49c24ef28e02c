"""Consequences of the GPU Operator's ClusterPolicy and GPUCluster for a migration.

Sources: NVIDIA/gpu-operator:api/nvidia/v1/clusterpolicy_types.go and
controllers/nodelabeling_controller.go@a22dbf6 (26.7.0),
NVIDIA/cloud-native-docs:gpu-operator/dra-intro-install.rst@52dcb7b.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.plain_values import block, text

_GROUP: Final = "nvidia.com/"
_EXPORTER_WITH_CLAIMS: Final = (4, 6, 0)


def operator_notes(objects: Iterable[tuple[str, str, str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yield the effects of the operator's objects. Each is given as version, kind, name,
    and data.
    """
    found = [each for each in objects if each[0].startswith(_GROUP)]
    policies = [
        (name, block(data, "spec")) for _, kind, name, data in found if kind == "ClusterPolicy"
    ]
    clusters = [name for _, kind, name, _ in found if kind == "GPUCluster"]
    for name, spec in policies:
        yield from _policy_notes(f"ClusterPolicy {name}", spec)
    for name in clusters:
        yield (
            f"The GPU Operator's GPUCluster {name} runs the DRA driver. Its DeviceClass "
            "gpu.nvidia.com doesn't serve nvidia.com/gpu, because the class doesn't set "
            "extendedResourceName"
        )
        if policies:
            yield (
                f"GPUCluster {name} and ClusterPolicy {policies[0][0]} can't be in one cluster, "
                "because the GPU Operator supports only one of them and can't switch between them"
            )


def _policy_notes(title: str, spec: Mapping[str, Any]) -> Iterator[str]:
    plugin = block(spec, "devicePlugin")
    if plugin.get("enabled") is not False:
        yield (
            f"The GPU Operator's {title} runs the device plugin on every GPU node. Set the label "
            "nvidia.com/gpu.deploy.device-plugin=false on new DRA nodes, and install the DRA driver from its own "
            "chart, because the operator can't change from ClusterPolicy to GPUCluster in a running cluster"
        )
    config = block(plugin, "config")
    if config.get("name"):
        default = f", by default {text(config.get('default'))}" if config.get("default") else ""
        yield f"{title}: the ConfigMap {text(config['name'])} configures the device plugin{default}"
    if block(spec, "mig").get("strategy") == "single":
        yield (
            f"{title} sets the MIG strategy single, so nvidia.com/gpu means a MIG device on "
            "nodes with MIG"
        )
    if block(spec, "migManager").get("enabled") is not False:
        yield (
            f"{title} runs the MIG manager. Set the label nvidia.com/gpu.deploy.mig-manager=false on DRA nodes whose "
            "GPUs the fleet partitions"
        )
    exporter = block(spec, "dcgmExporter")
    version = tuple(int(each) for each in re.findall(r"\d+", text(exporter.get("version")))[:3])
    if exporter.get("enabled") is not False and version and version < _EXPORTER_WITH_CLAIMS:
        yield (
            f"{title} installs dcgm-exporter {exporter['version']}, whose metrics don't have pod "
            "labels for claims. Update it to version 4.6.0-4.8.3 or later"
        )

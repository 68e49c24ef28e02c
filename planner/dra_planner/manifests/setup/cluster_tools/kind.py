"""Configuration of kind, including its patches of kubeadm's configuration.

Source: kubernetes-sigs/kind:pkg/apis/config/v1alpha4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from dra_planner.documents.tree import child
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup.cluster_tools.field_findings import (
    command_findings,
    fault_findings,
    gate_findings,
    items,
    pairs,
    place_of,
)
from dra_planner.manifests.setup.cluster_tools.kubeadm import kubeadm_findings, kubelet_findings
from dra_planner.manifests.setup.command_rows import CommandLine
from dra_planner.manifests.setup.gates_and_versions import version_faults
from dra_planner.manifests.workloads.kind_description import ObjectPart

_PATCHED: Final = {
    "ClusterConfiguration": kubeadm_findings,
    "KubeletConfiguration": kubelet_findings,
}
_GROUPS: Final = {
    "ClusterConfiguration": "kubeadm.k8s.io",
    "KubeletConfiguration": "kubelet.config.k8s.io",
}


def kind_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield the findings on a kind cluster, and on the patches of its nodes."""
    yield from gate_findings(item)
    runtime = item.data.get("runtimeConfig")
    place = place_of(item, "runtimeConfig")
    for name, value in pairs(runtime):
        group, _, version = name.partition("/")
        if group == "resource.k8s.io":
            yield from fault_findings(item, place, version_faults(version, value))
    yield from _patches(ObjectPart(item.data, item.place))
    for _, node in ObjectPart(item.data, item.place).at("nodes").members():
        yield from _patches(node)
        command = CommandLine(
            program="kind",
            words=("create", "cluster"),
            options={"--image": (str(node.get("image", "")),)},
        )
        found = command_findings(item, node.place, command)
        is_broken = _sets_device_features(item) and "resource.k8s.io/v1beta" not in str(item.data)
        yield from (found if is_broken else (replace(each, severity="warning") for each in found))


def _patches(node: ObjectPart) -> Iterator[Diagnostic]:
    """Yield the settings in the patches of kubeadm's configuration, each with its line."""
    for patch in kubeadm_patches(node):
        for found in _PATCHED[patch.kind](patch):
            yield replace(found, place=patch.place)


def kubeadm_patches(part: ObjectPart) -> Iterator[KubernetesObject]:
    """Yield the readable patches of kubeadm's configuration in a kind cluster or one of its
    nodes.
    """
    for number, text in enumerate(items(part.get("kubeadmConfigPatches"))):
        place = child(
            part.at("kubeadmConfigPatches").place, part.get("kubeadmConfigPatches"), number
        )
        try:
            data = read_yaml(text)[0] if isinstance(text, str) else None
        except Fault:
            continue
        if isinstance(data, Mapping) and data.get("kind") in _PATCHED:
            kind = str(data["kind"])
            yield KubernetesObject(f"{_GROUPS[kind]}/v1", kind, data, place)


def _sets_device_features(item: KubernetesObject) -> bool:
    """Return True if a kind cluster is certainly for claims.

    Otherwise, it might have an older Kubernetes version.
    """
    settings = (*pairs(item.data.get("featureGates")), *pairs(item.data.get("runtimeConfig")))
    return any(
        name.startswith(("resource.k8s.io", "DynamicResourceAllocation", "DRA"))
        for name, _ in settings
    )

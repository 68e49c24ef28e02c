"""Objects that create nodes or enable features in other systems: Karpenter's pools and node
classes, and OpenShift's feature gates.

Sources: aws/karpenter-provider-aws:website/content/en (tasks/dra, upgrading/v1-migration,
concepts/nodeclasses); openshift/api:config/v1/types_feature.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from dra_planner.catalog import machines
from dra_planner.clouds import cloud, names
from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup.gates_and_versions import GATE, gate_faults
from dra_planner.manifests.workloads.kind_description import ObjectPart

KINDS: Final = frozenset(
    {
        ("karpenter.sh", "NodePool"),
        ("karpenter.sh", "Provisioner"),
        ("karpenter.k8s.aws", "EC2NodeClass"),
        ("karpenter.k8s.aws", "AWSNodeTemplate"),
        ("config.openshift.io", "FeatureGate"),
    }
)
_SUCCESSORS: Final = {"Provisioner": "NodePool", "AWSNodeTemplate": "EC2NodeClass"}
_OF_GPUS: Final = frozenset({"g", "p"})
"""Categories of EC2 instance types with NVIDIA GPUs."""
_GPU_KEYS: Final = (
    "instance-gpu-name",
    "instance-gpu-manufacturer",
    "instance-gpu-count",
    "instance-gpu-memory",
)
_OPENSHIFT: Final = "4.21"
"""The first OpenShift on Kubernetes 1.34."""


def pool_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield settings of such an object that don't work with claims.

    Yields nothing for other objects.
    """
    if item.group == "config.openshift.io":
        yield from _feature_gate(item)
        return
    version = item.api_version.rpartition("/")[2]
    if version != "v1":
        kind = _SUCCESSORS.get(item.kind, item.kind)
        message = (
            f"Karpenter 1.1 and later don't serve kind {item.kind} in version {item.api_version}"
        )
        fix = (
            f"set apiVersion to {item.group}/v1 and kind to {kind}, and run Karpenter 1.15 or later, "
            "which supports claims"
        )
        yield Diagnostic("error", "version-not-served", f"{item}: {message}", item.place, fix)
    elif item.kind == "NodePool":
        yield from _node_pool(item)
    elif item.kind == "EC2NodeClass":
        yield from _node_class(item)


def _node_pool(item: KubernetesObject) -> Iterator[Diagnostic]:
    root = ObjectPart(item.data, item.place)
    if not _makes_gpu_nodes(root):
        return
    reference = root.at("spec.template.spec.nodeClassRef")
    if reference.get("group") in _own_domains():
        message = f"{item}: its nodes belong to EKS Auto Mode, which doesn't support claims"
        fix = (
            "use self-managed Karpenter and set nodeClassRef to its EC2NodeClass, or use a "
            "managed node group"
        )
        yield Diagnostic("warning", "auto-nodes-take-no-claims", message, reference.place, fix)
    elif root.get("spec.replicas") is None:
        message = f"{item}: by default, Karpenter doesn't start nodes for claims"
        fix = (
            "run Karpenter 1.15 or later with settings.enableDRA: true, or set a fixed number of "
            "nodes in the pool (replicas)"
        )
        yield Diagnostic("note", "karpenter-ignores-claims", message, item.place, fix)


def _makes_gpu_nodes(root: ObjectPart) -> bool:
    """Return True if a pool creates nodes with NVIDIA GPUs, according to its machine types, GPU
    properties, a taint, or a limit.
    """
    for _, each in root.at("spec.template.spec.requirements").members():
        name = str(each.get("key", "")).rpartition("/")[2]
        values = (
            {str(value) for value in _list(each.get("values"))}
            if each.get("operator") == "In"
            else set()
        )
        if name in _GPU_KEYS or (name == "instance-category" and values & _OF_GPUS):
            return True
        if name in ("instance-family", "instance-type") and values & _gpu_names():
            return True
    taints = (taint.get("key") for _, taint in root.at("spec.template.spec.taints").members())
    return "nvidia.com/gpu" in (*taints, *root.get("spec.limits", {}))


def _own_domains() -> set[str]:
    """Return the domains that clouds reserve. Node classes in these domains belong to the cloud."""
    return {domain for name in names() for domain in cloud(name).reserved_domains}


@cache
def _gpu_names() -> set[str]:
    """Return the machine types with NVIDIA GPUs, and their families."""
    found = {
        machine.name
        for name in names()
        for machine in machines(name)
        if machine.accelerator is not None and machine.accelerator.vendor == "nvidia"
    }
    return found | {name.partition(".")[0] for name in found}


def _node_class(item: KubernetesObject) -> Iterator[Diagnostic]:
    root = ObjectPart(item.data, item.place)
    aliases = [str(each.get("alias", "")) for _, each in root.at("spec.amiSelectorTerms").members()]
    named = {
        str(root.get("spec.amiFamily", "")).lower(),
        *(alias.partition("@")[0].lower() for alias in aliases),
    }
    place = root.at("spec.amiSelectorTerms").place if aliases else root.at("spec").place
    if "al2" in named:
        message = (
            f"{item}: EKS no longer publishes Amazon Linux 2 images, and never published them "
            "for Kubernetes 1.33 and later"
        )
        yield Diagnostic(
            "error",
            "image-not-offered",
            message,
            place,
            "set alias to al2023@latest, and remove amiFamily: AL2",
        )
    elif "bottlerocket" in named and not re.search(
        r"(?i)device-plugins?", str(root.get("spec.userData", ""))
    ):
        message = (
            f"{item}: on nodes with GPUs, Bottlerocket runs its own device plugin, which "
            "allocates the GPUs that the DRA driver publishes"
        )
        fix = "set alias to al2023@latest for pools with GPUs"
        yield Diagnostic("note", "device-plugin-on-dra-node", message, place, fix)


def _feature_gate(item: KubernetesObject) -> Iterator[Diagnostic]:
    root = ObjectPart(item.data, item.place)
    chosen, spec = str(root.get("spec.featureSet", "")), root.at("spec")
    gates = {
        value: [str(each) for each in _list(root.get(f"spec.customNoUpgrade.{value}"))]
        for value in _STATES
    }
    for value, given in gates.items():
        for name in given:
            for fault in gate_faults(name, _STATES[value]):
                yield Diagnostic(
                    fault.severity, fault.code, f"{item}: {fault.message}", spec.place, fault.fix
                )
    if chosen in ("TechPreviewNoUpgrade", "DevPreviewNoUpgrade") or (
        chosen == "CustomNoUpgrade" and GATE in gates["enabled"]
    ):
        message = (
            f"{item}: featureSet {chosen} can't be reverted and blocks cluster upgrades; "
            f"OpenShift {_OPENSHIFT} and later serve resource.k8s.io/v1 without it"
        )
        fix = f"remove the object if it's only for claims, and use OpenShift {_OPENSHIFT} or later"
        yield Diagnostic("warning", "gate-not-needed", message, spec.place, fix)


_STATES: Final = {"enabled": "true", "disabled": "false"}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

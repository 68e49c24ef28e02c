"""GPU pods that select labels of GPU feature discovery, in stacks that don't install it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dra_planner.catalog.label_owners import GPU_DISCOVERY, label_owner
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import Properties
from dra_policies.view.gpu_pods import GpuPod
from dra_policies.view.gpu_sources import PLUGIN_CHART
from dra_policies.view.node_selection import REQUIRED_TERMS
from dra_policies.view.stack_view import DeclaredPool, StackView

_DISCOVERERS: Final = frozenset({"", "gpu-operator"})
"""Charts that label nodes, or whose names aren't known."""
_PROGRAM: Final = "feature-discovery"
_NODE_LABELS: Final = "node-labels"


def pods_with_undiscovered_labels(view: StackView, pods: Iterable[GpuPod]) -> Iterator[Finding]:
    """Yield pods that need a label that no pool declares, and that no program of the stack sets.

    Only stacks that install a device plugin count, because its chart can install the program that
    sets the labels (NVIDIA/k8s-device-plugin:deployments/helm/nvidia-device-plugin/values.yaml).
    """
    pools = [pool for pool in view.node_pools if pool.has_gpus is not False]
    if not view.device_plugins or not pools or _may_be_discovered(view):
        return
    for pod in pods:
        for key in sorted(_required_labels(pod.placement)):
            owner = label_owner(key)
            if owner is None or owner.owner != GPU_DISCOVERY or _may_be_set(pools, key):
                continue
            yield Finding(
                message=f"pods of {pod.workload.ref} require the node label {key}, which "
                f"{GPU_DISCOVERY} sets. This stack doesn't install {GPU_DISCOVERY}, so the pods "
                "stay pending unless another program sets this label",
                fix="set gfd.enabled to true in the values of chart nvidia-device-plugin, or select "
                "a label of the pool",
                place=pod.workload.place,
                certain=False,
            )


def _may_be_discovered(view: StackView) -> bool:
    charts = [each for each in view.installed_charts if each.type == PLUGIN_CHART]
    return (
        bool(view.charts & _DISCOVERERS)
        or any(each.props.flag("gfd.enabled", False) is not False for each in charts)
        or any(_PROGRAM in repr(each.props.values) for each in view.objects)
    )


def _may_be_set(pools: Iterable[DeclaredPool], key: str) -> bool:
    """Return whether a pool declares a label, or might set it in another way."""
    return any(
        pool.labels is None
        or key in pool.labels
        or pool.boot_script is None
        or _NODE_LABELS in pool.boot_script
        for pool in pools
    )


def _required_labels(placement: Properties) -> set[str]:
    """Return the labels that each node of a pod must have."""
    keys = set(placement.mapping("nodeSelector") or {})
    terms = [
        {
            item.text("key") or ""
            for item in term.items("matchExpressions") or ()
            if item.text("operator") in ("In", "Exists")
        }
        for term in placement.items(REQUIRED_TERMS) or ()
    ]
    return keys | terms[0].intersection(*terms[1:]) if terms else keys

"""Pods that request GPUs from NVIDIA's device plugin, and the pools that certainly can't run
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.extended_resources import (
    extended_resources,
    tolerate_extended_resources,
)
from dra_planner.clouds import cloud
from dra_planner.model import NodeSelector, PodSet, PodSpec, Workload
from dra_planner.model.pods import peak_amounts
from dra_planner.quantity import amount_text
from dra_planner.wording import counted
from dra_policies.unknown_values import Properties
from dra_policies.view.node_selection import affine, selects, tolerates, tolerations_text
from dra_policies.view.pool_machines import possible_machines
from dra_policies.view.stack_view import DeclaredPool, StackView

GPU: Final = "nvidia.com/gpu"
_MIB: Final = 1024 * 1024
_MILLI: Final = 1000
_NODE_LABELS: Final = "node-labels"


class GpuPod(Struct, frozen=True, kw_only=True):
    """Pods of a workload that request GPUs, with their placement as plain values and their
    requests.
    """

    workload: Workload
    pod_set: PodSet
    placement: Properties
    requests: dict[str, int]

    @property
    def gpus(self) -> int:
        return self.requests.get(GPU, 0)


class PoolRejection(Struct, frozen=True, kw_only=True):
    """The reason why a pool's nodes can't run a pod, and the fix."""

    reason: str
    fix: str


def gpu_pods(view: StackView, cloud_name: str) -> Iterator[GpuPod]:
    """Yield the pods of a stack that request whole GPUs, and don't use claims."""
    tolerated = cloud(cloud_name).tolerates_extended_resources
    for workload in view.manifests.workloads if view.manifests is not None else ():
        for pod_set in workload.pod_sets:
            spec = pod_set.template.spec
            if extended_resources(spec) != frozenset({GPU}) or spec.resource_claims:
                continue
            pod = tolerate_extended_resources(spec) if tolerated else spec
            requests = peak_amounts(pod, lambda container: container.requests)
            yield GpuPod(
                workload=workload,
                pod_set=pod_set,
                placement=_placement(pod),
                requests={**requests, **pod.pod_requests},
            )


def misfit(pod: GpuPod, pool: DeclaredPool, *, shares: bool) -> PoolRejection | None:
    """Return why a pool's nodes certainly can't run a pod, or None if they might. `shares` is True
    if a node can serve more units than it has GPUs.
    """
    if pool.boot_script is None or _NODE_LABELS in pool.boot_script:
        return _of_amounts(pod, pool, shares=shares)  # the kubelet sets more labels
    if selects(pod.placement, pool) is False:
        return _of_selector(pod, pool)
    if affine(pod.placement, pool) is False:
        return PoolRejection(
            reason="doesn't match the pods' required node affinity",
            fix="change the pods' required node affinity to match the labels of a GPU pool",
        )
    if tolerates(pod.placement, pool) is False:
        return _of_taints(pod, pool)
    return _of_amounts(pod, pool, shares=shares)


def _of_selector(pod: GpuPod, pool: DeclaredPool) -> PoolRejection:
    wanted = pod.placement.mapping("nodeSelector") or {}
    key = next(
        each
        for each, value in wanted.items()
        if selects(Properties({"nodeSelector": {each: value}}), pool) is False
    )
    return PoolRejection(
        reason=f"doesn't have the label {key}={wanted[key]}, which the pods' nodeSelector requires",
        fix=f"change {key} in the pods' nodeSelector to a value that the pool's nodes have",
    )


def _of_taints(pod: GpuPod, pool: DeclaredPool) -> PoolRejection:
    taints = [
        taint
        for taint in pool.taints or ()
        if tolerates(pod.placement, replace(pool, taints=(taint,))) is False
    ]
    listed = ", ".join(map(str, taints))
    return PoolRejection(
        reason=f"has a taint that the pods don't tolerate ({listed})",
        fix=f"add to the pods' tolerations: {tolerations_text(taint.key for taint in taints)}",
    )


def _of_amounts(pod: GpuPod, pool: DeclaredPool, *, shares: bool) -> PoolRejection | None:
    listed, path, value = cloud(pool.cloud).pool.one_unit
    items = (pool.own.items(listed) or ()) if listed else ()
    if _most_of_container(pod) > 1 and any(item.text(path) == value for item in items):
        return PoolRejection(
            reason=f"shares its GPUs, so a container can request only one {GPU}",
            fix=f"request only one {GPU} per container",
        )
    machines = possible_machines(pool)
    sizes: dict[str, tuple[int | None, str]] = {
        GPU: (None if shares else _largest([each.gpu_count for each in machines]), "GPUs"),
        "cpu": (_largest([each.vcpus and each.vcpus * _MILLI for each in machines]), "CPUs"),
        "memory": (
            _largest([each.memory_mib and each.memory_mib * _MIB for each in machines]),
            "memory",
        ),
    }
    for name, (size, shown) in sizes.items():
        requested = pod.requests.get(name, 0)
        if size is not None and requested > size:
            is_count = name == GPU
            most = counted(size, "GPU") if is_count else f"{amount_text(name, size)} {shown}"
            return PoolRejection(
                reason=f"has only {most} per node, but each pod requests {amount_text(name, requested)}",
                fix=f"request at most {most} per pod, or use a larger machine type",
            )
    return None


def _largest(sizes: list[int | None]) -> int | None:
    """Return the largest size, or None if one of them is unknown or there are none."""
    known = [each for each in sizes if each is not None]
    return max(known, default=None) if len(known) == len(sizes) else None


def _most_of_container(pod: GpuPod) -> int:
    """Return the largest number of GPUs that one of a pod's containers requests."""
    spec = pod.pod_set.template.spec
    return max(each.requests.get(GPU, 0) for each in (*spec.init_containers, *spec.containers))


def _placement(pod: PodSpec) -> Properties:
    """Return the fields of a pod that select nodes, in the form of its document."""
    values: dict[str, Any] = {
        "nodeSelector": dict(pod.node_selector),
        "tolerations": [
            {
                "key": each.key,
                "operator": each.operator,
                "value": each.value,
                "effect": each.effect,
            }
            for each in pod.tolerations
        ],
    }
    if pod.node_affinity is not None:
        required = {"nodeSelectorTerms": _terms(pod.node_affinity)}
        values["affinity"] = {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
        }
    return Properties(values)


def _terms(selector: NodeSelector) -> list[dict[str, Any]]:
    return [
        {
            "matchExpressions": [
                {"key": each.key, "operator": each.operator, "values": list(each.values)}
                for each in term.match_expressions
            ],
            "matchFields": [{"key": each.key} for each in term.match_fields],
        }
        for term in selector.terms
    ]

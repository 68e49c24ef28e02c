"""Pods with claims, and drivers, that don't tolerate the taint of GPU pools."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_planner.clouds import GPU_TAINT, cloud
from dra_planner.model import PodSpec, Toleration
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.driver_pod import plugin_pod
from dra_policies.view.node_selection import tolerates
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from _startup_taints(view)
    if tainted := _tainted_by_cloud(view):
        pool = tainted[0]  # one finding for each driver and workload, not for each pool
        yield from _of_driver(view, pool)
        yield from _of_pods(view, f"which {cloud(pool.cloud).title} adds to {pool.title}")
    elif view.judgement is None and _every_pool_is_tainted(view):
        # otherwise, the plan for real pools gives a verdict, or the pools don't have the taint
        yield from _of_pods(view, "the taint on every GPU pool")


def _startup_taints(view: StackView) -> Iterator[Finding]:
    """Yield drivers that stay pending until the startup taints of nodes are removed."""
    for pool in view.pools:
        if not pool.startup_taints or not pool.has_gpus or pool.is_dra is False:
            continue
        path = cloud(pool.cloud).pool.startup_taints
        tainted = replace(pool, taints=pool.startup_taints)
        for driver in view.drivers:
            if driver.values is not None and tolerates(plugin_pod(driver), tainted) is False:
                yield Finding(
                    message=f"the kubelet plugin of {driver.title} doesn't tolerate the taints in "
                    f"{path} of {pool.title}, so new nodes don't publish devices until the "
                    "taints are removed",
                    fix=f"add tolerations for these taints to kubeletPlugin.tolerations, or remove {path}",
                    urn=driver.urn,
                )


def _of_pods(view: StackView, whose: str) -> Iterator[Finding]:
    for workload, pod_set in pod_sets_with_claims(view.manifests) if view.manifests else ():
        if not _tolerates(pod_set.template.spec):
            yield Finding(
                message=f"{workload.ref}: its pods don't tolerate {GPU_TAINT}, {whose}",
                fix=f"add the toleration {{key: {GPU_TAINT.key}, operator: Exists, effect: "
                f"{GPU_TAINT.effect}}}",
                place=pod_set.template.place if pod_set.template.place.file else workload.place,
            )


def _of_driver(view: StackView, pool: DeclaredPool) -> Iterator[Finding]:
    """Yield drivers whose kubelet plugin can't run on a pool after the cloud adds its taint."""
    tainted = replace(pool, taints=(GPU_TAINT,))
    for driver in view.drivers:
        if driver.values is not None and tolerates(plugin_pod(driver), tainted) is False:
            yield Finding(
                message=f"the kubelet plugin of {driver.title} doesn't tolerate {GPU_TAINT}, "
                f"which {cloud(pool.cloud).title} adds to {pool.title}",
                fix=f"add {{key: {GPU_TAINT.key}, operator: Exists, effect: {GPU_TAINT.effect}}} to "
                "kubeletPlugin.tolerations",
                urn=driver.urn,
            )


def _tainted_by_cloud(view: StackView) -> list[DeclaredPool]:
    """Return the GPU pools that their cloud taints, or none if some GPU pool has no taint.

    The cloud only adds the taint if the cluster already has nodes without GPUs.
    """
    pools = [pool for pool in view.pools if pool.has_gpus and pool.is_dra is not False]
    if not any(pool.has_gpus is False for pool in view.pools):
        return []
    own = [pool for pool in pools if _is_tainted_by_cloud(pool)]
    return own if view.complete and len(own) == len(pools) else []


def _is_tainted_by_cloud(pool: DeclaredPool) -> bool:
    if pool.taints is None or pool.urn == pool.cluster_urn:
        return False
    declared = {taint.key for taint in pool.taints}
    return cloud(pool.cloud).taints_new_gpu_pools and GPU_TAINT.key not in declared


def _every_pool_is_tainted(view: StackView) -> bool:
    pools = [pool for pool in view.pools if pool.has_gpus is not False and pool.is_dra is not False]
    return bool(pools) and all(
        pool.taints is not None and GPU_TAINT in pool.taints for pool in pools
    )


def _tolerates(spec: PodSpec) -> bool:
    return any(_matches(toleration) for toleration in spec.tolerations)


def _matches(toleration: Toleration) -> bool:
    if toleration.effect not in ("", GPU_TAINT.effect):
        return False
    if toleration.operator == "Exists":
        return toleration.key in ("", GPU_TAINT.key)
    return (toleration.key, toleration.operator, toleration.value) == (
        GPU_TAINT.key,
        "Equal",
        GPU_TAINT.value,
    )


RULE = Rule(
    id="gpu-taint-not-tolerated",
    description=f"A pod with claims doesn't tolerate the taint on GPU nodes ({GPU_TAINT}).",
    why="Even if a claim fits on a GPU node, its pod can't run there without tolerating the node's "
    "taint.",
    fix="Add the toleration to the pod template.",
    level="advisory",
    needs="stack",
    check=check,
)

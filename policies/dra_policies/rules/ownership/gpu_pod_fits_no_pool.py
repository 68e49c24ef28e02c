"""Pods that request GPUs from a device plugin, but can't run on any GPU pool of the stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import Cloud, cloud, names
from dra_planner.wording import counted
from dra_policies.rules.ownership.undiscovered_labels import pods_with_undiscovered_labels
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.gpu_pods import GpuPod, PoolRejection, gpu_pods, misfit
from dra_policies.view.gpu_sources import PLUGIN_CHART, may_create_nodes, shares_gpus
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView

MOST_REASONS: Final = 3
_MIG_CONFIG: Final = "nvidia.com/mig.config"


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or view.judgement is not None:
        return  # the plan evaluates these pods too
    for name in names():
        of_cloud = cloud(name)
        cluster = view.only_cluster(of_cloud)
        if cluster is not None:
            pods = list(gpu_pods(view, name))
            for pod in pods:
                yield from _of_pod(view, of_cloud, cluster, pod)
            yield from pods_with_undiscovered_labels(view, pods)


def _of_pod(
    view: StackView, of_cloud: Cloud, cluster: DeclaredResource, pod: GpuPod
) -> Iterator[Finding]:
    created = _created_by_cloud(of_cloud, cluster, pod)
    if created is None:
        return
    pools = [pool for pool in view.node_pools if pool.has_gpus is not False]
    if any(pool.is_dra is not False for pool in pools):
        return
    mixed = _has_mixed_strategy(view)
    found = [
        (
            pool,
            _of_partitions(pool, mixed=mixed) or misfit(pod, pool, shares=shares_gpus(view, pool)),
        )
        for pool in pools
    ]
    misfits = [(pool, each) for pool, each in found if each is not None]
    if len(misfits) < len(pools) or not (pools or view.pools):
        return
    reasons = [f"{pool.title} {each.reason}" for pool, each in misfits[:MOST_REASONS]]
    fix = misfits[0][1].fix if misfits else created.fix or "add a pool with GPUs"
    problem = "; ".join(reasons or ["no pool has GPUs"]) + created.reason
    yield Finding(
        message=f"pods of {pod.workload.ref} can't run on any node: {problem}",
        fix=fix,
        place=pod.workload.place,
    )


def _has_mixed_strategy(view: StackView) -> bool:
    """Return whether MIG devices certainly have their own resource names, by profile."""
    operators = [each.values.text("mig.strategy", "single") for each in view.operators]
    charts = [
        each.props.text("migStrategy", "none")
        for each in view.installed_charts
        if each.type == PLUGIN_CHART
    ]
    named = [*operators, *charts]
    return bool(named) and all(each == "mixed" for each in named)


def _of_partitions(pool: DeclaredPool, *, mixed: bool) -> PoolRejection | None:
    """Return why a pool whose GPUs are all divided doesn't advertise whole GPUs.

    NVIDIA GPU Operator guide, "GPU Operator with MIG": the strategies single and mixed.
    """
    config = (pool.labels or {}).get(_MIG_CONFIG) or ""
    if not mixed or not config.startswith("all-") or config == "all-disabled":
        return None
    return PoolRejection(
        reason=f"partitions its GPUs ({_MIG_CONFIG}={config}) with the MIG strategy `mixed`, so its "
        "nodes advertise nvidia.com/mig-… instead of nvidia.com/gpu",
        fix="request nvidia.com/mig-PROFILE, or set the MIG strategy to `single`",
    )


def _created_by_cloud(
    of_cloud: Cloud, cluster: DeclaredResource, pod: GpuPod
) -> PoolRejection | None:
    """Return why the cloud doesn't create nodes for a pod itself, or None if it might."""
    own = may_create_nodes(of_cloud, cluster)
    if not own:
        return PoolRejection(reason="", fix="")
    path, kind, maximum = of_cloud.cluster.autoscaler_limits
    wanted = (pod.placement.mapping("nodeSelector") or {}).get(of_cloud.accelerator_label)
    limits = cluster.props.items(path) if path else None
    if own != [_switch_of(path)] or not wanted or limits is None:
        return None
    most = {limit.text(kind): limit.count(maximum, 0) for limit in limits}
    if None in most or (most.get(wanted, 0) is None) or (most.get(wanted, 0) or 0) >= pod.gpus:
        return None
    return PoolRejection(
        reason=f", and node auto-provisioning can't create a GPU pool, because {path} doesn't "
        f"allow {counted(pod.gpus, f'{wanted} GPU')}",
        fix=f"add {wanted} with a maximum of at least {pod.gpus} to {path}",
    )


def _switch_of(path: str) -> str:
    """Return the flag that enables the autoscaler to which limits apply."""
    return f"{path.rpartition('.')[0]}.enabled"


RULE = Rule(
    id="gpu-pod-fits-no-pool",
    description="Pods that request GPUs from a device plugin can't run in any of the stack's GPU "
    "pools.",
    why="The pods stay pending, and autoscalers don't add nodes for them.",
    fix="Select the labels of a GPU pool, tolerate its taints, and don't request more than a "
    "single node provides.",
    level="mandatory",
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/",
    needs="stack",
    check=check,
)

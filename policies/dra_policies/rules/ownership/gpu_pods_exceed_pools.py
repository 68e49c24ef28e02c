"""Servers whose pods request more GPUs from a device plugin than their pools or quotas allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud, names
from dra_planner.wording import counted
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.gpu_pods import GPU, GpuPod, gpu_pods, misfit
from dra_policies.view.gpu_sources import may_create_nodes, shares_gpus
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView

# pods of other kinds can wait for each other
_SERVERS: Final = ("Deployment", "StatefulSet", "ReplicaSet")
_QUOTA: Final = "kubernetes:core/v1:ResourceQuota"
_LIMIT: Final = f"requests.{GPU}"


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or view.judgement is not None:
        return  # the plan evaluates these pods too
    for name in names():
        cluster = view.only_cluster(cloud(name))
        if cluster is None:
            continue
        pods = [pod for pod in gpu_pods(view, name) if pod.workload.kind in _SERVERS]
        yield from _of_quotas(view, pods)
        if not may_create_nodes(cloud(name), cluster):
            yield from _of_pools(view, pods)


def _of_pools(view: StackView, pods: list[GpuPod]) -> Iterator[Finding]:
    pools = [pool for pool in view.node_pools if pool.has_gpus is not False]
    if any(pool.is_dra is not False or shares_gpus(view, pool) for pool in pools):
        return
    for pod in pods:
        own = [pool for pool in pools if misfit(pod, pool, shares=False) is None]
        rooms = [_room(pod, pool) for pool in own]
        wanted, most = pod.pod_set.figures.steady, sum(room or 0 for room in rooms)
        if own and None not in rooms and wanted and wanted > most:
            titles = " and ".join(pool.title for pool in own)
            yield Finding(
                message=f"{pod.workload.ref} has {counted(wanted, 'pod')} with {pod.gpus} {GPU} "
                f"each, but {titles} can run only {most} of them at maximum size",
                fix="raise the pool's maximum node count, or lower the number of replicas",
                place=pod.workload.place,
            )


def _room(pod: GpuPod, pool: DeclaredPool) -> int | None:
    """Return the number of such pods that fit in a pool at its maximum, or None if unknown."""
    machine = known_machine(pool.cloud, pool.machine)
    if machine is None or not machine.gpu_count or pool.count_max is None or not pod.gpus:
        return None
    return pool.count_max * (machine.gpu_count // pod.gpus)


def _of_quotas(view: StackView, pods: list[GpuPod]) -> Iterator[Finding]:
    for quota in view.objects:
        hard = quota.props.below("spec.hard").count(_LIMIT.replace(".", "%2E"), -1)
        namespace = quota.props.text("metadata.namespace", "default")
        is_scoped = quota.props.has("spec.scopeSelector") or quota.props.has("spec.scopes")
        if quota.type != _QUOTA or hard is None or hard < 0 or is_scoped:
            continue
        own = [pod for pod in pods if pod.workload.meta.namespace == namespace]
        wanted = sum((pod.pod_set.figures.steady or 0) * pod.gpus for pod in own)
        if own and wanted > hard:
            yield Finding(
                message=f'ResourceQuota "{quota.name}" allows {hard} {GPU} in namespace '
                f"{namespace}, but the pods of {own[0].workload.ref}"
                f"{' and other workloads' if len(own) > 1 else ''} request {wanted}, so the API "
                "server rejects some of them",
                fix=f"raise {_LIMIT} to at least {wanted}, or lower the number of replicas",
                urn=quota.urn,
            )


RULE = Rule(
    id="gpu-pods-exceed-pools",
    description="A workload's pods request more GPUs from a device plugin than its pools have at "
    "maximum size, or than the quota of its namespace allows.",
    why="Some replicas stay pending or aren't created.",
    fix="Raise the pool's maximum or the quota, or lower the number of replicas.",
    level="advisory",
    url="https://kubernetes.io/docs/concepts/policy/resource-quotas/",
    needs="stack",
    check=check,
)

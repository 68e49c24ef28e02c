"""Pods with claims that don't tolerate the taint of every GPU pool."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_planner.clouds import GPU_TAINT
from dra_planner.model import PodSpec, Toleration
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.judgement is not None or not _every_pool_is_tainted(view):
        return  # judged on real pools, where the answer is a verdict; or nobody sets the taint
    for workload, pod_set in pod_sets_with_claims(view.manifests) if view.manifests else ():
        if not _tolerates(pod_set.template.spec):
            yield Finding(
                message=f"{workload.ref}: its pods do not tolerate {GPU_TAINT}, the taint of every "
                "GPU pool",
                fix=f"add the toleration {{key: {GPU_TAINT.key}, operator: Exists, effect: "
                f"{GPU_TAINT.effect}}}",
                place=pod_set.template.place if pod_set.template.place.file else workload.place,
            )


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
    says=f"A pod with claims doesn't tolerate the taint of GPU nodes, {GPU_TAINT}.",
    why="The claim may fit every node, but no node accepts the pod, because GPU pools reject other "
    "pods.",
    fix="Add the toleration to the pod template.",
    level="advisory",
    needs="stack",
    check=check,
)

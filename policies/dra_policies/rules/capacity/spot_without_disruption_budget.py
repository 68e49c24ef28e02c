"""Replicas on Spot machines without a budget that limits simultaneous disruptions."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.disruption_budgets import budgets_of
from dra_policies.view.pool_machines import is_spot
from dra_policies.view.stack_view import StackView

_SERVERS = ("Deployment", "StatefulSet", "ReplicaSet")
URL = "https://kubernetes.io/docs/tasks/run-application/configure-pdb/"


def check(view: StackView) -> Iterator[Finding]:
    pools = [pool for pool in view.pools if pool.is_dra and pool.has_gpus is not False]
    if (
        not view.complete
        or view.manifests is None
        or not pools
        or not all(is_spot(pool) for pool in pools)
    ):
        return
    for workload, pod_set in pod_sets_with_claims(view.manifests):
        most = pod_set.figures.ceiling
        if workload.kind not in _SERVERS or (most is not None and most < 2):
            continue
        if not any(budgets_of(view, workload.meta.namespace, pod_set.template.labels)):
            yield Finding(
                message=f"{workload.ref}: its pods run only on Spot nodes ({pools[0].title}), "
                "and no PodDisruptionBudget limits simultaneous evictions",
                fix="add a PodDisruptionBudget with maxUnavailable: 1 for its pods",
                place=workload.place,
            )


RULE = Rule(
    id="spot-without-disruption-budget",
    description="Replicas that run only on Spot nodes don't have a PodDisruptionBudget.",
    why="When the cloud reclaims or rebalances Spot nodes, it can drain all replicas at the "
    "same time.",
    fix="Add a PodDisruptionBudget, or a pool with a different capacity type.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)

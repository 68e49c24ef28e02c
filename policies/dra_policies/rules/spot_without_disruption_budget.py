"""Replicas on machines that are taken back, with no budget for how many may go at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_planner.clouds import cloud
from dra_policies.rules.claim_specs import pod_sets_with_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import DeclaredPool, StackView

_SERVERS = ("Deployment", "StatefulSet", "ReplicaSet")
_BUDGET = ":PodDisruptionBudget"
URL = "https://kubernetes.io/docs/tasks/run-application/configure-pdb/"


def check(view: StackView) -> Iterator[Finding]:
    pools = [pool for pool in view.pools if pool.is_dra and pool.has_gpus is not False]
    if not view.complete or view.manifests is None or not pools or not all(_is_spot(pool) for pool in pools):
        return
    for workload, pod_set in pod_sets_with_claims(view.manifests):
        most = pod_set.figures.ceiling
        if workload.kind not in _SERVERS or (most is not None and most < 2):
            continue
        if not _has_budget(view, workload.meta.namespace, pod_set.template.labels):
            yield Finding(
                message=f"{workload.ref}: its pods run on Spot machines alone ({pools[0].title}), and no "
                "PodDisruptionBudget says how many may be taken away at once",
                fix="add a PodDisruptionBudget with maxUnavailable: 1 for its pods",
                place=workload.place,
            )


def _is_spot(pool: DeclaredPool) -> bool:
    return any(pool.own.text(path) == value or (pool.own.flag(path, False) is True and value == "true")
               for path, value in cloud(pool.cloud).spot)  # fmt: skip


def _has_budget(view: StackView, namespace: str, labels: Mapping[str, str]) -> bool:
    """Whether a budget selects pods of these labels, or may."""
    for each in view.objects:
        if each.type.endswith(_BUDGET) and each.props.text("metadata.namespace", "default") in (None, namespace):
            wanted = each.props.mapping("spec.selector.matchLabels")
            if wanted is None or all(value is None or labels.get(key) == value for key, value in wanted.items()):
                return True
    return False


RULE = Rule(
    id="spot-without-disruption-budget",
    says="Replicas that run on Spot machines alone have a disruption budget.",
    why="When machines are taken back or rebalanced, every replica may be drained at the same time.",
    fix="Add a PodDisruptionBudget, or a pool of another kind of capacity.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)

"""A node upgrade that needs one more machine than is available, or that pods block forever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.disruption_budgets import budgets_of, keeps_all
from dra_policies.view.stack_view import StackView

# pods of a job may be meant to stay until it ends
_SERVERS: Final = ("Deployment", "StatefulSet", "ReplicaSet")


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    for workload, pod_set in (
        pod_sets_with_claims(view.manifests) if view.complete and view.manifests else ()
    ):
        pods = pod_set.figures.steady
        if workload.kind not in _SERVERS or not pods:
            continue
        for budget, is_certain in budgets_of(
            view, workload.meta.namespace, pod_set.template.labels
        ):
            if is_certain and (says := keeps_all(budget, pods)):
                yield Finding(
                    message=f'PodDisruptionBudget "{budget.name}" allows no eviction of '
                    f"{workload.ref} ({says}), so an upgrade of its nodes waits until it "
                    "fails",
                    fix="set maxUnavailable to 1",
                    urn=budget.urn,
                )


RULE = Rule(
    id="node-upgrade-cannot-finish",
    says="An upgrade can't add or remove a node, or can't evict the pods of a node.",
    why="The node upgrade stalls or fails.",
    fix="Allow one unavailable node if no machine can be added, and allow the eviction of one pod.",
    level="advisory",
    needs="stack",
    check=check,
)

"""A node upgrade that needs one more machine than is available, or that pods block forever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.disruption_budgets import budgets_of, keeps_all
from dra_policies.view.stack_view import StackView

# a job's pods are often supposed to run until the job ends
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
            if is_certain and (reason := keeps_all(budget, pods)):
                yield Finding(
                    message=f'PodDisruptionBudget "{budget.name}" ({reason}) blocks eviction of the '
                    f"pods of {workload.ref}, so upgrades of their nodes time out",
                    fix=f"in the PodDisruptionBudget, replace {reason} with maxUnavailable: 1",
                    urn=budget.urn,
                )


RULE = Rule(
    id="node-upgrade-cannot-finish",
    description="An upgrade can't add or remove a node, or can't evict a node's pods.",
    why="The node upgrade stalls or fails.",
    fix="If you can't add a node, allow one unavailable node. In PodDisruptionBudgets, allow one "
    "pod to be evicted.",
    level="advisory",
    needs="stack",
    check=check,
)

"""Disruption budgets and drained nodes: a budget that never allows evictions is a warning, and the
plan states for each pool if draining needs one more node.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from plan_builders import deployment, fleet, plan_of

from dra_planner.model import DisruptionBudget, LabelSelector, ObjectMeta
from dra_planner.plan import Plan
from dra_planner.plan.cluster.drains import find_drain_faults, pods_that_may_go
from dra_planner.sources import Source

L4 = "g6.2xlarge"


def planned(setting: str, *, selects: str = "web", most: int = 5) -> Plan:
    budget = (
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: keep, namespace: "
        "default}\n"
        f"spec: {{{setting}, selector: {{matchLabels: {{app: {selects}}}}}}}\n"
    )
    return plan_of(
        fleet((L4, {"max": most})), deployment(replicas=3), Source("budget.yaml", budget), steps=0
    )


@pytest.mark.parametrize(
    "setting", ["maxUnavailable: 0", "minAvailable: 3", 'minAvailable: "100%"', "minAvailable: 67%"]
)
def test_budget_that_allows_no_eviction_is_a_warning(setting: str) -> None:
    plan = planned(setting)
    (found,) = plan.diagnostics
    assert (plan.verdict, found.severity, found.code) == ("fits", "warning", "drain-blocked")
    assert "allows no evictions of Deployment default/web (3 pods)" in found.message
    assert found.fix == "set the PodDisruptionBudget's maxUnavailable to 1"
    assert not planned("maxUnavailable: 1").diagnostics


def test_budgets_of_unsized_workloads_are_ignored() -> None:
    plan = planned("maxUnavailable: 0")
    assert plan.manifests is not None
    sizing = plan.judgement.sizing
    assert list(find_drain_faults(plan.manifests, sizing))
    assert not list(find_drain_faults(plan.manifests, replace(sizing, workloads=())))


def test_draining_a_pool_needs_one_additional_node() -> None:
    (assumption,) = [
        each for each in planned("maxUnavailable: 1").assumptions if "draining" in each
    ]
    assert assumption.startswith(
        "pool g6-2xlarge: its pods need 3 nodes (the proven minimum), so draining a node "
        "requires one additional node"
    )
    assert (
        "PodDisruptionBudget default/keep allows the eviction of 1 of 3 pods at once" in assumption
    )
    assert not any(
        "draining" in each for each in planned("maxUnavailable: 1", selects="other").assumptions
    )


@pytest.mark.parametrize(
    ("least", "most", "pods", "expected"),
    [
        (None, 1, 5, 1),
        (None, "50%", 5, 3),
        (None, "0%", 5, 0),
        (2, None, 5, 3),
        ("50%", None, 5, 2),
        (9, None, 5, 0),
    ],
)
def test_percentages_are_rounded_up(
    least: int | str | None, most: int | str | None, pods: int, expected: int
) -> None:
    budget = DisruptionBudget(
        meta=ObjectMeta(name="b"), selector=LabelSelector(()), least=least, most=most
    )
    assert pods_that_may_go(budget, pods) == expected

"""Differences between a saved plan and a new plan."""

from __future__ import annotations

from plan_builders import deployment, fleet, plan_of

from dra_planner.plan import plan_file
from dra_planner.plan.saved.staleness import differences

L4 = ("g6.2xlarge", {"min": 0, "max": 4})


def test_equal_plan_with_other_wording_is_current() -> None:
    kept = plan_file(plan_of(fleet(L4), deployment()))
    reworded = kept.model_copy(update={"assumptions": ("said otherwise",)})
    assert differences(kept, reworded) == ()


def test_changed_counts_and_demand_are_reported() -> None:
    kept = plan_file(plan_of(fleet(L4), deployment(replicas=1)))
    made = plan_file(plan_of(fleet(L4), deployment(replicas=2)))
    assert differences(kept, made) == ("pool g6-2xlarge", "the demand")


def test_new_pool_and_changed_version_are_reported() -> None:
    fixed = ("g6.2xlarge", 1)
    kept = plan_file(plan_of(fleet(fixed), deployment()))
    made = plan_file(
        plan_of(fleet(fixed, ("g6.4xlarge", {"min": 0, "max": 1}), kubernetes="1.35"), deployment())
    )
    assert differences(kept, made) == ("pool g6-4xlarge", "the Kubernetes version")

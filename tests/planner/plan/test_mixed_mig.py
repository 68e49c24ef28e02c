"""Pods with different MIG profiles: one configuration for all of them, in suggested fleets and in
fixes, and fixes for pools that other pods can't use.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from plan_builders import deployment

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.suggestion.suggest import suggest_fleets
from dra_planner.plan.suggestion.suggestions import SuggestRequest
from dra_planner.sources import Source

A100: dict[str, Any] = {"name": "a100", "machine": "p4d.24xlarge", "count": {"max": 2}}
TAINT = {"key": "acme.io/train", "value": "true", "effect": "NoSchedule"}


def partition(name: str, profile: str, replicas: int) -> Source:
    selector = f'device.attributes["gpu.nvidia.com"].profile == "{profile}"'
    text = deployment(name, replicas=replicas).text.replace("gpu.nvidia.com", "mig.nvidia.com", 1)
    return Source(
        f"{name}.yaml",
        text.replace("count: 1", f"selectors: [{{cel: {{expression: '{selector}'}}}}]"),
    )


SMALL = partition("small", "1g.5gb", 8)
MIXED = (SMALL, partition("large", "2g.10gb", 2))


def plan_on(sources: tuple[Source, ...], *pools: dict[str, Any], **changes: Any) -> Plan:
    document = {
        "cloud": "eks",
        "region": "us-west-2",
        "kubernetes": "1.35",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "0.5.0"}},
        "pools": list(pools),
        **changes,
    }
    return make_plan(PlanRequest(sources=sources, fleet=read_fleet(document)))


SUGGESTED = {
    "two profiles share one node": (MIXED, (("p4d.24xlarge", "all-balanced", 1),)),
    "one profile gets the most instances": ((SMALL,), (("p4d.24xlarge", "all-1g.5gb", 1),)),
}


@pytest.mark.parametrize("name", SUGGESTED)
def test_suggested_fleets_include_mixed_mig_configurations(name: str) -> None:
    sources, expected = SUGGESTED[name]

    found = suggest_fleets(
        SuggestRequest(
            sources=sources,
            cloud="eks",
            region="us-east-1",
            kubernetes="1.35",
            machines=("p4d.24xlarge",),
        )
    )

    assert found.best is not None
    assert found.best.counts == expected
    assert found.gap == Decimal(0)
    assert {mig for _, mig, _ in expected} <= set(found.mig_configurations)


FIXES = {
    "two profiles get one configuration": (
        MIXED,
        [A100],
        {'set `mig: all-balanced` on pool "a100"'},
    ),
    "one profile gets the configuration with the most instances": (
        (SMALL,),
        [A100],
        {'set `mig: all-1g.5gb` on pool "a100"'},
    ),
    "a taint on a pool without the hardware isn't tolerated instead": (
        (SMALL,),
        [A100, {"name": "h100", "machine": "p5.48xlarge", "count": {"max": 2}, "taints": [TAINT]}],
        {'set `mig: all-1g.5gb` on pool "a100"'},
    ),
    "a taint on a pool with the hardware is tolerated": (
        (SMALL,),
        [
            {"name": "l4", "machine": "g6.2xlarge", "count": {"max": 2}},
            {**A100, "mig": "all-1g.5gb", "taints": [TAINT]},
        ],
        {
            'add to the pod\'s tolerations: {key: acme.io/train, operator: Equal, value: "true", '
            "effect: NoSchedule}"
        },
    ),
}


@pytest.mark.parametrize("name", FIXES)
def test_pods_that_need_mig_get_the_expected_fixes(name: str) -> None:
    sources, pools, expected = FIXES[name]

    plan = plan_on(sources, *pools)

    fixes = {reason.fix for each in plan.workloads for reason in each.reasons if reason.fix}
    assert fixes == expected


def test_joint_fix_for_two_profiles_fits_all_workloads() -> None:
    plan = plan_on(MIXED, A100)

    assert plan.joint_fix is not None
    assert plan.joint_fix.steps == ('set `mig: all-balanced` on pool "a100"',)
    assert plan_on(MIXED, {**A100, "mig": "all-balanced"}).verdict == "fits"


def test_new_pool_for_karpenter_has_the_zone_of_other_pools() -> None:
    l40s = {
        "name": "l40s",
        "machine": "g6e.12xlarge",
        "count": {"max": 4},
        "zones": ["us-west-2a"],
    }

    plan = plan_on(MIXED, l40s, autoscaler="karpenter")

    (fix,) = {reason.fix for each in plan.workloads for reason in each.reasons if reason.fix}
    assert fix.startswith("add a pool with machine type p4d.24xlarge")
    assert fix.endswith("and `mig: all-balanced`, in zone us-west-2a")
    assert plan.joint_fix is not None

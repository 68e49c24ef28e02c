"""Fixes that the simulation found: each is applied as it is written, and planned with again."""

from __future__ import annotations

import copy
import re
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace
from test_simulated import CASES, load, plan

from dra_planner.plan import Plan
from dra_planner.plan.judgement.simulated_fixes import (
    fix_patch,
    fix_result,
    fix_sentence,
    is_for_manifests,
    saved_usd,
)
from dra_planner.simulation import Fix

Json = dict[str, Any]


def applied(case: Json, patch: Json) -> Json:
    """Apply a patch according to its first line: to the fleet by pool name, or as JSON patches to
    the target documents.
    """
    case = copy.deepcopy(case)
    if not is_for_manifests(patch):
        case["fleet"].update({key: value for key, value in patch.items() if key != "pools"})
        pools = {pool["name"]: pool for pool in case["fleet"]["pools"]}
        for change in patch.get("pools", []):
            pool = pools[change["name"]]
            pool["count"] = {**_range(pool["count"]), **change.get("count", {})}
            pool["taints"] = [*pool.get("taints", []), *change.get("taints", [])]
        return case
    for each in patch["patches"]:
        target = each["target"]
        (document,) = [
            one
            for one in case["workloads"]
            if one["kind"] == target["kind"]
            and one["metadata"]["name"] == target["name"]
            and one["metadata"].get("namespace", "default") == target["namespace"]
            and one["apiVersion"]
            == "/".join(filter(None, (target.get("group"), target["version"])))
        ]
        for operation in each["patch"]:
            assert operation["op"] == "add"
            *path, last = operation["path"].removeprefix("/").split("/")
            at: Any = document
            for key in path:
                at = at[int(key)] if isinstance(at, list) else at[key]
            at[last] = operation["value"]
    return case


def _range(count: int | Json) -> Json:
    return {"min": count, "max": count} if isinstance(count, int) else count


@cache
def planned(name: str) -> Plan:
    return plan(load(name))


def patches(made: Plan) -> list[tuple[Fix, Json]]:
    assert made.manifests is not None
    found = [(fix, fix_patch(fix, made.manifests)) for fix in made.judgement.fixes]
    return [(fix, patch) for fix, patch in found if patch is not None]


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_every_fix_works_when_it_is_applied(name):
    """What fits nowhere was left out of the simulation, and stays so: the fix is for the others."""
    case, made = load(name), planned(name)
    left_out = set(made.judgement.simulated.left_out) if made.judgement.simulated else set()
    for fix, patch in patches(made):
        again = plan(applied(case, patch))
        misfits = {
            each.workload for each in again.judgement.sizing.workloads if each.verdict != "fits"
        }
        assert (again.verdict, misfits) == ("does-not-fit" if left_out else "fits", left_out), (
            fix_sentence(fix)
        )
        assert not again.stalled, fix_sentence(fix)
        simulated = again.judgement.simulated
        assert simulated is not None
        assert simulated.counts, fix_sentence(fix)
        built = {pool.name: pool.recommended for pool in again.pools}
        assert sum(built.values()) <= sum(fix.counts.values()), fix_sentence(fix)


SENTENCES = {
    "taint": "add the taint {} to {}, so that pods use other pools first",
    "affinity": "use node affinity to restrict {}",
    "profile": (
        "use a scheduler that prefers full nodes (MostAllocated, or on GKE the autoscaling "
        "profile optimize-utilization), and set schedulerProfile to most-allocated in the fleet"
    ),
    "maximum": "raise the maximum of pool {} to {}",
    "guards": "set placement to guided in the fleet, which adds {} ({})",
}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_sentence_of_a_fix_matches_its_patch(name):
    for fix, patch in patches(planned(name)):
        sentence = fix_sentence(fix)
        assert re.fullmatch(".+".join(map(re.escape, SENTENCES[fix.kind].split("{}"))), sentence)
        assert all(f'"{pool["name"]}"' in sentence for pool in patch.get("pools", ()))
        pinned = [each["target"]["name"] for each in patch.get("patches", ())]
        assert all(one in sentence for one in pinned) or "more" in sentence


def kinds(made: Plan) -> list[str]:
    return [fix.kind for fix in made.judgement.fixes]


@pytest.mark.long
def test_recorded_cases_have_fixes_of_every_kind():
    found = {kind for name in CASES for kind in kinds(planned(name))}
    assert found == {"taint", "affinity", "profile", "maximum", "guards"}


def test_smallest_change_of_equal_cost_comes_first():
    """A small pod uses the only H100. A taint would keep it away, and so would an affinity in the
    pod.
    """
    made = planned("m2-any-takes-h100")
    assert kinds(made) == ["taint", "affinity", "profile"]
    taint, affinity, _ = made.judgement.fixes
    assert (taint.pools, dict(taint.counts)) == (("h100",), {"l4": 1, "h100": 1})
    assert [(str(ref.workload), pools) for ref, pools in affinity.pins.items()] == [
        ("Pod default/web", ("l4",))
    ]
    built = {pool.name: pool.recommended for pool in made.pools}
    assert saved_usd(taint, built, made.offers) == Decimal("6.0752")  # an H100 less, and an L4 more


def test_packing_that_works_in_every_order_needs_no_fix():
    case = load("m2-any-takes-h100")
    case["workloads"] = [each for each in case["workloads"] if each["metadata"]["name"] != "train"]
    assert plan(case).judgement.fixes == ()


def test_pending_workload_gets_the_cheapest_fix():
    made = planned("m1-small-then-whole-node")
    (reason,) = [reason for workload in made.workloads for reason in workload.reasons]
    assert (
        reason.fix
        == "set placement to guided in the fleet, which adds 2 guards (steer and pack). In the "
        "simulation, all pods then fit on 2 nodes, USD 9.20 per hour, in every pod arrival order"
    )


def test_search_for_fixes_that_reaches_its_limit_is_noted():
    whole = planned("m1-small-then-whole-node").judgement
    assert whole.tried_all_fixes
    assert whole.simulated is not None
    steps = whole.simulated.spent * 3 // 2 + 3

    made = plan(load("m1-small-then-whole-node"), steps=steps)

    assert made.judgement.simulated is not None
    assert made.judgement.simulated.complete
    assert not made.judgement.tried_all_fixes


def test_fix_raises_maximums_to_counts_that_the_cloud_can_build() -> None:
    """The fix needs 7 of at most 8 nodes, but three zones have 6 or 9 nodes."""
    name = next(iter(CASES))
    made = plan(load(name))
    assert made.manifests is not None
    first = replace(made.offers[0], count_multiple=3, count_max=8)
    fix = Fix(kind="guards", counts={first.name: 7})
    assert fix_sentence(fix, [first]).endswith(
        f', and raise the maximum of pool "{first.name}" to 9'
    )
    assert fix_result(fix, (replace(first, hourly_usd=None),)) == "9 nodes"
    assert fix_patch(fix, made.manifests, [first]) == {
        "placement": "guided",
        "pools": [{"name": first.name, "count": {"max": 9}}],
    }

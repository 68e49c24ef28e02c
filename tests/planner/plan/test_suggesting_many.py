"""What to buy for many kinds of pods: few fleets, with guards from the start."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from platforms import platform
from suggest_instances import draw

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.plan.suggestion import suggest
from dra_planner.plan.suggestion.few_machines import few_machines
from dra_planner.plan.suggestion.suggest import suggest_fleets
from dra_planner.plan.suggestion.suggestions import Suggestions, SuggestRequest
from dra_planner.sizing import LevelNeeds, WorkNeeds
from dra_planner.sources import Source

MACHINES = ("g4dn.xlarge", "g6.2xlarge", "g6.12xlarge")


@pytest.fixture(scope="module")
def found() -> Suggestions:
    given = platform("eks", "small", 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suggest, "MOST_SIZED", 0)
        return suggest_fleets(
            SuggestRequest(
                sources=(Source("workloads.yaml", given.manifests),),
                cloud="eks",
                region="us-east-1",
                kubernetes="1.36",
                machines=(*(pool["machine"] for pool in given.fleet["pools"]), "g7.2xlarge"),
            )
        )


def test_fleets_of_few_machine_types_are_sorted_by_price(found: Suggestions) -> None:
    assert found.best is not None
    fleets = (found.best, *found.others)
    assert [each.hourly_usd for each in fleets] == sorted(each.hourly_usd for each in fleets)
    assert 1 in {len(each.machines) for each in (*fleets, *found.packed)}
    assert all(each.plan.verdict == "fits" for each in fleets)
    assert all(nodes for each in (*fleets, *found.packed) for _, nodes in each.machines)


def test_fleet_with_a_bound_above_the_best_price_is_not_planned(found: Suggestions) -> None:
    assert found.best is not None
    assert found.packed
    for each in found.packed:
        assert found.best.hourly_usd <= each.bound_usd <= each.packing_usd


def test_document_of_an_unplanned_fleet_can_be_planned(found: Suggestions) -> None:
    given = platform("eks", "small", 2)
    for each in found.packed:
        plan = make_plan(
            PlanRequest(
                sources=(Source("workloads.yaml", given.manifests),),
                fleet=read_fleet(each.document),
            )
        )
        assert plan.cost is not None
        assert (plan.verdict, plan.cost.hourly_usd >= each.bound_usd) == ("fits", True)
        assert {pool.machine for pool in plan.pools} == {machine for machine, _ in each.machines}


def test_gap_counts_only_fleets_that_are_known_to_fit(found: Suggestions) -> None:
    """The GPU memory of g7.2xlarge is unknown, so pods that request memory might fit."""
    assert found.best is not None
    assert found.known_usd is not None
    assert found.known_usd <= found.best.hourly_usd
    assert found.gap == 1 - found.known_usd / found.best.hourly_usd
    assert found.gap <= found.gap_of_unknown


def test_few_machine_types_with_the_lowest_total_cost_are_chosen() -> None:
    small, large = (
        WorkNeeds(shapes=("small",), count=8, fills={0: 1, 1: 8}, needs={0: (1,), 1: (1,)}),
        WorkNeeds(shapes=("large",), count=1, fills={1: 1}, needs={1: (8,)}),
    )
    needs = LevelNeeds(
        pools=("one", "eight"),
        works=(small, large),
        capacities=((1,), (8,)),
        devices=((True,), (True,)),
    )
    assert list(few_machines(needs, [1.0, 20.0])) == [(1,), (0, 1)]


def test_few_pod_shapes_are_sized_on_every_machine_type() -> None:
    work = draw(5)
    answer = suggest_fleets(
        SuggestRequest(
            sources=tuple(each.source for each in work),
            cloud="eks",
            region="us-east-1",
            kubernetes="1.34",
            machines=MACHINES,
        )
    )
    assert answer.best is not None
    assert answer.gap_of_unknown >= answer.gap >= Decimal(0)

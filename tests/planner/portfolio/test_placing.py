"""Placement across clusters against an exhaustive solver that shares no code with it."""

from __future__ import annotations

import os
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from exhaustive_assignment import Instance, Load, Pool, cheapest, draw
from portfolio_builders import deployment

from dra_planner.fleet import read_fleet
from dra_planner.model import WorkloadRef
from dra_planner.plan import read_checked
from dra_planner.portfolio import placing
from dra_planner.portfolio.placing import (
    ClusterAssignment,
    Movable,
    PlacingCluster,
    place_workloads,
)
from dra_planner.releases import features_of
from dra_planner.sources import Source

INSTANCES = int(os.environ.get("PLACINGS", "60"))


def fleet(pools: tuple[Pool, ...]) -> Any:
    return read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": "1.34",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "pools": [
                {
                    "name": f"p{at}",
                    "machine": pool.machine,
                    "count": {"min": 0, "max": pool.most},
                    "pricePerHour": pool.price / 100,
                }
                for at, pool in enumerate(pools)
            ],
        }
    )


def place(instance: Instance) -> ClusterAssignment:
    features = features_of(34)
    clusters = []
    for at, pools in enumerate(instance.pools):
        texts = [deployment(load.name, load.pods, load.gpus) for load in instance.own[at]]
        texts += [deployment(load.name, load.pods, load.gpus) for load in instance.movable]
        manifests = read_checked([Source("all.yaml", "".join(texts))], features)
        may = {load.name: "yes" for load in instance.movable if at in load.may}
        clusters.append(
            PlacingCluster(name=f"c{at}", labels=may, fleet=fleet(pools), manifests=manifests)
        )
    movable = [
        Movable(ref=WorkloadRef("Deployment", "default", load.name), clusters={load.name: "yes"})
        for load in instance.movable
    ]
    return place_workloads(clusters, movable, "steady", 0)


def check(instance: Instance) -> tuple[bool, Decimal]:
    """Compare one instance; return whether the answer is the optimum, and the stated gap."""
    optimum, found = cheapest(instance), place(instance)
    if optimum is None:
        assert found.verdict != "fits"
        return True, Decimal(0)
    least = Decimal(optimum) / 100
    assert found.bound <= least
    assert found.verdict != "does-not-fit"
    if found.verdict == "fits":
        assert found.pending == 0
        assert least <= found.cost
        for each in found.assigned:
            (load,) = [load for load in instance.movable if load.name == each.workload.name]
            assert each.cluster in {f"c{at}" for at in load.may}
    return found.verdict == "fits" and found.cost == least, found.gap


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_placement_is_between_bound_and_optimum(part: int) -> None:
    """Sixty instances in ten parts, more with PLACINGS; most answers are the optimum, and the gap
    is stated.
    """
    size = INSTANCES // 10
    found = [check(draw(seed)) for seed in range(part * size, (part + 1) * size)]
    assert Counter(best for best, _ in found)[True] >= size - 1
    assert sum((gap for _, gap in found), Decimal(0)) / size < Decimal("0.15")


@pytest.mark.long
def test_heuristic_search_finds_almost_the_same_placements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(placing, "MOST_EXHAUSTIVE", 0)
    found = [check(draw(seed)) for seed in range(20)]
    assert Counter(best for best, _ in found)[True] >= 18
    assert not place(draw(0)).exhaustive


CHEAP, DEAR = Pool("g6.2xlarge", 1, 3, 100), Pool("g6.2xlarge", 1, 3, 200)


def test_workload_is_placed_on_the_cheapest_allowed_cluster() -> None:
    free = Load("free", 2, 1, (0, 1))
    bound_to_dear = Load("bound", 1, 1, (1,))
    found = place(Instance(((CHEAP,), (DEAR,)), ((), ()), (free, bound_to_dear)))
    assert {each.workload.name: each.cluster for each in found.assigned} == {
        "free": "c0",
        "bound": "c1",
    }
    assert (found.cost, found.bound, found.gap, found.exhaustive) == (4, 4, 0, True)


def test_workload_without_an_allowed_cluster_does_not_fit() -> None:
    found = place(
        Instance(
            ((CHEAP,), (DEAR,)), ((), ()), (Load("nowhere", 1, 1, ()), Load("free", 1, 1, (0, 1)))
        )
    )
    assert found.verdict == "does-not-fit"
    assert {each.workload.name: each.cluster for each in found.assigned} == {
        "free": "c0",
        "nowhere": "",
    }


def test_more_pods_than_all_clusters_fit_are_pending() -> None:
    found = place(Instance(((CHEAP,), (DEAR,)), ((), ()), (Load("many", 7, 1, (0, 1)),)))
    assert (found.verdict, found.pending) == ("does-not-fit", 4)

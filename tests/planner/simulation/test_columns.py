"""Large clusters: scheduling with cached node results chooses the same nodes as evaluating every
node again.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from allocation_builders import CLASSES, claim, first_of, request, shape
from clusters import F36, offer, workload

from dra_planner.model import ClaimSpec, Demand, ObjectKey, Shape, ShapeClaim
from dra_planner.simulation import ArrivalOrder, Simulator, observed_nodes
from dra_planner.simulation.outcome import SimulationOutcome
from dra_planner.simulation.scheduler import score_cache
from dra_planner.simulation.scheduler.scheduling import Scheduler

NODES = 130


def simulator(seed: int) -> Simulator:
    """Return some workloads on nodes of three zones, too few for all of them in every third
    case.
    """
    rng = random.Random(seed)
    cpus = rng.choice((8_000, 64_000))
    nodes = observed_nodes(
        [
            offer(f"n{number}", rng.choice((1, 4)), zone="abc"[number % 3], cpu=cpus)
            for number in range(NODES)
        ]
    )
    pods = rng.choice((40, 80, 200))
    return Simulator.of(
        Demand(shapes=tuple(some(rng, at, pods) for at in range(5))), nodes, CLASSES, F36
    )


def some(rng: random.Random, at: int, pods: int) -> Shape:
    claims: list[ClaimSpec | ShapeClaim] = [
        claim(request(count=rng.choice((1, 1, 2))), first_of("s", ("any", 2), ("any", 1))),
        claim(request()),
        ShapeClaim(name="c", spec=claim(request()), shared=ObjectKey("default", "common")),
    ]
    chosen = rng.choice((claims[:1], claims[1:2], claims[1:2], claims[2:] if at == 4 else [], []))
    made = shape(*chosen, requests={"cpu": rng.choice((500, 1_000 + at))})
    return workload(
        made, rng.randint(1, pods), at=at, kind=rng.choice(("Deployment", "Job", "StatefulSet"))
    )


def results_of(outcome: SimulationOutcome) -> Any:
    rejections = {
        name: [(each.node, each.nodes) for each in failure.rejections]
        for name, failure in outcome.pending.items()
    }
    return dict(outcome.placed), rejections


@pytest.mark.parametrize("seed", range(6))
def test_caching_does_not_change_results(seed, monkeypatch):
    made = simulator(seed)
    orders = [ArrivalOrder("settled"), ArrivalOrder("settled", 3), ArrivalOrder("random", 1)]
    remembering = [results_of(made.run(order, lost=["n7"])) for order in orders]
    monkeypatch.setattr(Scheduler, "_is_judged_alone", lambda self, kind: False)
    assert remembering == [results_of(made.run(order, lost=["n7"])) for order in orders]


def test_scores_above_a_byte_are_compared_node_by_node(monkeypatch):
    made = simulator(1)
    expected = results_of(made.run(ArrivalOrder("random", 1)))
    monkeypatch.setattr(score_cache, "MOST", 3)
    assert results_of(simulator(1).run(ArrivalOrder("random", 1))) == expected

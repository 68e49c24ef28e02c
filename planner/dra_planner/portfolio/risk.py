"""The probability of pending pods on a plan's nodes, simulated with random arrival orders and lost
Spot nodes.

The runs use consecutive seeds, starting with the question's seed, so the same question always has
the same answer.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from msgspec import Struct

from dra_planner.fleet import Fleet
from dra_planner.plan import Plan
from dra_planner.plan.judgement.simulated_fleet import system_nodes
from dra_planner.plan.judgement.system_pods import set_aside
from dra_planner.portfolio.intervals import Interval, mean_interval, share_interval
from dra_planner.portfolio.schema import RiskQuestion
from dra_planner.simulation import (
    ArrivalOrder,
    KnownAnswers,
    SimulatedNode,
    Simulator,
    predicted_nodes,
)

STEPS_PER_RUN = 5_000_000


class RiskAnswer(Struct, frozen=True, kw_only=True):
    """The result of the runs.

    `pending` is the share of runs with a pending pod, and `pods` is the mean number of pending
    pods. `nodes` are the nodes of each pool before losses, and `lost` is the mean number of lost
    nodes. `unfinished` runs exceeded the steps and don't count.
    """

    draws: int
    seed: int
    spot_loss: float
    nodes: Mapping[str, int]
    unfinished: int
    pending: Interval
    pods: Interval
    most_pods: int
    lost: Interval


def simulate_risk(plan: Plan, fleet: Fleet, risk: RiskQuestion) -> RiskAnswer:
    """Return how often pods of a plan stay pending, including pods that the packing leaves
    pending.
    """
    judgement = plan.judgement
    on_gpus, _ = set_aside(judgement.demand, judgement.offers)
    beside = system_nodes(fleet)
    demand = on_gpus if beside is None else judgement.demand
    counts = {pool.name: pool.nodes.desired for pool in plan.pools}
    nodes = predicted_nodes(judgement.offers, counts)
    system = () if beside is None else beside.nodes(judgement.offers, demand)
    known = KnownAnswers()
    simulators: dict[tuple[str, ...], Simulator] = {}
    pending: list[int] = []
    lost: list[int] = []
    for seed in range(risk.seed, risk.seed + risk.draws):
        kept = _kept(nodes, fleet, risk, seed)
        names = tuple(node.node.meta.name for node in kept)
        if names not in simulators:
            simulators[names] = Simulator.of(
                demand,
                (*kept, *system),
                judgement.classes,
                judgement.features,
                level=plan.level,
                known=known,
            )
        outcome = simulators[names].run(ArrivalOrder("random", seed), steps=STEPS_PER_RUN)
        if outcome.complete:
            workloads = outcome.workloads.values()
            pending.append(sum(each.pending + each.not_created + each.lost for each in workloads))
            lost.append(len(nodes) - len(kept))
    runs = len(pending)
    nothing = Interval(0.0, 0.0, 1.0)
    return RiskAnswer(
        draws=risk.draws,
        seed=risk.seed,
        spot_loss=float(risk.spot_loss),
        nodes=counts,
        unfinished=risk.draws - runs,
        pending=share_interval(sum(pods > 0 for pods in pending), runs) if runs else nothing,
        pods=mean_interval(pending) if runs else nothing,
        most_pods=max(pending, default=0),
        lost=mean_interval(lost) if runs else nothing,
    )


def _kept(
    nodes: tuple[SimulatedNode, ...], fleet: Fleet, risk: RiskQuestion, seed: int
) -> tuple[SimulatedNode, ...]:
    """Return the nodes that aren't lost in a run."""
    dice = random.Random(f"spot/{seed}")
    loss = float(risk.spot_loss)
    return tuple(
        node for node in nodes if fleet.pool(node.group).capacity != "spot" or dice.random() >= loss
    )

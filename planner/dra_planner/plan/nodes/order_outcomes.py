"""Outcomes of the simulated arrival orders: pending pods, and the used devices of each node.

Orders with equal results are one outcome, so each picture shows a different result.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from dra_planner.model import WorkloadRef
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.groups import NodeGroup, simulated_groups
from dra_planner.simulation import SimulationOutcome


class HeldDevices(Struct, frozen=True):
    """Devices of one kind on a node that one workload uses, or unused devices if the workload is
    None.
    """

    kind: str
    workload: WorkloadRef | None
    devices: int


class OutcomeNodes(Struct, frozen=True):
    """Nodes of a pool on which each workload uses the same number of devices of each kind."""

    pool: str
    nodes: int
    devices: tuple[HeldDevices, ...]


class OrderOutcome(Struct, frozen=True):
    """Arrival orders with equal results: pending pods, and used devices of the nodes."""

    orders: tuple[str, ...]
    pending: tuple[tuple[WorkloadRef, int], ...]
    nodes: tuple[OutcomeNodes, ...]


def order_outcomes(plan: Plan) -> tuple[OrderOutcome, ...]:
    """Return the different outcomes, most frequent first, or () if nothing was simulated completely
    at full scale.
    """
    found = plan.judgement.simulated
    if found is None or found.scale != 1:
        return ()
    ends: dict[tuple[object, ...], list[str]] = {}
    for outcome in found.outcomes:
        ends.setdefault((_pending(outcome), _nodes(plan, outcome)), []).append(str(outcome.order))
    outcomes = [OrderOutcome(tuple(orders), *end) for end, orders in ends.items()]  # type: ignore[arg-type]  # as put in
    return tuple(sorted(outcomes, key=lambda each: -len(each.orders)))


def _pending(outcome: SimulationOutcome) -> tuple[tuple[WorkloadRef, int], ...]:
    pods = {
        each.workload: each.pending + each.not_created + each.lost
        for each in outcome.workloads.values()
    }
    return tuple(sorted((ref, count) for ref, count in pods.items() if count))


def _nodes(plan: Plan, outcome: SimulationOutcome) -> tuple[OutcomeNodes, ...]:
    sums: Counter[tuple[str, tuple[HeldDevices, ...]]] = Counter()
    for group in simulated_groups(plan, outcome):
        sums[group.pool, _held(group)] += group.nodes
    order = [pool.name for pool in plan.pools]
    ranked = sorted(
        sums.items(), key=lambda each: (order.index(each[0][0]), -each[1], repr(each[0][1]))
    )
    return tuple(OutcomeNodes(pool, nodes, devices) for (pool, devices), nodes in ranked)


def _held(group: NodeGroup) -> tuple[HeldDevices, ...]:
    counts: Counter[tuple[str, WorkloadRef | None]] = Counter()
    for device in group.devices:
        for holder in dict.fromkeys(device.holders) or (None,):
            counts[device.kind, holder] += 1
    held = sorted(
        counts.items(), key=lambda each: (each[0][0], each[0][1] is None, each[0][1] or ())
    )
    return tuple(HeldDevices(kind, workload, devices) for (kind, workload), devices in held)

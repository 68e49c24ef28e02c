"""The third number: nodes with which the default scheduler places everything, in every order of arrival tried.

A packing that exists is not yet a cluster that works. *Fits* is said of the simulated counts; where a packing is within
the maximum and the simulation leaves pods pending, it cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from dra_planner.fleet import Fleet
from dra_planner.model import Demand, DemandLevel, DeviceClass, Reason, WorkloadRef, worst
from dra_planner.offers import Offer, predict_system_offer
from dra_planner.releases import Features
from dra_planner.simulation import (
    SimulatedCounts,
    SimulatedPool,
    Stranding,
    simulate_counts,
    standard_orders,
)
from dra_planner.sizing import Sizing, WorkloadSize, node_costs

RANDOM_ORDERS: Final = 4
_BETWEEN_PODS: Final = "rule-between-pods"  # what sizing leaves open, and the simulation answers


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemNodes:
    """Nodes that nobody sizes: what each offers, and how many there are."""

    offer: Offer
    count: int


def system_nodes(fleet: Fleet | None) -> SystemNodes | None:
    """Return the nodes of a fleet's system pool; None where nobody says what they are."""
    offer = None if fleet is None else predict_system_offer(fleet)
    return None if offer is None or fleet is None else SystemNodes(offer=offer, count=fleet.system_pool.count)


def simulate_sizing(
    sizing: Sizing,
    demand: Demand,
    offers: Iterable[Offer],
    system: SystemNodes | None,
    classes: Mapping[str, DeviceClass],
    features: Features,
    steps: int,
) -> tuple[Sizing, SimulatedCounts | None]:
    """Return the sizing with the verdicts that the simulation gives, and what it found.

    Only a demand that the packing places is simulated; None where there is nothing to simulate. `demand` holds the
    pods that the offers and the system nodes are there for.
    """
    if not _is_placed(sizing, demand, sizing.level):
        return sizing, None
    ordered = tuple(offers)
    pools = [
        SimulatedPool(
            offer=offer, packing=sizing.pool(offer.name).plan, maximum=sizing.pool(offer.name).maximum, cost=cost
        )
        for offer, cost in zip(ordered, node_costs(ordered), strict=True)
    ]
    found = simulate_counts(
        demand,
        pools,
        [(system.offer, system.count)] if system is not None else [],
        classes,
        features,
        level=sizing.level,
        orders=standard_orders(RANDOM_ORDERS),
        steps=steps,
    )
    workloads = tuple(_answer(size, found) for size in sizing.workloads)
    return replace(sizing, workloads=workloads, verdict=worst(each.verdict for each in workloads)), found


def _is_placed(sizing: Sizing, demand: Demand, level: DemandLevel) -> bool:
    """Whether the packing places every pod of the demand, and nothing is left open but rules between pods."""
    wanted: dict[WorkloadRef, int] = {}
    for shape in demand.shapes:
        for member in shape.members:
            pods = member.figures.at(level)
            if pods is None:
                return False
            wanted[member.workload] = wanted.get(member.workload, 0) + (0 if shape.per_node else pods)
    sizes = {size.workload: size for size in sizing.workloads}
    return bool(wanted) and all(
        sizes[ref].placed >= pods and all(reason.code == _BETWEEN_PODS for reason in sizes[ref].reasons)
        for ref, pods in wanted.items()
    )


def _answer(size: WorkloadSize, found: SimulatedCounts) -> WorkloadSize:
    """Return the answer for a workload after the simulation."""
    if found.counts is not None:
        reasons = tuple(reason for reason in size.reasons if reason.code != _BETWEEN_PODS)
        if len(reasons) == len(size.reasons):
            return size
        return replace(size, verdict="fits" if not reasons else size.verdict, reasons=reasons)
    strandings = found.at_maximum or found.at_packing
    mine = [each for each in strandings if size.workload in each.pending]
    if not mine:
        return size
    kept = tuple(reason for reason in size.reasons if reason.code != _BETWEEN_PODS)
    reason = _stranded(size.workload, mine, found)
    return replace(size, verdict=worst((size.verdict, "cannot-tell")), reasons=(*kept, reason))


def _stranded(ref: WorkloadRef, strandings: list[Stranding], found: SimulatedCounts) -> Reason:
    most = max(each.pending[ref] for each in strandings)
    pods = f"{most} pod{'s' if most != 1 else ''}"
    orders = ", ".join(str(each.order) for each in strandings)
    where = "with every pool at its maximum" if found.at_maximum else "with the nodes of the packing"
    return Reason(
        code="simulation-leaves-pods",
        message=f"a packing exists, but simulated {where} the default scheduler leaves up to {pods} pending in "
        f"{len(strandings)} of {len(found.orders)} orders of arrival ({orders})",

    )

"""The third number: nodes with which the default scheduler places everything, in every order of arrival tried.

A packing that exists is not yet a cluster that works. *Fits* is said of the simulated counts; where a packing is within
the maximum and the simulation leaves pods pending, it cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dra_planner.fleet import Fleet
from dra_planner.model import Demand, DemandLevel, DeviceClass, Reason, Shape, SharedLimit, WorkloadRef, worst
from dra_planner.offers import Offer, predict_system_offer
from dra_planner.plan.judgement.other_levels import LEVELS_BESIDE
from dra_planner.plan.judgement.simulated_fixes import fix_sentence
from dra_planner.releases import Features
from dra_planner.simulation import (
    DEFAULT,
    MOST_ALLOCATED,
    CountQuestion,
    Opened,
    Profile,
    SimulatedCounts,
    SimulatedNode,
    SimulatedPool,
    Stranding,
    check_orders,
    find_fixes,
    predicted_nodes,
    simulate_counts,
    standard_orders,
)
from dra_planner.sizing import Sizing, WorkloadSize, node_costs
from dra_planner.sizing.topology import ZONES
from dra_planner.wording import counted

if TYPE_CHECKING:
    from dra_planner.simulation import Fix

RANDOM_ORDERS: Final = 4
CHECK_SEEDS: Final = range(11, 16)
"""Chances by which ties between nodes are broken when counts are checked."""
PROFILES: Final = {"default": DEFAULT, "most-allocated": MOST_ALLOCATED}
"""How the scheduler scores nodes, by the fleet's `schedulerProfile`."""
_LEAST_ZONES: Final = 2  # of subnets that exist
_BETWEEN_PODS: Final = "rule-between-pods"  # what sizing leaves open, and the simulation answers
_LEAVES_PODS: Final = "simulation-leaves-pods"
_LEFT_TO_SIMULATION: Final = frozenset({_BETWEEN_PODS, _LEAVES_PODS})


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemNodes:
    """Nodes that nobody sizes: what each offers, how many there are, and in how many zones that nobody names."""

    offer: Offer
    count: int
    unnamed_zones: int = 0

    def nodes(self, offers: Iterable[Offer], demand: Demand) -> tuple[SimulatedNode, ...]:
        """Return the nodes. Where a pod must be spread over zones and only pools name theirs, the zones of these nodes
        are those and further ones: a zone without a node that takes the pod keeps its others pending.
        """
        named = tuple(dict.fromkeys(zone for offer in offers for zone in offer.zones))
        offer = self.offer
        if self.unnamed_zones and named and any(_is_spread_over_zones(shape) for shape in demand.shapes):
            others = tuple(f"another-zone-{at}" for at in range(len(named), self.unnamed_zones))
            offer = replace(offer, zones=(*others, *named))
        return predicted_nodes((offer,), {offer.name: self.count})


def _is_spread_over_zones(shape: Shape) -> bool:
    return any(
        each.when_unsatisfiable == "DoNotSchedule" and each.topology_key in ZONES for each in shape.pod.topology_spread
    )


def system_nodes(fleet: Fleet | None) -> SystemNodes | None:
    """Return the nodes of a fleet's system pool; None where nobody says what they are."""
    offer = None if fleet is None else predict_system_offer(fleet)
    if offer is None or fleet is None:
        return None
    zones = fleet.network.zones
    unnamed = 0 if isinstance(zones, list) else _LEAST_ZONES if fleet.network.subnet_ids else zones
    return SystemNodes(offer=offer, count=fleet.system_pool.count, unnamed_zones=unnamed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What the simulation makes of sizes: their verdicts at every level, what it found at those that it looked at, and
    the fixes for the one judged.
    """

    sizings: Mapping[DemandLevel, Sizing]
    found: Mapping[DemandLevel, SimulatedCounts]
    fixes: tuple[Fix, ...] = ()


def simulate_sizings(
    sizings: Mapping[DemandLevel, Sizing],
    level: DemandLevel,
    demand: Demand,
    offers: Iterable[Offer],
    system: SystemNodes | None,
    classes: Mapping[str, DeviceClass],
    features: Features,
    steps: int,
    profile: str = "default",
    limits: tuple[SharedLimit, ...] = (),
    with_fixes: bool = True,
    proved: SimulatedCounts | None = None,
    multiples: Mapping[str, int] | None = None,
) -> Simulated:
    """Return the sizings with the verdicts that the simulation gives, and what it found.

    Only levels that the packing places are simulated: the one judged, ceiling and peak. Workloads whose pods fit
    no pool are left out: they are pending on any counts. `demand` holds the pods that the offers and the system nodes
    are there for. `proved` is what is known of the level judged. `steps` bounds that level; ceiling and peak, where
    they differ, have what it leaves, at least a sixth each. `profile` is the fleet's `schedulerProfile`, `limits` are
    what pools may take together, `multiples` those of which the cloud builds pools.
    """
    ordered = tuple(offers)
    sizing, left = sizings[level], steps
    known: dict[int, SimulatedCounts] = {}
    fixes: tuple[Fix, ...] = ()
    answers: dict[int, Sizing] = {}
    question: CountQuestion | None = None
    opened = Opened()
    fitting, left_out = without_misfits(sizing, demand)
    if is_placed(sizing, fitting, level):
        question = count_question(
            sizing, fitting, ordered, system, classes, features, PROFILES[profile], limits, multiples
        )
        found = simulate_counts(question, steps * 2 // 3, opened=opened) if proved is None else proved
        found = replace(found, left_out=left_out)
        left = max(0, steps - found.spent)
        if found.at_packing and with_fixes:
            fixes, left = find_fixes(question, found, _placements(sizing), left, steps * 2 // 3)
        known[id(sizing)], answers[id(sizing)] = found, _answered(sizing, found, fixes)
    for beside in LEVELS_BESIDE:
        other = sizings[beside]
        fitting, _ = without_misfits(other, demand)
        if id(other) not in answers and other is not sizing and is_placed(other, fitting, beside):
            asked = count_question(other, fitting, ordered, system, classes, features, PROFILES[profile], limits)
            nodes: Opened | None = None
            if question is not None and question.demand is fitting:
                asked, nodes = replace(asked, beside=question.beside), opened
            share = max(left // 2, steps // 6)
            counts = simulate_counts(asked, share, opened=nodes)
            known[id(other)], answers[id(other)] = counts, _answered(other, counts, ())
    return Simulated(
        sizings={each: answers.get(id(size), size) for each, size in sizings.items()},
        found={each: known[id(size)] for each, size in sizings.items() if id(size) in known},
        fixes=fixes,
    )


def count_question(
    sizing: Sizing,
    demand: Demand,
    offers: tuple[Offer, ...],
    system: SystemNodes | None,
    classes: Mapping[str, DeviceClass],
    features: Features,
    profile: Profile,
    limits: tuple[SharedLimit, ...],
    multiples: Mapping[str, int] | None = None,
) -> CountQuestion:
    """Return what is simulated of a sizing at its level: how many nodes of each pool place everything."""
    return CountQuestion(
        demand=demand,
        pools=tuple(
            SimulatedPool(
                offer=offer,
                packing=sizing.pool(offer.name).plan,
                maximum=sizing.pool(offer.name).maximum,
                cost=cost,
                multiple=(multiples or {}).get(offer.name, 1),
            )
            for offer, cost in zip(offers, node_costs(offers), strict=True)
        ),
        beside=() if system is None else system.nodes(offers, demand),
        classes=classes,
        features=features,
        level=sizing.level,
        orders=standard_orders(RANDOM_ORDERS),
        checks=check_orders(CHECK_SEEDS),
        profile=profile,
        limits=limits,
    )


def without_misfits(sizing: Sizing, demand: Demand) -> tuple[Demand, tuple[WorkloadRef, ...]]:
    """Return the demand without the workloads that no pool has a node for, and these workloads, sorted."""
    misfits = {
        size.workload
        for size in sizing.workloads
        if size.verdict == "does-not-fit" and not size.placed and size.fits and _fits_nowhere(size)
    }
    if not misfits:
        return demand, ()
    shapes = []
    for shape in demand.shapes:
        members = tuple(member for member in shape.members if member.workload not in misfits)
        if members:
            shapes.append(replace(shape, members=members))
    return replace(demand, shapes=tuple(shapes)), tuple(sorted(misfits))


def _fits_nowhere(size: WorkloadSize) -> bool:
    return all(verdict == "does-not-fit" for _, verdict in size.fits)


def _answered(sizing: Sizing, found: SimulatedCounts, fixes: tuple[Fix, ...]) -> Sizing:
    workloads = tuple(_answer(size, found, fixes) for size in sizing.workloads)
    return replace(sizing, workloads=workloads, verdict=worst(each.verdict for each in workloads))


def is_placed(sizing: Sizing, demand: Demand, level: DemandLevel) -> bool:
    """Whether the packing places every pod of the demand, and only what the simulation decides is left open."""
    wanted: dict[WorkloadRef, int] = {}
    for shape in demand.shapes:
        for member in shape.members:
            pods = member.figures.at(level)
            if pods is None:
                return False
            wanted[member.workload] = wanted.get(member.workload, 0) + (0 if shape.per_node else pods)
    sizes = {size.workload: size for size in sizing.workloads}
    return bool(wanted) and all(
        sizes[ref].placed >= pods and all(reason.code in _LEFT_TO_SIMULATION for reason in sizes[ref].reasons)
        for ref, pods in wanted.items()
    )


def _answer(size: WorkloadSize, found: SimulatedCounts, fixes: tuple[Fix, ...]) -> WorkloadSize:
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
    reason = stranded(size.workload, mine, found, fixes, is_packed=len(kept) == len(size.reasons))
    return replace(size, verdict=worst((size.verdict, "cannot-tell")), reasons=(*kept, reason))


def _placements(sizing: Sizing) -> dict[str, set[str]]:
    """Return the pools on which the packing puts pods of a shape, by the id of the shape."""
    placed: dict[str, set[str]] = {}
    for pattern in sizing.patterns:
        for shape, _ in pattern.pods:
            placed.setdefault(shape, set()).add(pattern.pool)
    return placed


def stranded(
    ref: WorkloadRef,
    strandings: list[Stranding],
    found: SimulatedCounts,
    fixes: tuple[Fix, ...],
    *,
    is_packed: bool = True,
) -> Reason:
    """Return why a workload is in doubt: its pods that some orders of arrival leave pending, and what would help.

    `is_packed`: a packing was found that places them, and that rules between pods allow.
    """
    most = max(each.pending[ref] for each in strandings)
    pods = counted(most, "pod")
    orders = ", ".join(str(each.order) for each in strandings)
    where = "with every pool at its maximum" if found.at_maximum else "with the nodes of the packing"
    other = " other" if found.left_out else ""
    return Reason(
        code=_LEAVES_PODS,
        message=f"{'a packing exists, but ' if is_packed else ''}simulated {where} the default scheduler leaves up to "
        f"{pods} pending in {len(strandings)} of {len(found.orders)} orders of arrival ({orders})",
        fix=f"{fix_sentence(fixes[0])} (simulated: every{other} pod is placed in every order)" if fixes else "",
    )

"""Spare nodes, so that every pod finds a node after some nodes are lost.

The simulation re-creates the pods of lost nodes and schedules them on the remaining nodes, for
every loss in the fleet and every arrival order. Without simulation, each used pool gets enough
additional nodes that the packing remains without the lost ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.fleet import Fleet, Redundancy
from dra_planner.model import Demand, Reason, SharedLimit, WorkloadRef, fill_up, nodes_left, worst
from dra_planner.plan.judgement.lost_nodes import Counts, Survival, lost
from dra_planner.plan.judgement.simulated_fleet import SimulatedFleet
from dra_planner.simulation import simulate_losses
from dra_planner.sizing import Sizing, WorkloadSize, node_costs
from dra_planner.wording import counted, named, verb

if TYPE_CHECKING:  # only simulations need this module
    from dra_planner.simulation import CountQuestion, Losses, SimulatedCounts

LOSS_CODES: Final = frozenset({"redundancy-not-kept", "losses-not-simulated", "loss-leaves-pods"})
"""Codes of the reasons about lost nodes."""
_MOST_ADDED: Final = 20
"""Maximum number of nodes to add one by one if losses leave pods pending."""


class Spares(Struct, frozen=True, kw_only=True):
    """Input of the search for spare nodes.

    `base` is the number of nodes that the demand needs in each pool, and `zones` is the number of
    each pool's zones.
    """

    redundancy: Redundancy
    base: Counts
    maximums: Counts
    costs: Mapping[str, tuple[int, ...]]
    zones: Counts
    limits: tuple[SharedLimit, ...]

    def wanted(self) -> dict[str, int]:
        """Return the number of nodes in each pool with which enough nodes remain for the demand, if
        possible.
        """
        return {name: self._with_spares(name, nodes) for name, nodes in self.base.items()}

    def _with_spares(self, name: str, nodes: int) -> int:
        if not nodes or not self.redundancy.zones:
            return nodes + (self.redundancy.nodes if nodes else 0)
        zones = max(1, self.zones[name])
        return (
            nodes
            if zones == 1
            else next(n for n in range(nodes, 2 * nodes + 2) if n - -(-n // zones) >= nodes)
        )

    def allowed(self, wanted: Counts) -> dict[str, int]:
        """Return the number of these nodes that maximums and limits allow."""
        most = {
            name: max(self.base[name], min(nodes, self.maximums[name]))
            for name, nodes in wanted.items()
        }
        return fill_up(self.limits, self.base, most)


def survive(
    sizing: Sizing, spares: Spares, question: CountQuestion | None, steps: int
) -> tuple[Sizing, Survival]:
    """Return the sizing with the verdicts after the losses, and the nodes to build.

    `question` is None without simulation.
    """
    wanted = spares.wanted()
    counts = spares.allowed(wanted)
    short = {name: nodes for name, nodes in wanted.items() if counts[name] < nodes}
    survival = Survival(
        redundancy=spares.redundancy, counts=counts, spare=_spare(counts, spares.base), short=short
    )
    if question is None:
        return (
            _with_doubts(sizing, _placed_only(_too_few(survival))) if short else sizing
        ), survival
    search = _Search(spares, question, steps)
    losses = search.settle(counts)
    survival = replace(
        survival,
        counts=search.counts,
        spare=_spare(search.counts, spares.base),
        tried=losses.tried,
        losses=losses.found,
    )
    if not losses.complete:
        return _with_doubts(sizing, _placed_only(_not_simulated())), survival
    return _with_doubts(sizing, lambda size: _pending(size.workload, survival)), survival


def what_survives(
    fleet: Fleet,
    sizing: Sizing,
    simulated: SimulatedCounts | None,
    demands: tuple[Demand, Demand],
    nodes: SimulatedFleet,
) -> tuple[Spares, CountQuestion | None]:
    """Return the input of the search for spare nodes, and the simulation's question.

    The question is None without simulated counts. `demands` are the whole demand and its part on
    the pools.
    """
    found = simulated.counts if simulated is not None and simulated.scale == 1 else None
    if fleet.sizing == "packing":
        found = None
    spares = Spares(
        redundancy=fleet.redundancy,
        base=found or {size.name: size.plan for size in sizing.pools},
        maximums={size.name: size.maximum for size in sizing.pools},
        costs={
            offer.name: cost
            for offer, cost in zip(nodes.offers, node_costs(nodes.offers), strict=True)
        },
        zones={offer.name: len(offer.zones) for offer in nodes.offers},
        limits=fleet.limits,
    )
    if found is None:
        return spares, None
    return spares, nodes.question(sizing, demands[0] if nodes.system is not None else demands[1])


def _spare(counts: Counts, base: Counts) -> dict[str, int]:
    return {name: nodes - base[name] for name, nodes in counts.items()}


class _Search:
    """Searches for counts with which no loss leaves pods pending: adds nodes, and then removes
    unneeded ones.
    """

    def __init__(self, spares: Spares, question: CountQuestion, steps: int) -> None:
        self.spares, self.question, self.left = spares, question, steps
        self.counts: dict[str, int] = {}

    def settle(self, counts: Counts) -> Losses:
        """Return the pods that losses leave pending with the final counts."""
        self.counts = dict(counts)
        losses = self._simulate(self.counts)
        for _ in range(_MOST_ADDED):
            more = self._one_more(losses) if losses.complete and losses.found else None
            if more is None:
                break
            self.counts[more] += 1
            losses = self._simulate(self.counts)
        return losses if losses.found or not losses.complete else self._without_needless(losses)

    def _simulate(self, counts: Counts) -> Losses:
        redundancy = self.spares.redundancy
        losses = simulate_losses(
            self.question, counts, self.left, nodes=redundancy.nodes, zones=redundancy.zones
        )
        self.left -= losses.spent
        return losses

    def _one_more(self, losses: Losses) -> str | None:
        """Return the pool that gets a node: the cheapest with capacity, first among pools with
        losses.
        """
        worst_loss = max(losses.found, key=lambda each: each.pods)
        hit = {name.rpartition("-")[0] for name in worst_loss.nodes}
        left = nodes_left(self.spares.limits, self.counts)
        open_pools = [
            name
            for name, count in self.counts.items()
            if count < self.spares.maximums[name] and left.get(name, 1) > 0
        ]
        return min(
            open_pools, key=lambda name: (name not in hit, self.spares.costs[name]), default=None
        )

    def _without_needless(self, losses: Losses) -> Losses:
        """Remove spare nodes that no loss needs, the most expensive first."""
        for name in sorted(self.counts, key=lambda each: self.spares.costs[each], reverse=True):
            while self.counts[name] > self.spares.base[name]:
                fewer = {**self.counts, name: self.counts[name] - 1}
                tried = self._simulate(fewer)
                if tried.found or not tried.complete:
                    break
                self.counts, losses = fewer, tried
        return losses


# -- results


def _with_doubts(sizing: Sizing, reason_for: Callable[[WorkloadSize], Reason | None]) -> Sizing:
    """Return the sizing with *cannot tell* for the workloads that have a reason."""
    workloads = tuple(_in_doubt(size, reason_for(size)) for size in sizing.workloads)
    return replace(sizing, workloads=workloads, verdict=worst(each.verdict for each in workloads))


def _in_doubt(size: WorkloadSize, reason: Reason | None) -> WorkloadSize:
    if reason is None:
        return size
    return replace(
        size, verdict=worst((size.verdict, "cannot-tell")), reasons=(*size.reasons, reason)
    )


def _placed_only(reason: Reason) -> Callable[[WorkloadSize], Reason | None]:
    return lambda size: reason if size.placed else None


def _too_few(survival: Survival) -> Reason:
    raises = " and ".join(
        f'of pool "{name}" to {nodes}' for name, nodes in sorted(survival.short.items())
    )
    return Reason(
        code="redundancy-not-kept",
        message="without a simulation, it's unknown whether every pod fits on another node "
        f"if {lost(survival.redundancy)}",
        fix=f"raise the maximum {raises}",
    )


def _not_simulated() -> Reason:
    return Reason(
        code="losses-not-simulated",
        message="the simulation of lost nodes didn't finish in time",
        fix="increase --simulate SECONDS",
    )


def _pending(ref: WorkloadRef, survival: Survival) -> Reason | None:
    """Return the reason for a workload whose pods some loss leaves pending."""
    mine = [each for each in survival.losses if ref in each.pending]
    if not mine:
        return None
    most = max(mine, key=lambda each: each.pending[ref])
    what = f"zone {most.zone}" if most.zone else named("node", most.nodes)
    short = ", ".join(
        f'"{name}" would need {nodes}' for name, nodes in sorted(survival.short.items())
    )
    return Reason(
        code="loss-leaves-pods",
        message=f"if {what} is lost (pod arrival order: {most.order}), "
        f"{counted(most.pending[ref], 'pod')} {verb(most.pending[ref], 'stay')} "
        "pending, even with every allowed spare node" + (f" (pool {short})" if short else ""),
    )

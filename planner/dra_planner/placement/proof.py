"""Prove counts with which all guarded pods are placed, by simulating every arrival order at full
scale. Guards separate groups, so nodes are added only to pools whose own pods stay pending.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import ceil

from msgspec import Struct, field

from dra_planner.model import nodes_left
from dra_planner.simulation import (
    ArrivalOrder,
    CountQuestion,
    Opened,
    SimulatedCounts,
    SimulationOutcome,
    Simulator,
)


class CountProver(Struct):
    """Simulates a question's orders with counts, and raises the counts. `steps` are the remaining
    steps in total.
    """

    question: CountQuestion
    pool_of: Mapping[str, str]  # pool of each steered shape, by the shape's ID
    # number of pods that fit on an empty node, by shape and pool
    fills: Mapping[tuple[str, str], int]
    steps: int
    # node counts below which a pool is known to be too small
    least: Mapping[str, int] = {}
    opened: Opened = field(default_factory=Opened)
    # the highest node counts at which pods of a pool stayed pending
    refuted: dict[str, int] = {}

    def prove(
        self,
        counts: Mapping[str, int],
        is_worth: Callable[[Mapping[str, int]], bool] = lambda _: True,
    ) -> SimulatedCounts | None:
        """Return counts, starting from `counts`, with which all pods are placed in every order.

        Returns None if a pool reaches its maximum, if pods without a pool stay pending, if counts
        become too expensive, or if the steps don't suffice.
        """
        orders = [*self.question.orders, *self.question.checks]
        counts, spent = dict(counts), 0
        while True:
            simulator = self._simulator(counts)
            passed: dict[ArrivalOrder, SimulationOutcome] = {}
            failed: SimulationOutcome | None = None
            for order in orders:
                outcome = simulator.run(order, steps=max(0, self.steps))
                self.steps -= outcome.steps
                spent += outcome.steps
                if not outcome.complete:
                    return None
                if not outcome.places_everything:
                    failed = outcome
                    self._learn(counts, outcome)
                    break
                passed[order] = outcome
            if failed is None:
                counts, passed = self._lowered(counts, passed, orders, self.steps - spent // 4)
                kept = tuple(passed[order] for order in self.question.orders)
                return SimulatedCounts(
                    orders=(*self.question.orders, *self.question.checks),
                    counts=counts,
                    at_packing=(),
                    spent=spent,
                    outcomes=kept,
                )
            orders.sort(key=lambda each: each != failed.order)
            if not self._grow(counts, failed) or not is_worth(counts):
                return None

    def _lowered(
        self,
        counts: dict[str, int],
        passed: dict[ArrivalOrder, SimulationOutcome],
        orders: list[ArrivalOrder],
        reserve: int,
    ) -> tuple[dict[str, int], dict[ArrivalOrder, SimulationOutcome]]:
        """Return lower counts that also suffice, and their outcomes, until `reserve` steps are
        left.

        Pools with the most expensive nodes come first. This step is needed because growing adds
        nodes for all pending pods of an order at once.
        """
        for pool in sorted(self.question.pools, key=lambda each: each.cost, reverse=True):
            name = pool.offer.name
            while (
                counts[name] > max(pool.offer.count_min, self.least.get(name, 0))
                and self.steps > reserve
            ):
                fewer = {**counts, name: counts[name] - 1}
                outcomes = self._outcomes(fewer, orders)
                if outcomes is None:
                    break
                counts, passed = fewer, outcomes
        return counts, passed

    def _outcomes(
        self, counts: Mapping[str, int], orders: list[ArrivalOrder]
    ) -> dict[ArrivalOrder, SimulationOutcome] | None:
        """Return the outcome of each order, or None if one leaves pods pending.

        The failed order comes first the next time.
        """
        simulator, found = self._simulator(counts), dict[ArrivalOrder, SimulationOutcome]()
        for order in list(orders):
            outcome = found[order] = simulator.run(order, steps=max(0, self.steps))
            self.steps -= outcome.steps
            if not outcome.complete or not outcome.places_everything:
                if outcome.complete:
                    self._learn(counts, outcome)
                orders.sort(key=lambda each: each != order)
                return None
        return found

    def pending(self, counts: Mapping[str, int], orders: Iterable[ArrivalOrder]) -> tuple[int, ...]:
        """Return the number of pods that each order leaves pending, without orders for which no
        steps are left.
        """
        simulator, found = self._simulator(counts), list[int]()
        for order in orders:
            outcome = simulator.run(order, steps=max(0, self.steps))
            self.steps -= outcome.steps
            if outcome.complete:
                found.append(_pending(outcome))
        return tuple(found)

    def _simulator(self, counts: Mapping[str, int]) -> Simulator:
        question = self.question
        nodes = [
            node
            for each in question.pools
            for node in self.opened.nodes_of(each).take(counts[each.offer.name])
        ]
        return Simulator.of(
            question.demand,
            [*question.beside, *nodes],
            question.classes,
            question.features,
            profile=question.profile,
            level=question.level,
            known=self.opened.known,
        )

    def _learn(self, counts: Mapping[str, int], failed: SimulationOutcome) -> None:
        for kind in failed.pending_kinds:
            pool = None if kind.shape is None else self.pool_of.get(kind.shape.id)
            if pool is not None:
                self.refuted[pool] = max(self.refuted.get(pool, 0), counts[pool])

    def _grow(self, counts: dict[str, int], failed: SimulationOutcome) -> bool:
        """Add the nodes that pending pods need to their pools.

        Return whether these pools allow more nodes.
        """
        wanted: Counter[tuple[str, str]] = Counter()
        for kind, pods in failed.pending_kinds.items():
            pool = None if kind.shape is None else self.pool_of.get(kind.shape.id)
            if pool is None or kind.shape is None:
                return False
            wanted[kind.shape.id, pool] += pods
        parts: defaultdict[str, Fraction] = defaultdict(Fraction)
        for (shape, pool), pods in wanted.items():
            parts[pool] += Fraction(pods, self.fills[shape, pool])
        more = {pool: ceil(nodes) for pool, nodes in parts.items()}
        maximums = {each.offer.name: each.maximum for each in self.question.pools}
        for pool, nodes in more.items():
            room = min(
                maximums[pool] - counts[pool],
                nodes_left(self.question.limits, counts).get(pool, nodes),
            )
            if room <= 0:
                return False
            counts[pool] += min(nodes, room)
        return bool(more)


def _pending(outcome: SimulationOutcome) -> int:
    return sum(each.pending + each.not_created + each.lost for each in outcome.workloads.values())

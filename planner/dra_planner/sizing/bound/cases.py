"""A cost bound by cases: at most k nodes of a pool, or more, each with its own prices.

The linear relaxation allows fractions of nodes. On small fleets, where one node is a large part of
the cost, that bound is weak: 2.3 nodes cost less than 3, and less than 2 plus other nodes for the
rest. Each case has its own exact proof, and every fleet belongs to one of the cases, so the lowest
bound of the cases holds for all fleets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.sizing.bound.exact import BoundModel, Certificate, Worth, apply
from dra_planner.sizing.bound.relaxation import Relaxation

MOST_ENTRIES = 60_000
"""Maximum product of the number of cases and the columns of the relaxation. Above it, cases aren't
divided further.
"""
MOST_CASES = 60
LEAST_CASES = 3
"""Minimum number of cases for a useful bound. There must also be at least as many cases as pools,
because each pool can have a fraction of a node.
"""
# largest distance from an integer, as a share of a node, at which a value counts as an integer
_WHOLE = 1e-6

NodeRanges = Mapping[int, tuple[int, int]]
"""The minimum and maximum nodes of each pool in a case."""


class Case(Struct):
    """A range of fleets with the prices that prove their minimum cost.

    `cost` is None if these fleets can't hold the demand. The first half of a divided case has at
    most `at` nodes of `pool`.
    """

    ranges: NodeRanges
    certificate: Certificate
    worth: Worth
    cost: Fraction | None
    pool: int = -1
    at: int = 0
    halves: tuple[Case, ...] = ()

    @property
    def bound(self) -> Fraction | None:
        """The minimum cost of this case's fleets, or None if none of them holds the demand."""
        if not self.halves:
            return self.cost
        bounds = [half.bound for half in self.halves]
        return min((each for each in bounds if each is not None), default=None)


def model_of(model: BoundModel, ranges: NodeRanges) -> BoundModel:
    """Return the model with other minimum and maximum numbers of nodes."""
    pools = tuple(
        replace(pool, minimum=ranges[at][0], maximum=ranges[at][1]) if at in ranges else pool
        for at, pool in enumerate(model.pools)
    )
    return replace(model, pools=pools)


def divide_cases(
    programs: Relaxation, pools: Sequence[int], costs: Sequence[Fraction], goal: Fraction
) -> Case | None:
    """Return cases of the fleets of these pools, divided until each costs at least `goal`.

    The division also ends if there are too many cases. Returns None if the relaxation can't be
    solved or is too large.
    """
    return _Division(programs, costs).run(pools, goal)


class _Division:
    def __init__(self, programs: Relaxation, costs: Sequence[Fraction]) -> None:
        self._programs = programs
        self._model = programs.model
        self._costs = costs
        self._floats = [float(cost) for cost in costs]

    def run(self, pools: Sequence[int], goal: Fraction) -> Case | None:
        most_cases = min(MOST_CASES, MOST_ENTRIES // max(1, self._programs.columns))
        ranges = {
            at: (self._model.pools[at].minimum, self._model.pools[at].maximum) for at in pools
        }
        too_few = most_cases < max(LEAST_CASES, len(pools))
        if too_few or (solved := self._solve(ranges, None)) is None:
            return None
        first, nodes = solved
        cases, waiting = 1, list[tuple[Fraction, int, Case, list[float]]]()
        heappush(waiting, (first.cost or Fraction(0), 0, first, nodes))
        while waiting and cases + 2 <= most_cases:
            cost, _, case, nodes = heappop(waiting)
            choice = None if cost >= goal else self._choose(case, nodes)
            # this is the minimum of all cases, so dividing other cases proves nothing more
            if choice is None:
                break
            for half in self._divide(case, *choice):
                cases += 1
                waits, found = half
                if waits.cost is not None:
                    heappush(waiting, (waits.cost, cases, waits, found))
        return first

    def _choose(self, case: Case, nodes: Sequence[float]) -> tuple[int, int] | None:
        """Return the pool with the most expensive fraction of a node, and its whole nodes.

        None if all nodes are whole, or if they aren't known because the case uses its parent's
        prices.
        """
        best, choice = 0.0, None
        for pool, (least, most) in case.ranges.items() if nodes else ():
            whole = floor(nodes[pool] + _WHOLE)
            part = nodes[pool] - whole
            if (
                part > _WHOLE
                and least <= whole < most
                and min(part, 1 - part) * self._floats[pool] > best
            ):
                best, choice = min(part, 1 - part) * self._floats[pool], (pool, whole)
        return choice

    def _divide(self, case: Case, pool: int, at: int) -> list[tuple[Case, list[float]]]:
        least, most = case.ranges[pool]
        halves: list[tuple[Case, list[float]]] = []
        for ends in ((least, at), (at + 1, most)):
            ranges = {**case.ranges, pool: ends}
            halves.append(self._solve(ranges, case) or (replace(case, ranges=ranges), []))
        case.pool, case.at, case.halves = pool, at, tuple(half for half, _ in halves)
        return halves

    def _solve(self, ranges: NodeRanges, parent: Case | None) -> tuple[Case, list[float]] | None:
        """Return a case with its own prices, or its parent's prices if these prove more."""
        least = [ranges.get(at, (0, 0))[0] for at in range(len(self._costs))]
        most = [ranges.get(at, (0, 0))[1] for at in range(len(self._costs))]
        model = model_of(self._model, ranges)
        found = self._programs.within(self._floats, least, most)
        if found is None:
            short = self._programs.shortage_within(least, most)
            worth = None if short is None else apply(short, self._model)
            if short is None or worth is None or not worth.is_infeasible(model):
                return None
            return Case(ranges, short, worth, None), []
        certificate, nodes = found
        worth = apply(certificate, self._model)
        known = [(worth.cost(model, self._costs), certificate, worth)]
        if parent is not None:
            known.append((parent.worth.cost(model, self._costs), parent.certificate, parent.worth))
        cost, certificate, worth = max(known, key=lambda each: each[0])
        return Case(ranges, certificate, worth, cost), nodes

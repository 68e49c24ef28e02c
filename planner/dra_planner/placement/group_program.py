"""The linear program that mixes groups, so that each work belongs to a group at the lowest price of
the nodes. Its relaxation can use a part of a group. Its dual values are the price of a node in
each pool, and the value of placing each work. Together, they show how much any other group would
save.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner.placement.assignment import Assignment
from dra_planner.placement.workload_groups import WorkloadGroup
from dra_planner.sizing.bound.solver import new_program

# price of a node beyond a limit, in multiples of the most expensive node's price
_EXCESS: Final = 100.0
# maximum nodes of the integer search: a node limit, unlike a time limit, makes all runs identical
_BRANCHES: Final = 50
_GAP: Final = 0.001
_HEURISTICS: Final = 0.02  # share of the integer search that heuristics may take
_MOST_CHOSEN: Final = 400  # number of groups among which the integer program chooses
# threshold between 0 and 1, because the solver's values of integers are approximate
_HALF: Final = 0.5


class GroupPrices(Struct, frozen=True):
    """The dual values: of one node of each pool, of one more group of each pool, and of each work,
    as shares of the most expensive node.
    """

    nodes: Sequence[float]
    groups: Sequence[float]
    works: Sequence[float]

    def value(self, group: WorkloadGroup) -> float:
        """Return the maximum cost of a group's nodes that doesn't raise the total."""
        return sum(self.works[work] for work in group.works) - self.groups[group.pool]


class GroupProgram:
    """The program over the known groups, for the pools of an assignment."""

    def __init__(self, assignment: Assignment, solver: Any) -> None:
        pools, works = assignment.pools, len(assignment.sizes.needs.works)
        # nodes of the known groups, in the order of columns
        self.nodes: dict[WorkloadGroup, int] = {}
        self._solver, self._infinity = solver, solver.kHighsInf
        self._works = range(works)
        self._pools = range(works, works + len(pools.names))
        self._highs = highs = new_program(solver)
        for _ in self._works:
            highs.addRow(1.0, self._infinity, 0, [], [])
        for _ in self._pools:
            highs.addRow(-self._infinity, 0.0, 0, [], [])
        self._single = {
            pool: self._pools.stop + at
            for at, pool in enumerate(
                pool
                for pool in range(len(pools.names))
                if pool in pools.whole or not assignment.may_split
            )
        }
        for _ in self._single:
            highs.addRow(-self._infinity, 1.0, 0, [], [])
        first_limit = self._pools.stop + len(self._single)
        for limit in pools.limits:
            highs.addRow(-self._infinity, float(limit.most), 0, [], [])
        most = float(max(cost[0] for cost in pools.costs) or 1)
        for pool, name in enumerate(pools.names):
            least, upper = pools.least[pool], max(pools.least[pool], pools.most[pool])
            uses = {self._pools[pool]: -1.0}
            for at, limit in enumerate(pools.limits, first_limit):
                uses[at] = float(limit.takes.get(name, 0))
            price = pools.costs[pool][0] / most
            self._add(price, float(least), float(upper), uses)
            self._add(price + _EXCESS, 0.0, self._infinity, {self._pools[pool]: -1.0})
        for at in range(first_limit, first_limit + len(pools.limits)):
            self._add(_EXCESS, 0.0, self._infinity, {at: -1.0})
        self._first = 2 * len(pools.names) + len(pools.limits)

    def add(self, group: WorkloadGroup, nodes: int) -> bool:
        """Add a group that needs this number of nodes, and return whether it's new."""
        if group in self.nodes or not group.works:
            return False
        uses = dict.fromkeys((self._works[work] for work in sorted(group.works)), 1.0)
        uses[self._pools[group.pool]] = float(nodes)
        if group.pool in self._single:
            uses[self._single[group.pool]] = 1.0
        self._add(0.0, 0.0, self._infinity, uses)
        self.nodes[group] = nodes
        return True

    def _add(self, cost: float, least: float, most: float, uses: dict[int, float]) -> None:
        self._highs.addCol(cost, least, most, len(uses), list(uses), list(uses.values()))

    def prices(self) -> GroupPrices:
        """Return the dual values of the best mix of groups."""
        self._highs.run()
        duals = self._highs.getSolution().row_dual
        return GroupPrices(
            nodes=[max(0.0, -duals[row]) for row in self._pools],
            groups=[
                -duals[self._single[pool]] if pool in self._single else 0.0
                for pool in range(len(self._pools))
            ],
            works=[duals[row] for row in self._works],
        )

    def best_groups(self, prices: GroupPrices) -> list[WorkloadGroup] | None:
        """Return the cheapest groups that contain each work once, or None if the solver finds none.

        The solver chooses among the groups whose cost exceeds their value the least at these
        prices.
        """
        lost = [
            nodes * prices.nodes[group.pool] - prices.value(group)
            for group, nodes in self.nodes.items()
        ]
        near = sorted(range(len(lost)), key=lambda at: (lost[at], at))[:_MOST_CHOSEN]
        program = new_program(
            self._solver,
            mip_max_nodes=_BRANCHES,
            mip_rel_gap=_GAP,
            mip_heuristic_effort=_HEURISTICS,
        )
        program.passModel(self._highs.getLp())
        kept = set(near)
        for at in range(len(self.nodes)):
            if at in kept:
                program.changeColIntegrality(self._first + at, self._solver.HighsVarType.kInteger)
            else:
                program.changeColBounds(self._first + at, 0.0, 0.0)
        program.run()
        solution = program.getSolution()
        if not solution.value_valid:
            return None
        used = solution.col_value[self._first :]
        placed, chosen = set[int](), list[WorkloadGroup]()
        for group, share in zip(self.nodes, used, strict=True):
            rest = group.without_works(placed)
            if share > _HALF and rest.works:
                chosen.append(rest)
                placed |= rest.works
        return chosen if len(placed) == len(self._works) else None

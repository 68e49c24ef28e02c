"""Assign each work to a single pool with a small integer program.

The program assumes that rows of nodes can be used completely, so its cost is a low estimate. The
search over groups starts from this assignment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_planner.placement.assignment import Pools
from dra_planner.sizing import LevelNeeds
from dra_planner.sizing.bound.solver import new_program

# maximum nodes of the integer search: a node limit, unlike a time limit, makes all runs identical
_NODES: Final = 20
_GAP: Final = 0.002
_MOST_PAIRS: Final = 3_000  # maximum combinations of works and pools
_LITTLE: Final = 1e-6


def assign_single_pools(needs: LevelNeeds, pools: Pools, solver: Any) -> dict[int, int] | None:
    """Return the pool of each work, by positions, or None if the program isn't solved."""
    if sum(len(work.needs) for work in needs.works) > _MOST_PAIRS:
        return None
    program = new_program(solver, mip_max_nodes=_NODES, mip_rel_gap=_GAP)
    most = max(cost[0] for cost in pools.costs) or 1
    for pool, cost in enumerate(pools.costs):
        least, upper = float(pools.least[pool]), float(max(pools.least[pool], pools.most[pool]))
        program.addCol(cost[0] / most, least, upper, 0, [], [])
    places = [(at, pool) for at, work in enumerate(needs.works) for pool in work.needs]
    column = {place: len(pools.costs) + number for number, place in enumerate(places)}
    for place in places:
        program.addCol(0.0, 0.0, 1.0, 0, [], [])
        program.changeColIntegrality(column[place], solver.HighsVarType.kInteger)
    for at, work in enumerate(needs.works):
        inside = [column[at, pool] for pool in work.needs]
        program.addRow(1.0, 1.0, len(inside), inside, [1.0] * len(inside))
    for pool in range(len(needs.capacities)):
        for shares in _node_shares(needs, pool):
            used = {column[at, pool]: share for at, share in shares.items() if share}
            if used:
                program.addRow(
                    -solver.kHighsInf, 0.0, len(used) + 1, [*used, pool], [*used.values(), -1.0]
                )
    program.run()
    solution = program.getSolution()
    return _chosen(places, column, list(solution.col_value)) if solution.value_valid else None


def _node_shares(needs: LevelNeeds, pool: int) -> Iterator[dict[int, float]]:
    """Yield, for every resource, the number of the pool's nodes that each work needs if it runs on
    this pool.
    """
    works = {at: work for at, work in enumerate(needs.works) if pool in work.needs}
    for row, capacity in enumerate(needs.capacities[pool]):
        yield {at: work.count * work.needs[pool][row] / capacity for at, work in works.items()}
        # Two pods that each need more than half of a node can't share it, so each counts as a whole
        # node. Otherwise, the program would assume that nodes can be used completely.
        yield {
            at: float(work.count)
            for at, work in works.items()
            if 2 * work.needs[pool][row] > capacity
        }


def _chosen(
    places: list[tuple[int, int]], column: dict[tuple[int, int], int], values: list[float]
) -> dict[int, int]:
    """Return the pool with the largest value for each work.

    The solver can stop at fractional values.
    """
    chosen: dict[int, int] = {}
    for at, pool in places:
        known = chosen.get(at)
        if known is None or values[column[at, pool]] > values[column[at, known]] + _LITTLE:
            chosen[at] = pool
    return chosen

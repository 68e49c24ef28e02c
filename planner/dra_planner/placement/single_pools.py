"""An assignment of each work to a single pool: a small integer program.

It assumes that rows of nodes can be used completely, so its cost is a lower estimate, and the
search over groups starts from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_planner.placement.assignment import Pools
from dra_planner.sizing import LevelNeeds
from dra_planner.sizing.bound.solver import new_program

_NODES: Final = 20  # nodes of the integer search; a limit in nodes makes every run identical
_GAP: Final = 0.002
_MOST_PAIRS: Final = 3_000  # combinations of works and pools
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
    """Yield, for every resource, the nodes of the pool that each work needs if it runs there."""
    works = {at: work for at, work in enumerate(needs.works) if pool in work.needs}
    for row, capacity in enumerate(needs.capacities[pool]):
        yield {at: work.count * work.needs[pool][row] / capacity for at, work in works.items()}
        # Two pods that need more than half of a node each can't share it, so each counts as a whole
        # node. Without this, the program would believe in nodes that are completely used.
        yield {
            at: float(work.count)
            for at, work in works.items()
            if 2 * work.needs[pool][row] > capacity
        }


def _chosen(
    places: list[tuple[int, int]], column: dict[tuple[int, int], int], values: list[float]
) -> dict[int, int]:
    """Return the pool with the largest value for each work. The solver may stop at fractions."""
    chosen: dict[int, int] = {}
    for at, pool in places:
        known = chosen.get(at)
        if known is None or values[column[at, pool]] > values[column[at, known]] + _LITTLE:
            chosen[at] = pool
    return chosen

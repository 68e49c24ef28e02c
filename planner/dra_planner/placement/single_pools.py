"""An assignment of each work to a single pool: a small integer program.

It assumes that rows of nodes can be used completely, so its cost is a lower estimate, and the
search over groups starts from it.
"""

from __future__ import annotations

from typing import Any, Final

from dra_planner.placement.assignment import Pools
from dra_planner.sizing import LevelNeeds

_NODES: Final = 20  # of the search for integers: a limit in nodes makes every run the same
_GAP: Final = 0.002
_MOST_PAIRS: Final = 3_000  # of works and pools
_LITTLE: Final = 1e-6


def assign_single_pools(needs: LevelNeeds, pools: Pools, solver: Any) -> dict[int, int] | None:
    """Return the pool of each work, by positions, or None if the program isn't solved."""
    if sum(len(work.needs) for work in needs.works) > _MOST_PAIRS:
        return None
    highs, infinity = solver.Highs(), solver.kHighsInf
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("random_seed", 0),
        ("mip_max_nodes", _NODES),
        ("mip_rel_gap", _GAP),
    ):
        highs.setOptionValue(name, value)
    most = max(cost[0] for cost in pools.costs) or 1
    for pool, cost in enumerate(pools.costs):
        least, upper = float(pools.least[pool]), float(max(pools.least[pool], pools.most[pool]))
        highs.addCol(cost[0] / most, least, upper, 0, [], [])
    places = [(at, pool) for at, work in enumerate(needs.works) for pool in work.needs]
    column = {place: len(pools.costs) + number for number, place in enumerate(places)}
    for place in places:
        highs.addCol(0.0, 0.0, 1.0, 0, [], [])
        highs.changeColIntegrality(column[place], solver.HighsVarType.kInteger)
    for at, work in enumerate(needs.works):
        inside = [column[at, pool] for pool in work.needs]
        highs.addRow(1.0, 1.0, len(inside), inside, [1.0] * len(inside))
    for pool, capacities in enumerate(needs.capacities):
        works = [(at, needs.works[at]) for at, where in places if where == pool]
        for row, capacity in enumerate(capacities):
            parts = {
                column[at, pool]: work.count * work.needs[pool][row] / capacity
                for at, work in works
            }
            halves = {
                column[at, pool]: float(work.count)
                for at, work in works
                if 2 * work.needs[pool][row] > capacity
            }
            for each in (parts, halves):
                used = {place: share for place, share in each.items() if share}
                if used:
                    highs.addRow(
                        -infinity, 0.0, len(used) + 1, [*used, pool], [*used.values(), -1.0]
                    )
    highs.run()
    solution = highs.getSolution()
    if not solution.value_valid:
        return None
    values, chosen = list(solution.col_value), dict[int, int]()
    for at, pool in places:
        known = chosen.get(at)
        if known is None or values[column[at, pool]] > values[column[at, known]] + _LITTLE:
            chosen[at] = pool
    return chosen

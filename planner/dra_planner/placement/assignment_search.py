"""Search for the best assignment: moves from several starts, and then column generation or random
moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_planner.placement.assignment import Assignment, Pools
from dra_planner.placement.column_search import search_columns
from dra_planner.placement.workload_groups import GroupSizes, WorkloadGroup
from dra_planner.sizing.bound.solver import load_solver


def find_assignment(
    pools: Pools,
    sizes: GroupSizes,
    starts: Sequence[list[WorkloadGroup] | None],
    steps: int,
    *,
    may_split: bool = True,
) -> Assignment:
    """Return the best assignment found.

    The first half of the steps makes moves from each start, and the second half continues from the
    best result. A start that is None leaves its steps to the next start.
    """
    before, found = sizes.steps, list[Assignment]()
    for at, start in enumerate(starts, 1):
        if start is not None:
            share = before + steps // 2 * at // len(starts)
            found.append(Assignment(pools, sizes, start, may_split=may_split, steps=share))
            found[-1].improve()
    best = min(found, key=lambda each: each.cost)
    best.steps = before + steps
    return search_further(best)


def search_further(start: Assignment) -> Assignment:
    """Return the best assignment found, starting from an assignment, until its steps are used up.

    Uses column generation, or random moves without a solver.
    """
    solver = load_solver()
    if solver is not None:
        return search_columns(start, solver)
    start.improve_further()
    return start

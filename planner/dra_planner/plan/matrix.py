"""Plans of the same workloads on one fleet with every combination of some changed values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.errors import PlannerError
from dra_planner.fleet.changes import FleetEdit, change_fleet
from dra_planner.model import Verdict, worst
from dra_planner.plan.model import Plan, PlanRequest
from dra_planner.plan.planning import make_plan

MOST_PLANS: Final = 100


class Combination(Struct, frozen=True, kw_only=True):
    """One combination: the values of the axes in order, and the plan, or the reason why the fleet
    is invalid.
    """

    values: tuple[str, ...]
    plan: Plan | None = None
    error: PlannerError | None = None


class Matrix(Struct, frozen=True, kw_only=True):
    """Every combination of the axes' values, the last axis changing fastest. `axes` are the paths
    that change.
    """

    axes: tuple[str, ...]
    combinations: tuple[Combination, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict. An invalid fleet doesn't fit."""
        return worst(
            each.plan.verdict if each.plan is not None else "does-not-fit"
            for each in self.combinations
        )


def plan_matrix(request: PlanRequest, axes: Sequence[Sequence[FleetEdit]]) -> Matrix:
    """Return the plans of every combination of these changes to the request's fleet, where each
    axis contains all values of one path.

    Raises PlannerError if no combination is a valid fleet, if two axes change the same key, or if
    there are more than `MOST_PLANS` combinations.
    """
    fleet = request.fleet
    assert fleet is not None  # a snapshot doesn't have any fleet values to change
    paths = tuple(axis[0].path for axis in axes)
    repeated = sorted(path for path in set(paths) if paths.count(path) > 1)
    if repeated:
        raise PlannerError(
            f"{repeated[0]} is set twice",
            fix=f"list all values of {repeated[0]} together: {repeated[0]}=A,B",
        )
    count = 1
    for axis in axes:
        count *= len(axis)
    if count > MOST_PLANS:
        raise PlannerError(
            f"the matrix has {count} combinations, but the limit is {MOST_PLANS}",
            fix="set fewer values",
        )
    found: list[Combination] = []
    for changes in product(*axes):
        values = tuple(change.value for change in changes)
        try:
            plan = make_plan(replace(request, fleet=change_fleet(fleet, changes)))
        except PlannerError as error:
            found.append(Combination(values=values, error=error))
        else:
            found.append(Combination(values=values, plan=plan))
    first = found[0].error
    if first is not None and all(each.error is not None for each in found):
        raise first
    return Matrix(axes=paths, combinations=tuple(found))

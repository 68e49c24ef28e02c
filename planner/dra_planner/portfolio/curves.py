"""Capacity curves: how many additional pods of a workload fit a cluster, and which of these pods
need another node.

A point is a plan of the stack with a number of additional pods. Points between two points with
equal nodes aren't planned, because a packing for more pods also works for fewer pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import reduce
from math import gcd

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.manifests import Manifests
from dra_planner.model import DemandLevel, Figures, PodSet, Verdict, Workload
from dra_planner.plan import Plan

Planner = Callable[[Manifests, int], Plan]
"""Plans a stack's manifests with this number of simulation steps."""


class Point(Struct, frozen=True, kw_only=True):
    """The stack with a number of additional units: the packing's nodes by pool, the bound for all
    pools together, and the cost.
    """

    units: int
    nodes: tuple[tuple[str, int], ...]
    nodes_bound: int
    hourly_usd: Decimal | None
    verdict: Verdict  # verdict of the packing, before any simulation
    is_placed: bool

    @property
    def total(self) -> int:
        return sum(count for _, count in self.nodes)


class Curve(Struct, frozen=True, kw_only=True):
    """One workload of one stack.

    A unit is `pods_per_unit` pods: one pod, or one pod of each role if the workload has several
    roles. `steps` start with 0 additional units, followed by each number of units at which the
    nodes change. `placed_up_to` is the highest number that is packed without pending pods, or None
    if some pods are already pending. `simulated_up_to` is the highest number that also fits in the
    simulation, or None if the simulation didn't run or no number fits. `refused_from` is a number
    that provably doesn't fit. `most` is the highest tried number.
    """

    workload: str
    pods: int
    pods_per_unit: int
    steps: tuple[Point, ...]
    placed_up_to: int | None
    simulated_up_to: int | None
    refused_from: int | None
    most: int


def capacity_curve(
    manifests: Manifests,
    workload: Workload,
    planner: Planner,
    *,
    level: DemandLevel,
    most: int,
    steps: int,
) -> Curve | None:
    """Return the curve of one of the manifests' workloads, or None if it has one pod per node or an
    unlimited number.
    """
    unit = _unit(workload, level)
    if not unit:
        return None
    known: dict[int, Point] = {}

    def at(units: int) -> Point:
        if units not in known:
            known[units] = _point(units, planner(_with_more(manifests, workload, unit, units), 0))
        return known[units]

    def fits_simulated(units: int) -> bool:
        return planner(_with_more(manifests, workload, unit, units), steps).running == "fits"

    placed = _last(lambda units: at(units).is_placed, most)
    refused = None
    if placed != most:
        first = -1 if placed is None else placed
        refused = _first(lambda units: at(units).verdict == "does-not-fit", first + 1, most)
    if placed is not None:
        _refine(at, 0, placed)
    return Curve(
        workload=str(workload.ref),
        pods=sum(pods.figures.at(level) or 0 for pods in workload.pod_sets),
        pods_per_unit=sum(unit.values()),
        steps=tuple(_steps(known, placed)),
        placed_up_to=placed,
        simulated_up_to=_last(fits_simulated, placed) if steps and placed is not None else None,
        refused_from=refused,
        most=most,
    )


def _unit(workload: Workload, level: DemandLevel) -> dict[str, int]:
    """Return the number of pods of each role in one additional unit."""
    pods = {each.name: each.figures.at(level) for each in workload.pod_sets if not each.per_node}
    figures = {name: figure for name, figure in pods.items() if figure}
    if len(figures) < len(pods) or not figures:
        return {}
    if len(figures) == 1:
        return dict.fromkeys(figures, 1)
    common = reduce(gcd, figures.values())
    return {name: figure // common for name, figure in figures.items()}


def _with_more(
    manifests: Manifests, workload: Workload, unit: dict[str, int], units: int
) -> Manifests:
    if not units:
        return manifests
    more: list[Workload] = []
    for each in manifests.workloads:
        if each is not workload:
            more.append(each)
        elif each.kind == "Pod":
            names = [
                each.meta.name,
                *(f"{each.meta.name}-more-{copy}" for copy in range(1, units + 1)),
            ]
            more += [replace(each, meta=replace(each.meta, name=name)) for name in names]
        else:
            more.append(
                replace(each, pod_sets=tuple(_grown(pods, unit, units) for pods in each.pod_sets))
            )
    return replace(manifests, workloads=tuple(more))


def _grown(pods: PodSet, unit: dict[str, int], units: int) -> PodSet:
    added = units * unit.get(pods.name, 0)
    return replace(pods, figures=pods.figures + Figures.fixed(added)) if added else pods


def _point(units: int, plan: Plan) -> Point:
    sizing = plan.judgement.sizing
    return Point(
        units=units,
        nodes=tuple((pool.name, pool.packing) for pool in plan.pools),
        nodes_bound=sizing.nodes_bound,
        hourly_usd=sizing.hourly_plan,
        verdict=plan.running,
        is_placed=not any(each.pending for each in sizing.workloads),
    )


def _last(holds: Callable[[int], bool], most: int) -> int | None:
    """Return a number that works although the next number doesn't, or `most`, or None if 0 doesn't
    work.
    """
    if not holds(0):
        return None
    if holds(most):
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _first(holds: Callable[[int], bool], low: int, most: int) -> int | None:
    """Return a number (at least `low`) that works although the previous number doesn't, or None if
    `most` doesn't work.
    """
    if not holds(most):
        return None
    high = most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


def _refine(at: Callable[[int], Point], low: int, high: int) -> None:
    """Plan between two numbers of units until neighboring numbers have the same nodes or are
    adjacent.
    """
    waiting = [(low, high)]
    while waiting:
        low, high = waiting.pop()
        if high - low > 1 and at(low).nodes != at(high).nodes:
            middle = (low + high) // 2
            at(middle)
            waiting += [(low, middle), (middle, high)]


def _steps(known: dict[int, Point], placed: int | None) -> Iterator[Point]:
    """Yield the points at which the nodes change.

    A cheaper packing for more units also works for fewer units.
    """
    if placed is None:
        return
    best: list[Point] = []
    for units in sorted((units for units in known if units <= placed), reverse=True):
        point = known[units]
        if best and _cost(best[-1]) < _cost(point):
            point = replace(best[-1], units=units, nodes_bound=point.nodes_bound)
        best.append(point)
    last: Point | None = None
    for point in reversed(best):
        if last is None or point.nodes != last.nodes:
            yield point
        last = point


def _cost(point: Point) -> tuple[Decimal, int]:
    return (point.hourly_usd or Decimal(0), point.total)

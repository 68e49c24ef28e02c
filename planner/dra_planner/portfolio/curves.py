"""Capacity curves: how many more pods of a workload a cluster takes, and at which of them another
node is needed.

A point is a plan of the stack with so many more pods. Between two points with the same nodes
nothing is asked: a packing for more pods is one for fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from math import gcd

from dra_planner.manifests import Manifests
from dra_planner.model import DemandLevel, Figures, PodSet, Verdict, Workload
from dra_planner.plan import Plan

Planner = Callable[[Manifests, int], Plan]
"""Plans manifests of a stack, with so many steps of simulation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The stack with so many more units: nodes by pool of the packing, the proved least in all, and
    cost.
    """

    units: int
    nodes: tuple[tuple[str, int], ...]
    nodes_bound: int
    hourly_usd: Decimal | None
    verdict: Verdict  # of the packing, before any simulation
    is_placed: bool

    @property
    def total(self) -> int:
        return sum(count for _, count in self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One workload of one stack.

    A unit is `pods_per_unit` pods: one, or one of each role for a workload that has several.
    `steps` begin with none more and go on with each number of units at which the nodes change.
    `placed_up_to`: as many are packed, and with one more some pod is pending; None where some is
    pending already. `simulated_up_to`: as many fit in the simulation too, None where it was not
    asked or none fits. `refused_from`: so many do not fit, proved. `most`: no more were tried.
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
    """Return the curve of one of the manifests' workloads; None where its pods are one on each
    node, or unbounded.
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
        return planner(_with_more(manifests, workload, unit, units), steps).verdict == "fits"

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
    """Return how many pods of each role one more unit has."""
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
        verdict=plan.verdict,
        is_placed=not any(each.pending for each in sizing.workloads),
    )


def _last(holds: Callable[[int], bool], most: int) -> int | None:
    """Return a number that holds with a next one that does not, or `most`; None where 0 does not
    hold.
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
    """Return a number from `low` on that holds and whose predecessor does not; None where `most`
    does not hold.
    """
    if not holds(most):
        return None
    high = most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


def _refine(at: Callable[[int], Point], low: int, high: int) -> None:
    """Ask between two numbers until neighbours have the same nodes, or are next to each other."""
    waiting = [(low, high)]
    while waiting:
        low, high = waiting.pop()
        if high - low > 1 and at(low).nodes != at(high).nodes:
            middle = (low + high) // 2
            at(middle)
            waiting += [(low, middle), (middle, high)]


def _steps(known: dict[int, Point], placed: int | None) -> Iterator[Point]:
    """Yield the points at which the nodes change; a packing for more that is cheaper is one for
    fewer, too.
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

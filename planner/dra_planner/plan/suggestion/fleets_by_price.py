"""Search small fleets by price for the first on which the scheduler places all pods.

All pods must be placed in every simulated arrival order. Fleets that fit all pods are tried from
the cheapest on, with any machine types. Each fleet is simulated twice: unchanged, and with pods
that prefer its cheaper pools. So no fleet that is cheaper than the result places all pods in either
way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from heapq import heappop, heappush
from math import prod
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation import NodeState, Placement
from dra_planner.model import Shape
from dra_planner.offers import Offer
from dra_planner.plan.judgement.judgement import Judgement, PoolAnswer
from dra_planner.plan.judgement.simulated_fleet import (
    RANDOM_ORDERS,
    SystemNodes,
    system_nodes,
)
from dra_planner.plan.model import Plan
from dra_planner.simulation import (
    ArrivalOrder,
    Simulator,
    count_checks,
    predicted_nodes,
    prefer_others,
    standard_orders,
)

MOST_DEMANDS: Final = 2_000
"""Maximum number of distinct parts of the demand. Larger demands aren't searched."""
# number of combinations that fill one node, for all machine types together
_MOST_FILLS: Final = 20_000
_MOST_FLEETS: Final = 20_000  # number of fleets to check, including those that don't fit all pods

Pods = tuple[int, ...]  # for each shape


class PricedFleet(Struct, frozen=True, kw_only=True):
    """The nodes of each pool, and the number of taints that make pods prefer other pools."""

    nodes: Mapping[str, int]
    last: Mapping[str, int]


def cheapest_fleet_that_runs(plan: Plan, below: Decimal | None, steps: int) -> PricedFleet | None:
    """Return the cheapest fleet with a plan's machine types on which the simulation places all
    pods.

    None if no fleet costs less than `below`, if the demand is too large, or if the steps or fleets
    run out. Every price must be known.
    """
    judgement = plan.judgement
    shapes = [
        each
        for each in judgement.demand.shapes
        if each.id not in judgement.on_system and not each.per_node
    ]
    wanted = tuple(shape.figures.at(plan.level) or 0 for shape in shapes)
    if not shapes or prod(pods + 1 for pods in wanted) > MOST_DEMANDS:
        return None
    machines = _machines(judgement, shapes, wanted, below)
    simulated = _Simulated(plan)
    for nodes in _by_price(machines, wanted, below):
        for last in _ways(nodes):
            if simulated.spent > steps:
                return None
            if simulated.places_everything(nodes, last):
                return PricedFleet(
                    nodes={offer.name: count for offer, count in nodes.items()}, last=last
                )
    return None


def order_by_price(offers: Sequence[Offer]) -> dict[str, int]:
    """Return the number of taints of each pool with which pods prefer cheaper pools. The cheapest
    has none.
    """
    ordered = sorted(offers, key=lambda offer: (offer.hourly_usd or Decimal(0), offer.name))
    return {offer.name: at for at, offer in enumerate(ordered) if at}


def _ways(nodes: Mapping[Offer, int]) -> Iterator[dict[str, int]]:
    yield {}
    if len(nodes) > 1:
        yield order_by_price(list(nodes))


# -- contents of nodes


class _Machine(Struct, frozen=True):
    """A machine type, and all maximal combinations of pods that fit one node."""

    offer: Offer
    price: Decimal
    fills: tuple[Pods, ...]


def _machines(
    judgement: Judgement, shapes: Sequence[Shape], wanted: Pods, below: Decimal | None
) -> tuple[_Machine, ...]:
    """Return the machine types that hold any pod and cost less than the maximum, by price."""
    found, left = list[_Machine](), _MOST_FILLS
    answers = [judgement.answers(shape) for shape in shapes]
    for at, offer in enumerate(judgement.offers):
        price = offer.hourly_usd or Decimal(0)
        if below is not None and price >= below:
            continue
        fills = set(_fills([each[at] for each in answers], wanted))
        left -= len(fills)
        if left < 0:
            return ()
        if largest := _largest(fills):
            found.append(_Machine(offer, price, largest))
    return tuple(sorted(found, key=lambda each: (each.price, each.offer.name)))


def _fills(answers: Sequence[PoolAnswer], wanted: Pods) -> Iterator[Pods]:
    """Yield the combinations of shapes that fit one node, each maximal in its last shape."""

    def fill(at: int, node: NodeState, before: Pods) -> Iterator[Pods]:
        if at == len(answers):
            yield before
            return
        shape, doubtful_place = answers[at].shape, answers[at].doubtful_place
        for pods in range(wanted[at] + 1):
            yield from fill(at + 1, node, (*before, pods))
            answer = doubtful_place(shape, node)
            if not isinstance(answer, Placement):
                return
            node = answer.node

    return (pods for pods in fill(0, answers[0].node, ()) if any(pods))


def _largest(fills: set[Pods]) -> tuple[Pods, ...]:
    """Return the combinations that no other combination contains, sorted."""
    kept = list[Pods]()
    for pods in sorted(fills, key=lambda pods: (-sum(pods), pods)):
        if not any(
            all(more >= less for more, less in zip(other, pods, strict=True)) for other in kept
        ):
            kept.append(pods)
    return tuple(kept)


# -- fleets by price


def _by_price(
    machines: Sequence[_Machine], wanted: Pods, below: Decimal | None
) -> Iterator[Counter[Offer]]:
    """Yield the fleets that hold all pods, by price, including fleets with unneeded nodes.

    This is a best-first search: the remaining pods cost at least as much as the cheapest nodes for
    them.
    """
    least = _least_price(machines)
    nothing = tuple(0 for _ in wanted)
    start = least(wanted)
    if start is None:
        return
    waiting: list[tuple[Decimal, int, Decimal, int, frozenset[Pods], tuple[int, ...]]] = []
    heappush(waiting, (start, 0, Decimal(0), 0, frozenset((wanted,)), ()))
    looked_at = 1
    while waiting and looked_at <= _MOST_FLEETS:
        _, _, price, first, rests, chosen = heappop(waiting)
        if nothing in rests:
            yield Counter(machines[at].offer for at in chosen)
        for at in range(first, len(machines)):
            dearer = price + machines[at].price
            if below is not None and dearer >= below:
                break
            left = _smallest({_rest(rest, fill) for rest in rests for fill in machines[at].fills})
            lowest = min(dearer + (least(rest) or Decimal(0)) for rest in left)
            if below is None or lowest < below:
                looked_at += 1
                heappush(waiting, (lowest, looked_at, dearer, at, left, (*chosen, at)))


def _least_price(machines: Sequence[_Machine]) -> Callable[[Pods], Decimal | None]:
    """Return a function that computes the price of the cheapest nodes for these pods.

    The function returns None if no nodes hold the pods.
    """
    prices: dict[Pods, Decimal] = {}
    for each in machines:
        for fill in each.fills:
            prices[fill] = min(each.price, prices.get(fill, each.price))

    @cache
    def least(pods: Pods) -> Decimal | None:
        first = next((at for at, number in enumerate(pods) if number), None)
        if first is None:
            return Decimal(0)
        rests = ((price, least(_rest(pods, fill))) for fill, price in prices.items() if fill[first])
        return min((price + rest for price, rest in rests if rest is not None), default=None)

    return least


def _rest(pods: Pods, fill: Pods) -> Pods:
    return tuple(max(0, number - held) for number, held in zip(pods, fill, strict=True))


def _smallest(rests: set[Pods]) -> frozenset[Pods]:
    """Return the fleets that don't contain another of the fleets."""
    kept = list[Pods]()
    for rest in sorted(rests, key=lambda rest: (sum(rest), rest)):
        if not any(
            all(less <= more for less, more in zip(other, rest, strict=True)) for other in kept
        ):
            kept.append(rest)
    return frozenset(kept)


# -- simulating


class _Simulated:
    """Simulates fleets, starting with the arrival order that failed last. `spent` counts steps."""

    def __init__(self, plan: Plan) -> None:
        self.spent = 0
        self._plan = plan
        self._system: SystemNodes | None = system_nodes(plan.fleet)
        self._orders: list[ArrivalOrder] = [
            *standard_orders(RANDOM_ORDERS),
            *count_checks(plan.judgement.demand, plan.judgement.level),
        ]

    def places_everything(self, nodes: Mapping[Offer, int], last: Mapping[str, int]) -> bool:
        judgement = self._plan.judgement
        offers = tuple(_tainted(offer, last.get(offer.name, 0)) for offer in nodes)
        demand = judgement.demand
        beside = () if self._system is None else self._system.nodes(offers, demand)
        if self._system is None:
            demand = replace(
                demand,
                shapes=tuple(each for each in demand.shapes if each.id not in judgement.on_system),
            )
        counts = {offer.name: count for offer, count in nodes.items()}
        simulator = Simulator.of(
            demand,
            [*beside, *predicted_nodes(offers, counts)],
            judgement.classes,
            judgement.features,
            level=self._plan.level,
        )
        for at, order in enumerate(self._orders):
            outcome = simulator.run(order)
            self.spent += outcome.steps
            if not outcome.places_everything:
                self._orders.insert(0, self._orders.pop(at))
                return False
        return True


def _tainted(offer: Offer, level: int) -> Offer:
    node = offer.node
    return (
        replace(offer, node=replace(node, taints=(*node.taints, *prefer_others(level))))
        if level
        else offer
    )

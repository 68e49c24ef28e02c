"""Lower bounds that no scheduler can beat: proven prices for one pod arrival order, and for pools
on which no order leaves pods pending.

Both are linear programs over all possible contents of a node, so their optimum is at most the price
of the cheapest fleet. The allocator selects the devices. The node of a pod is either left open
(`price_in_turn`), or chosen against the fleet (`price_in_any_order`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

import highspy
from pack_instances import CLASSES, MINOR

from dra_planner.allocation import NodeState, Placement, open_offer, place, sight_of
from dra_planner.model import Demand, Shape
from dra_planner.offers import Offer
from dra_planner.releases import features_of
from dra_planner.sizing import size_pools

Content = tuple[int, ...]
"""Pods on a node, by the number of their shape."""
_KEPT = 4  # kinds of pods that come first in each order: those with the most devices in total


def price_in_turn(demand: Demand, offers: Sequence[Offer]) -> float:
    """Return the minimum cost of all fleets on which pods fit if they arrive workload by workload,
    with any choice of nodes.
    """
    shapes, rest = _split(demand, len(demand.shapes))
    columns = [(float(offer.hourly_usd or 0), content) for offer, content in _each(shapes, offers)]
    return _cheapest(shapes, columns) + rest_price(rest, offers)


def price_in_any_order(demand: Demand, offers: Sequence[Offer]) -> float:
    """Return the minimum cost of all pools on which no order leaves pods pending, with or without
    affinity to pools.

    Pods arrive kind by kind, and fill one suitable node after another. Therefore, a node has either
    no pods of a kind or as many as fit, except for one node of each kind.
    """
    shapes, rest = _split(demand, _KEPT)
    return max(_filled_in_turn(order, offers) for order in permutations(shapes)) + rest_price(
        rest, offers
    )


def rest_price(rest: Demand, offers: Sequence[Offer]) -> float:
    """Return the minimum cost of pods without claims, which taints keep off nodes with devices."""
    return (
        float(size_pools(rest, offers, CLASSES, features_of(MINOR)).hourly_bound or 0)
        if rest.shapes
        else 0.0
    )


def _split(demand: Demand, most: int) -> tuple[tuple[Shape, ...], Demand]:
    """Return the shapes whose pods use the most devices, in their order, and the demand without
    claims.
    """
    kept = sorted((each for each in demand.shapes if each.claims), key=_devices, reverse=True)[
        :most
    ]
    rest = tuple(each for each in demand.shapes if not each.claims)
    return tuple(each for each in demand.shapes if each in kept), Demand(shapes=rest)


def _devices(shape: Shape) -> int:
    requests = [each.exactly for claim in shape.claims for each in claim.spec.requests]
    return shape.figures.steady * sum(each.count for each in requests if each is not None)


def _each(shapes: Sequence[Shape], offers: Iterable[Offer]) -> Iterator[tuple[Offer, Content]]:
    for offer in offers:
        yield from (
            (offer, content)
            for content in _contents(shapes, _opened(shapes, offer))
            if any(content)
        )


def _opened(shapes: Sequence[Shape], offer: Offer) -> NodeState:
    return open_offer(offer, CLASSES, features_of(MINOR), sight_of(shapes))


def _contents(shapes: Sequence[Shape], node: NodeState) -> Iterator[Content]:
    """Yield the contents of a node if pods arrive in the order of their shapes, and as many pods of
    the last shape as possible run on the node.
    """
    if len(shapes) == 1:
        yield (sum(1 for _ in _filling(shapes[0], node)) - 1,)
        return
    for pods, state in enumerate(_filling(shapes[0], node)):
        yield from ((pods, *others) for others in _contents(shapes[1:], state))


def _filling(shape: Shape, node: NodeState) -> Iterator[NodeState]:
    """Yield the node with no pod of the shape, with one pod, and so on, until no more fit."""
    answer: object = None
    while True:
        yield node
        answer = place(shape, node)
        if not isinstance(answer, Placement):
            return
        node = answer.node


def _filled_in_turn(shapes: Sequence[Shape], offers: Sequence[Offer]) -> float:
    columns = [
        (float(offer.hourly_usd or 0), content)
        for offer in offers
        for content in _full(shapes, _opened(shapes, offer))
    ]
    partly = [(float(offer.hourly_usd or 0), content) for offer, content in _each(shapes, offers)]
    return _cheapest(shapes, columns, partly, len(shapes))


def _full(shapes: Sequence[Shape], node: NodeState) -> Iterator[Content]:
    """Yield the contents of a node that has either no pods of a shape or as many as still fit."""
    if not shapes:
        yield ()
        return
    *_, last = filling = list(_filling(shapes[0], node))
    for pods, state in {0: node, len(filling) - 1: last}.items():
        yield from ((pods, *others) for others in _full(shapes[1:], state))


def _cheapest(
    shapes: Sequence[Shape],
    columns: Sequence[tuple[float, Content]],
    partly: Sequence[tuple[float, Content]] = (),
    most: int = 0,
) -> float:
    """Return the minimum cost of nodes that fit the demand, of which at most `most` are partly
    filled.
    """
    every = (*columns, *partly)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    nodes = [solver.addVariable(lb=0, obj=price) for price, _ in every]
    for number, shape in enumerate(shapes):
        held = sum(
            content[number] * count
            for (_, content), count in zip(every, nodes, strict=True)
            if content[number]
        )
        solver.addConstr(held >= shape.figures.steady)
    if partly:
        solver.addConstr(sum(nodes[len(columns) :]) <= most)
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)

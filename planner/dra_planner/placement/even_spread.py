"""Works that share nodes in any arrival order, because each node holds an equal part of them.

Works form classes. The pods of a class spread evenly: a node accepts a pod only while no other node
has fewer. So with N pods of a class on M nodes, a node has at most N / M of them, rounded up. If a
node has enough capacity for that many pods of every class (each as large as the largest), every pod
finds a node, in any order, and whichever of the allowed nodes the scheduler chooses.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dra_planner.placement.arrivals import Vector


class SpreadWork(Struct, frozen=True):
    """A work: its position, number of pods, need, and the namespace, because spread constraints
    count only pods of one namespace.
    """

    at: int
    pods: int
    need: Vector
    namespace: str


class SpreadClass(Struct):
    """Works whose pods spread together. `on_node` is the maximum number of these pods on one
    node.
    """

    namespace: str
    works: list[int]
    pods: int
    on_node: int
    need: Vector


def fewest_nodes(
    ordered: Sequence[SpreadWork], capacity: Vector, least: int, most: int
) -> int | None:
    """Return the lowest number of nodes, from `least` to `most`, for which classes are found.

    Returns None if no classes are found for `most` nodes. `ordered` are the works in the order of
    `arranged`. The search doubles its steps first, and then bisects, because the number is usually
    close to `least`.
    """
    if most < least or find_classes(ordered, capacity, most) is None:
        return None
    low, high, step = least, most, 1
    while low < high:
        middle = min(low + step - 1, (low + high) // 2)
        if find_classes(ordered, capacity, middle) is not None:
            high = middle
        else:
            low, step = middle + 1, 2 * step
    return high


def arranged(works: Sequence[SpreadWork], capacity: Vector) -> list[SpreadWork]:
    """Return works by their share of a node, starting with the largest."""

    def share(work: SpreadWork) -> float:
        return max(need / cap for need, cap in zip(work.need, capacity, strict=True))

    return sorted(works, key=lambda work: (-share(work), -work.pods, work.at))


def find_classes(
    ordered: Sequence[SpreadWork], capacity: Vector, nodes: int
) -> list[SpreadClass] | None:
    """Return classes that fit this number of nodes, or None if none were found.

    Each work joins the class, or opens the class, that uses the smallest part of a node.
    """
    free = list(capacity)
    classes: list[SpreadClass] = []
    for work in ordered:
        new = SpreadClass(work.namespace, [], 0, 0, (0,) * len(capacity))
        best, least, chosen = None, float("inf"), 0
        for each in (*classes, new):
            if each.namespace != work.namespace:
                continue
            on_node = -(-(each.pods + work.pods) // nodes)
            taken = _taken(each, work.need, on_node, free, capacity)
            if taken is not None and (taken < least or (taken == least and each is new)):
                best, least, chosen = each, taken, on_node
        if best is None:
            return None
        need = tuple(map(max, best.need, work.need))
        free = [
            room - chosen * after + best.on_node * before
            for room, after, before in zip(free, need, best.need, strict=True)
        ]
        if best is new:
            classes.append(new)
        best.works.append(work.at)
        best.pods, best.on_node, best.need = best.pods + work.pods, chosen, need
    return classes


def _taken(
    into: SpreadClass, need: Vector, on_node: int, free: Sequence[int], capacity: Vector
) -> float | None:
    """Return the additional shares of a node, over all rows, that a class uses with a work of this
    need. Returns None if the node doesn't have enough capacity.
    """
    total = 0.0
    for row, before in enumerate(into.need):
        more = on_node * max(before, need[row]) - into.on_node * before
        if more:
            if more > free[row]:
                return None
            total += more / capacity[row]
    return total

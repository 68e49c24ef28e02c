"""Pod arrival orders that leave pods pending if any order does.

If small pods come first, they use a little of every node, and large pods that come last don't find
a node. So works are sorted by need, and a local search looks for an order that leaves even more
pods pending.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

from dra_planner.placement.arrivals import Vector

_SEED: Final = 1
_STARTS: Final = 3  # number of arrangements from which the local search starts
_MOVES: Final = 90  # steps of the local search, over all starts
# share of the moves that move whole works instead of some of their pods
_MOVED: Final = 0.4

Fails = Callable[[Sequence[int], int], bool]
"""Returns True if this order of works leaves pods pending on this number of nodes."""
# works in sequence, each with the number of pods that arrive together
_Blocks = list[tuple[int, int]]


def arrange_by_size(needs: Sequence[Vector], capacity: Vector) -> list[tuple[int, ...]]:
    """Return arrangements of works: by their largest share of a node and by each row (ascending and
    descending), and by share with each of the largest works last. `needs` are the rows of each
    work.
    """
    works, rows = range(len(needs)), range(len(capacity))
    shares = [max(a / b for a, b in zip(need, capacity, strict=True)) for need in needs]
    keys: list[list[float]] = [shares, *[[float(need[row]) for need in needs] for row in rows]]
    ways = [tuple(sorted(works, key=key.__getitem__)) for key in keys]
    by_share, *others = [each for way in ways for each in (way, way[::-1])]
    both = by_share, others[0]
    last = [(*(at for at in each if at != work), work) for work in _largest(needs) for each in both]
    return list(dict.fromkeys((by_share, *last, *others)))


def _largest(needs: Sequence[Vector]) -> list[int]:
    """Return the works for which no other work needs as much of every row.

    If works are equal, return the first.
    """

    def covers(other: int, at: int) -> bool:
        pairs = list(zip(needs[other], needs[at], strict=True))
        return all(a >= b for a, b in pairs) and (needs[other] != needs[at] or other < at)

    works = range(len(needs))
    return [at for at in works if not any(covers(other, at) for other in works if other != at)]


def find_failing_order(
    arrangements: Sequence[Sequence[int]], pods: Sequence[int], nodes: int, fails: Fails
) -> list[int] | None:
    """Return an order that leaves pods pending on these nodes, or None if none was found.

    `pods` are the pods of each work. The search starts at the arrangements that need the most
    nodes, moves works or some of their pods, and keeps orders that don't need fewer nodes.
    """
    chance = random.Random(_SEED)
    starts = [[(at, pods[at]) for at in arrangement] for arrangement in arrangements]
    ranked = sorted(
        ((_needed(start, nodes, fails), number) for number, start in enumerate(starts)),
        key=lambda each: (-each[0], each[1]),
    )[:_STARTS]
    for needed, number in ranked:
        blocks = starts[number]
        for _ in range(_MOVES // _STARTS):
            if needed > nodes:
                return _order(blocks)
            moved = _moved(blocks, chance)
            reached = _needed(moved, nodes, fails)
            if reached >= needed:
                blocks, needed = moved, reached
        if needed > nodes:
            return _order(blocks)
    return None


def _needed(blocks: _Blocks, nodes: int, fails: Fails) -> int:
    """Return the number of nodes that an order needs: `nodes` - 1 (or fewer), `nodes`, or `nodes` +
    1.
    """
    order = _order(blocks)
    if fails(order, nodes):
        return nodes + 1
    return nodes if nodes > 1 and fails(order, nodes - 1) else nodes - 1


def _moved(blocks: _Blocks, chance: random.Random) -> _Blocks:
    """Return the blocks with one block, or some of its pods, moved to another position."""
    moved = list(blocks)
    at = chance.randrange(len(moved))
    work, pods = moved[at]
    if pods < 2 or chance.random() < _MOVED:
        taken = moved.pop(at)
    else:
        taken = work, chance.randint(1, pods - 1)
        moved[at] = work, pods - taken[1]
    moved.insert(chance.randrange(len(moved) + 1), taken)
    return moved


def _order(blocks: _Blocks) -> list[int]:
    return [work for work, pods in blocks for _ in range(pods)]

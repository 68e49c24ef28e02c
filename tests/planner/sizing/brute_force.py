"""The optimum of tiny instances, found by exhaustive search. Doesn't share code with the sizing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

Vector = tuple[int, ...]


def patterns(capacity: Vector, needs: Sequence[Vector], left: Vector) -> Iterator[Vector]:
    """Yield every way to put at most `left` pods of each kind on one node; needs and capacity go
    row by row.
    """

    def extend(kind: int, room: Vector, taken: Vector) -> Iterator[Vector]:
        if kind == len(needs):
            yield taken
            return
        count = 0
        while count <= left[kind] and all(free >= 0 for free in room):
            yield from extend(kind + 1, room, (*taken, count))
            count += 1
            room = tuple(free - need for free, need in zip(room, needs[kind], strict=True))

    yield from extend(0, capacity, ())


def fewest_nodes(
    capacities: Sequence[Vector], needs: Sequence[Sequence[Vector]], pods: Vector, limit: int
) -> int | None:
    """Return the lowest total number of nodes that fit the pods, or None if it exceeds `limit`.

    `needs[pool][kind]` contains the amount of each resource that one pod uses on a node of that
    pool.
    """

    @cache
    def least(left: Vector, most: int) -> int | None:
        if not any(left):
            return 0
        if most == 0:
            return None
        best: int | None = None
        for capacity, need in zip(capacities, needs, strict=True):
            for pattern in patterns(capacity, need, left):
                if not any(pattern):
                    continue
                rest = tuple(have - put for have, put in zip(left, pattern, strict=True))
                found = least(rest, (most if best is None else best - 1) - 1)
                if found is not None:
                    best = found + 1
                if best == 1:
                    return best
        return best

    return least(pods, limit)

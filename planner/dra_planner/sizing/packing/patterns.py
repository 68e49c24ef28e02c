"""Check whether the allocator can place a set of items on one empty node, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from msgspec import Struct

from dra_planner.sizing.packing.compatibility import Compatibility
from dra_planner.sizing.packing.filling import Filling, FillStage

MOST_PERMUTED = 4
"""Maximum number of kinds of claims on one node for which every order is tried."""

History = tuple[tuple[int, int], ...]


class Patterns(Struct):
    """Caches the orders in which claims fit empty nodes. The caller checks amounts."""

    found: Compatibility
    filling: Filling
    _orders: dict[object, tuple[int, ...] | None] = {}

    def takes(self, pool: int, pattern: Mapping[int, int]) -> bool:
        """Return whether a tried order places the whole pattern on an empty node of the pool."""
        return self._order(pool, pattern) is not None

    def fill(self, pool: int, pattern: Mapping[int, int]) -> tuple[FillStage, History]:
        """Return an empty node of the pool filled with the pattern, or with as much of it as fits,
        and the order.
        """
        stage = self.found.rooms[pool].empty
        history = []
        for item in self._order(pool, pattern) or self._largest_first(pool, pattern):
            count, stage = self.filling.fill(self.found.items[item], stage, pattern[item])
            if count:
                history.append((item, count))
        return stage, tuple(history)

    def _order(self, pool: int, pattern: Mapping[int, int]) -> tuple[int, ...] | None:
        """Return a working order of the items, in which items with equal claims are adjacent."""
        stage = self.found.rooms[pool].empty
        groups: dict[object, list[int]] = {}
        for item in sorted(pattern):
            taken = self.filling.taken(self.found.items[item], stage.kind)
            groups.setdefault(taken.claims if taken.is_plain else f"item {item}", []).append(item)
        free = groups.pop(0, [])  # items without claims fit every node with sufficient amounts
        key = (
            stage,
            tuple((group, sum(pattern[item] for item in items)) for group, items in groups.items()),
        )
        if any(isinstance(group, str) for group in groups):
            key = (stage, tuple(sorted(pattern.items())))
        if key not in self._orders:
            self._orders[key] = self._find_order(stage, list(groups.values()), pattern)
        order = self._orders[key]
        if order is None:
            return None
        named = list(groups.values())
        return (*(item for at in order for item in named[at]), *free)

    def _find_order(
        self, stage: FillStage, groups: Sequence[Sequence[int]], pattern: Mapping[int, int]
    ) -> tuple[int, ...] | None:
        for order in _orders(len(groups)):
            now = stage
            if all(
                (filled := self.filling.fill(self.found.items[item], now, pattern[item]))[0]
                == pattern[item]
                and (now := filled[1])
                for at in order
                for item in groups[at]
            ):
                return order
        return None

    def _largest_first(self, pool: int, pattern: Mapping[int, int]) -> list[int]:
        fills = self.found.fills
        return sorted(pattern, key=lambda item: (fills[item, pool], item))


def _orders(count: int) -> Iterator[tuple[int, ...]]:
    """Yield every order of few groups. For many groups, yield rotations and reversals."""
    if count <= MOST_PERMUTED:
        yield from permutations(range(count))
        return
    for first in range(count):
        turned = (*range(first, count), *range(first))
        yield turned
        yield turned[::-1]


def totals(history: History) -> Counter[int]:
    """Return the number of each item that a history places on a node."""
    counted: Counter[int] = Counter()
    for item, count in history:
        counted[item] += count
    return counted

"""The lowest raises of maximums and limits with which everything is placed: the first ones found,
lowered by trying.

Each try is sized like any demand, so the best packing found needs every node of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import SharedLimit

MOST_TRIES = 40
"""Sizings that may lower the raises. One pool needs the logarithm of its raise, so several pools
are exact. Beyond that, the raises are enough, but perhaps not the lowest.
"""
MOST_PAIRS = 3_000
"""Maximum of items × pools for trying raises. Larger questions keep the first result."""


class Raises(Struct, frozen=True):
    """Maximums by pool, and raised limits of several pools by the limit's name."""

    nodes: Mapping[str, int]
    limits: Mapping[str, int]


class Tried(Struct, frozen=True):
    """Pending pods with some raises, and the used nodes of each pool."""

    pending: int
    used: Mapping[str, int]


Try = Callable[[Raises], Tried]


def least_raises(
    given: Raises, found: Raises, limits: tuple[SharedLimit, ...], pods: int, attempt: Try
) -> Raises:
    """Return raises of which none can be lower while the others stay, or `given` if none helps.

    `given` are the current maximums and limits. `found` are sufficient ones, or `given` if none
    were found. `pods` is the number of all pods, because no pool can use more additional nodes than
    that.
    """
    if found == given:
        free_nodes = {name: nodes + pods for name, nodes in given.nodes.items()}
        needs = {each.name: each.used(free_nodes) for each in limits}
        free = attempt(
            Raises(
                free_nodes, {name: max(most, needs[name]) for name, most in given.limits.items()}
            )
        )
        found = Raises(
            {name: max(nodes, free.used.get(name, 0)) for name, nodes in given.nodes.items()},
            {each.name: max(given.limits[each.name], each.used(free.used)) for each in limits},
        )
        if attempt(given).pending <= free.pending:
            return given
    return _lowered(given, found, attempt)


def _lowered(given: Raises, found: Raises, attempt: Try) -> Raises:
    target, left = attempt(found).pending, MOST_TRIES
    for kind in ("limits", "nodes"):
        now: Mapping[str, int] = getattr(given, kind)
        for name in sorted(now):
            low, high = now[name], getattr(found, kind)[name]
            while low < high and left:
                left -= 1
                middle = (low + high) // 2
                less = replace(found, **{kind: {**getattr(found, kind), name: middle}})
                if attempt(less).pending <= target:
                    found, high = less, middle
                else:
                    low = middle + 1
    return found

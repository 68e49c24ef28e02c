"""The cheapest raises of maximums and limits with which all pods are placed.

The cheapest sufficient raises are found first, and then lowered by trying. Each try is sized like
any demand, so the best packing found needs every node of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import SharedLimit
from dra_planner.sizing.prices import NodeCost

MOST_TRIES = 40
"""Maximum number of sizings that try lower raises.

One pool needs the logarithm of its raise, so several pools get exact results. Beyond this number,
the raises are sufficient, but perhaps not the lowest.
"""
MOST_PAIRS = 3_000
"""Maximum product of items and pools for which raises are tried. Larger problems keep the first
result.
"""


class Raises(Struct, frozen=True):
    """Maximums by pool, and raised limits of several pools by the limit's name."""

    nodes: Mapping[str, int]
    limits: Mapping[str, int]


class Tried(Struct, frozen=True):
    """Pending pods with some raises, the cost of all used nodes, the used nodes of each pool, and
    the proven minimum of each pool.
    """

    pending: int
    cost: NodeCost
    used: Mapping[str, int]
    bounds: Mapping[str, int]


Try = Callable[[Raises], Tried]


def free_raises(given: Raises, limits: tuple[SharedLimit, ...], pods: int) -> Raises:
    """Return maximums and limits that don't restrict any number of `pods`, because no pool can use
    more additional nodes than that.
    """
    nodes = {name: most + pods for name, most in given.nodes.items()}
    return Raises(
        nodes, {each.name: max(given.limits[each.name], each.used(nodes)) for each in limits}
    )


def least_raises(
    given: Raises, found: Raises, limits: tuple[SharedLimit, ...], free: Tried, attempt: Try
) -> tuple[Raises, Tried]:
    """Return raises that can't be lowered individually at the same price, and the result with them.

    Returns `given` if no raise helps. `given` are the current maximums and limits. `found` are
    sufficient raises, or `given` if none were found. `free` is the result without any maximum. The
    search starts with the cheaper of `found` and `free`.
    """
    wanted = Raises(
        {name: max(nodes, free.used.get(name, 0)) for name, nodes in given.nodes.items()},
        {each.name: max(given.limits[each.name], each.used(free.used)) for each in limits},
    )
    if found == given and (tried := attempt(given)).pending <= free.pending:
        return given, tried
    raises, tried = wanted, attempt(wanted)
    if found != given:
        other = attempt(found)
        if (other.pending, other.cost) <= (tried.pending, tried.cost):
            raises, tried = found, other
    return _lowered(given, raises, tried, attempt)


def _lowered(given: Raises, found: Raises, target: Tried, attempt: Try) -> tuple[Raises, Tried]:
    left = MOST_TRIES
    for kind in ("limits", "nodes"):
        now: Mapping[str, int] = getattr(given, kind)
        for name in sorted(now):
            low, high = now[name], getattr(found, kind)[name]
            middle = high - 1  # usually, all nodes are used, so one try shows that no node is spare
            while low < high and left:
                left -= 1
                less = replace(found, **{kind: {**getattr(found, kind), name: middle}})
                tried = attempt(less)
                if tried.pending <= target.pending and tried.cost <= target.cost:
                    found, target, high = less, tried, middle
                else:
                    low = middle + 1
                middle = (low + high) // 2
    return found, target

"""DaemonSets whose pods leave too little of every node for other pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from dra_planner.model import Reason, Shape
from dra_planner.sizing.items import Item, ShapePods
from dra_planner.sizing.packing.compatibility import Compatibility
from dra_planner.wording import listed

DAEMONS_IN_THE_WAY: Final = "daemons-in-the-way"
"""The code of the reason that pods fit a node only without a DaemonSet's pod."""


def blame_daemons(
    reasons: Sequence[Reason], found: Compatibility, item: int, daemons: Sequence[Shape]
) -> tuple[Reason, ...]:
    """Return the reasons why no pool's empty node fits an item, with the DaemonSets without which
    the node would fit it.
    """
    if not daemons:
        return tuple(reasons)
    pools = {room.name: pool for pool, room in enumerate(found.rooms)}
    return tuple(
        _blame(reason, _in_the_way(found, item, pools[reason.pool], daemons))
        if reason.pool in pools
        else reason
        for reason in reasons
    )


def _blame(reason: Reason, daemons: Sequence[Shape]) -> Reason:
    if not daemons:
        return reason
    sets = listed(dict.fromkeys(str(m.workload) for each in daemons for m in each.members))
    if reason.claim:
        fix = (
            f"use a node affinity to keep {sets} off the pool, or remove the claims from {sets} "
            "(to only monitor devices, use adminAccess)"
        )
    else:
        fix = (
            f"use a node affinity to keep {sets} off the pool, reduce the requests of {sets}, or "
            "use larger nodes"
        )
    return replace(
        reason,
        code=DAEMONS_IN_THE_WAY,
        message=f"the pod fits only without the pods of {sets}, which run on every node: "
        f"{reason.message}",
        fix=fix,
    )


def _in_the_way(
    found: Compatibility, item: int, pool: int, daemons: Sequence[Shape]
) -> Sequence[Shape]:
    """Return the DaemonSet without which a node fits the item, all DaemonSets if the node fits the
    item only without several of them, or none if the node never fits it.
    """
    running = [
        daemon for index, daemon in enumerate(daemons) if (index, pool) not in found.daemon_stops
    ]
    nodes, wanted = found.nodes, found.items[item]
    if not running or nodes.try_to_place(wanted, pool, nodes.empty[pool]) is not None:
        return ()
    for left_out in running:
        others = [each for each in running if each is not left_out]
        if _fits_with(found, wanted, pool, others):
            return (left_out,)
    return running


def _fits_with(found: Compatibility, wanted: Item, pool: int, daemons: Sequence[Shape]) -> bool:
    nodes = found.nodes
    stage = nodes.empty[pool]
    for item in _items(daemons):
        after = nodes.filling.add(item, stage)
        stage = stage if after is None else after
    return nodes.try_to_place(wanted, pool, stage) is None


def _items(daemons: Sequence[Shape]) -> Iterator[Item]:
    for daemon in daemons:
        yield Item((ShapePods(daemon, 1),), 1)

"""The pools that each item fits, and the number of items that fit one empty node.

The allocator runs once for equal nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import Reason, Shape, SharedLimit
from dra_planner.sizing.items import Item, ShapePods
from dra_planner.sizing.packing.empty_nodes import Nodes
from dra_planner.sizing.packing.filling import FillStage, FillStop
from dra_planner.sizing.packing.first_fit import Room

_LESS: Final = ", or request less CPU and memory"
_ROOM_FOR_MORE: Final = {
    "insufficient-cpu": _LESS,
    "insufficient-memory": _LESS,
    "pod-anti-affinity": ", or remove the anti-affinity between these pods",
}
"""Ends of a fix, by the reason why a node can't hold all pods that share a claim."""


class Cut(Struct, frozen=True):
    """Pods with a shared claim that don't fit together with the others on one node of any pool.

    If `proved` is False, there might be a node that fits all of them, but none was found.
    """

    shape: Shape
    pods: int
    proved: bool
    reasons: tuple[Reason, ...]


class Compatibility(Struct, kw_only=True):
    """The items that fit an empty node of each pool. Keys are positions (item, pool).

    `fills` is the number of an item's groups that fit such a node, at most the demand. `ended`
    contains the pairs for which the node's capacity was the limit.
    """

    items: tuple[Item, ...]
    rooms: tuple[Room, ...]
    nodes: Nodes
    fills: dict[tuple[int, int], int]
    ended: set[tuple[int, int]]
    daemon_stops: dict[tuple[int, int], FillStop]  # (daemon, pool)
    cut: list[Cut] = []
    takers: tuple[tuple[int, ...], ...] = ()  # pools whose empty node fits the item
    _stops: dict[tuple[int, int], FillStop] = {}

    def pools_of(self, item: int) -> tuple[int, ...]:
        """Return the pools whose empty nodes fit the item."""
        return self.takers[item]

    def stop(self, item: int, pool: int) -> FillStop:
        """Return why an empty node of the pool rejects the item, computed on request."""
        found = self._stops.get((item, pool))
        if found is None:
            found = self._stops[item, pool] = self.nodes.stop(
                self.items[item], pool, self.rooms[pool].empty
            )
        return found

    def is_undecided(self, item: int, pool: int) -> bool:
        """Return whether it isn't known if the item fits an empty node of the pool."""
        return (
            not self.fills[item, pool]
            and self._is_doubtful(item, pool)
            and self.stop(item, pool).is_undecided
        )

    def is_error(self, item: int, pool: int) -> bool:
        """Return whether an empty node of the pool makes the scheduler give up on the item."""
        return (
            not self.fills[item, pool]
            and self._is_doubtful(item, pool)
            and self.stop(item, pool).is_error
        )

    def connected_pools(self, item: int) -> tuple[int, ...]:
        """Return the pools that the item fits, the pools that those pools' items fit, and so on."""
        reached, before = set(self.pools_of(item)), 0
        while len(reached) > before:
            before = len(reached)
            for pools in self.takers:
                if not reached.isdisjoint(pools):
                    reached.update(pools)
        return tuple(sorted(reached))

    def is_open_question(self, item: int) -> bool:
        """Return whether a pool whose empty node rejects the item might still accept it.

        Rules between pods don't matter for this question, because other pods don't add capacity to
        a node.
        """
        return any(
            self.is_undecided(item, pool)
            for pool in range(len(self.rooms))
            if not self.fills[item, pool]
        )

    def _is_doubtful(self, item: int, pool: int) -> bool:
        """Return whether a rejection can be uncertain."""
        return self.nodes.is_doubtful(self.items[item], pool, self.rooms[pool].empty)


def find_compatibility(
    items: Sequence[Item],
    daemons: Sequence[Shape],
    nodes: Nodes,
    limits: Sequence[tuple[str, int, int | None]],
    shared: Sequence[SharedLimit] = (),
) -> Compatibility:
    """Return the compatibility of items and pools.

    `limits` are the pools' name, minimum, and maximum, and `shared` are limits of several pools.
    Pods that run on every node are placed on the empty nodes first. If too many pods share a claim
    for one node of any pool, the item is reduced to the maximum that fits one. The rest is in
    `cut`.
    """
    rooms: list[Room] = []
    daemon_stops: dict[tuple[int, int], FillStop] = {}
    for pool, (name, minimum, maximum) in enumerate(limits):
        stage = nodes.empty[pool]
        for index, daemon in enumerate(daemons):
            item = Item((ShapePods(daemon, 1),), 1)
            after = nodes.filling.add(item, stage) if nodes.admits(daemon, pool) else None
            if after is None:
                daemon_stops[index, pool] = nodes.stop(item, pool, stage)
            else:
                stage = after
        among = tuple(limit for limit in shared if name in limit.takes)
        rooms.append(Room(name=name, empty=stage, minimum=minimum, maximum=maximum, limits=among))
    found = Compatibility(
        items=(), rooms=tuple(rooms), nodes=nodes, fills={}, ended=set(), daemon_stops=daemon_stops
    )
    found.items = tuple(
        _cut_to_one_node(item, found) if item.is_shared and item.pods > 1 else item
        for item in items
    )
    found.takers = tuple(_takers(found, index, item) for index, item in enumerate(found.items))
    return found


def _takers(found: Compatibility, index: int, item: Item) -> tuple[int, ...]:
    filled: dict[FillStage, tuple[int, bool]] = {}
    nodes, takers = found.nodes, []
    room_for, fills, ended = nodes.filling.room_for, found.fills, found.ended
    choosy = [part.shape for part in item.parts if not nodes.is_admitted_everywhere(part.shape)]
    for pool, room in enumerate(found.rooms):
        count, is_ended = 0, True
        if not choosy or all(nodes.admits(shape, pool) for shape in choosy):
            known = filled.get(room.empty)
            if known is None:
                known = filled[room.empty] = room_for(item, room.empty, item.count)
            count, is_ended = known
        fills[index, pool] = count
        if is_ended:
            ended.add((index, pool))
        if count:
            takers.append(pool)
    return tuple(takers)


def _cut_to_one_node(item: Item, found: Compatibility) -> Item:
    """Return as much of the item as fits one empty node, unless all or none of it fits."""
    item = _without_hopeless(item, found)
    stops = list(_stops(item, found))
    if len(stops) < len(found.rooms) or not stops or not max(stop.pods for stop in stops):
        return item
    best = max(stops, key=lambda stop: stop.pods)
    proved = len(item.parts) == 1 and not any(stop.is_undecided for stop in stops)
    left, parts = best.pods, []
    for part in item.parts:
        taken = min(left, part.pods)
        left -= taken
        if taken:
            parts.append(ShapePods(part.shape, taken))
        if part.pods > taken:
            found.cut.append(_not_beside_the_others(part, taken, best, item.pods, proved=proved))
    return replace(item, parts=tuple(parts))


def _stops(item: Item, found: Compatibility) -> Iterator[FillStop]:
    """Yield the rejection reason of each empty node that rejects the item."""
    for pool, room in enumerate(found.rooms):
        stop = found.nodes.try_to_place(item, pool, room.empty)
        if stop is not None:
            yield stop


def _without_hopeless(item: Item, found: Compatibility) -> Item:
    """Return the item without the shapes that don't fit any empty node, or unchanged if no shape
    fits.
    """
    hopeless: dict[str, FillStop] = {}
    for part in item.parts:
        stops = list(_stops(Item((ShapePods(part.shape, 1),), 1), found))
        if stops and len(stops) == len(found.rooms):
            hopeless[part.shape.id] = next((stop for stop in stops if stop.is_undecided), stops[0])
    if not hopeless or len(hopeless) == len(item.parts):
        return item
    for part in item.parts:
        stop = hopeless.get(part.shape.id)
        if stop is not None:
            found.cut.append(Cut(part.shape, part.pods, not stop.is_undecided, stop.reasons))
    return replace(item, parts=tuple(part for part in item.parts if part.shape.id not in hopeless))


def _not_beside_the_others(
    part: ShapePods, taken: int, stop: FillStop, wanted: int, *, proved: bool
) -> Cut:
    shared = next(claim for claim in part.shape.claims if claim.shared is not None)
    obstacle = f", because {stop.reasons[0].message}" if stop.reasons else ""
    more = _ROOM_FOR_MORE.get(stop.reasons[0].code, "") if stop.reasons else ""
    reason = Reason(
        code="shared-claim-node-full",
        message=f"pods that share claim {shared.shared} must run on one node, but no node can hold "
        f"more than {stop.pods} of the {wanted} pods{obstacle}",
        fix=f"use a ResourceClaimTemplate, so that each pod has its own claim{more}",
        claim=str(shared.shared),
    )
    return Cut(part.shape, part.pods - taken, proved, (reason,))

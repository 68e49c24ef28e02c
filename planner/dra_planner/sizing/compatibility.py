"""Which items go on which pools, and how many on one empty node: asked of the allocator, once each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dra_planner.model import Reason, Shape
from dra_planner.sizing.filling import Filling, Stage, Stop
from dra_planner.sizing.items import Item, Part
from dra_planner.sizing.packing import Room


@dataclass(frozen=True, slots=True)
class Cut:
    """Pods of a shared claim that find no place beside the others, whatever the pools; `proved` or just not found."""

    shape: Shape
    pods: int
    proved: bool
    reasons: tuple[Reason, ...]


@dataclass(slots=True, kw_only=True)
class Compatibility:
    """What an empty node of each pool says to each item; keys are positions (item, pool).

    `fills` are how many of an item, of those wanted, such a node takes; `stops` why it takes no more.
    """

    items: tuple[Item, ...]
    rooms: tuple[Room, ...]
    fills: dict[tuple[int, int], int]
    stops: dict[tuple[int, int], Stop]
    daemon_stops: dict[tuple[int, int], Stop]  # (daemon, pool)
    cut: list[Cut] = field(default_factory=list)

    def pools_of(self, item: int) -> tuple[int, ...]:
        """Return the pools of which an empty node takes the item."""
        return tuple(pool for pool in range(len(self.rooms)) if self.fills[item, pool])

    def connected_pools(self, item: int) -> tuple[int, ...]:
        """Return the pools that the item can go to, those of the items that can go there too, and so on."""
        reached, before = set(self.pools_of(item)), 0
        while len(reached) > before:
            before = len(reached)
            for other in range(len(self.items)):
                pools = self.pools_of(other)
                if not reached.isdisjoint(pools):
                    reached.update(pools)
        return tuple(sorted(reached))

    def is_open_question(self, item: int) -> bool:
        """Whether a pool that refuses the item on an empty node might take it after all."""
        refused = [self.stops[item, pool] for pool in range(len(self.rooms)) if not self.fills[item, pool]]
        return any(stop.is_undecided for stop in refused) or (
            not all(stop.lacks_label for stop in refused)
            and any(part.shape.pod.pod_affinity for part in self.items[item].parts)
        )


def find_compatibility(
    items: Sequence[Item],
    daemons: Sequence[Shape],
    nodes: Sequence[Stage],
    limits: Sequence[tuple[str, int, int | None]],
    filling: Filling,
) -> Compatibility:
    """Return what fits where. `nodes` are empty nodes, one per pool; `limits` their pools' name, minimum, maximum.

    Pods that run on every node are put on the empty nodes first. Pods that share a claim and are too many for one
    node of every pool are cut to the most that one takes; the rest is in `cut`.
    """
    rooms: list[Room] = []
    daemon_stops: dict[tuple[int, int], Stop] = {}
    for pool, (stage, (name, minimum, maximum)) in enumerate(zip(nodes, limits, strict=True)):
        for index, daemon in enumerate(daemons):
            after = filling.begin(daemon, stage)
            if isinstance(after, Stop):
                daemon_stops[index, pool] = after
            else:
                stage = after
        rooms.append(Room(name=name, empty=stage, minimum=minimum, maximum=maximum))
    found = Compatibility(
        items=(), rooms=tuple(rooms), fills={}, stops={}, daemon_stops=daemon_stops
    )
    kept: list[Item] = []
    for item in items:
        if item.is_shared and item.pods > 1:
            item = _cut_to_one_node(item, found, filling)
        kept.append(item)
    found.items = tuple(kept)
    for index, item in enumerate(kept):
        for pool, room in enumerate(rooms):
            count, last = filling.fill(item, room.empty, item.count)
            found.fills[index, pool] = count
            if count < item.count and isinstance(after := filling.add(item, last), Stop):
                found.stops[index, pool] = after
    return found


def _cut_to_one_node(item: Item, found: Compatibility, filling: Filling) -> Item:
    """Return as much of the item as one empty node takes, unless one takes all or none takes any."""
    item = _without_hopeless(item, found, filling)
    stops = [after for room in found.rooms if isinstance(after := filling.add(item, room.empty), Stop)]
    if len(stops) < len(found.rooms) or not stops or not max(stop.pods for stop in stops):
        return item
    best = max(stops, key=lambda stop: stop.pods)
    proved = len(item.parts) == 1 and not any(stop.is_undecided for stop in stops)
    left, parts = best.pods, []
    for part in item.parts:
        taken = min(left, part.pods)
        left -= taken
        if taken:
            parts.append(Part(part.shape, taken))
        if part.pods > taken:
            found.cut.append(_not_beside_the_others(part, taken, best, item.pods, proved=proved))
    return replace(item, parts=tuple(parts))


def _without_hopeless(item: Item, found: Compatibility, filling: Filling) -> Item:
    """Return the item without the shapes that no empty node takes at all, unless that is every one."""
    hopeless: dict[str, Stop] = {}
    for part in item.parts:
        answers = [filling.begin(part.shape, room.empty) for room in found.rooms]
        stops = [answer for answer in answers if isinstance(answer, Stop)]
        if answers and len(stops) == len(answers):
            hopeless[part.shape.id] = next((stop for stop in stops if stop.is_undecided), stops[0])
    if not hopeless or len(hopeless) == len(item.parts):
        return item
    for part in item.parts:
        stop = hopeless.get(part.shape.id)
        if stop is not None:
            found.cut.append(Cut(part.shape, part.pods, not stop.is_undecided, stop.reasons))
    return replace(item, parts=tuple(part for part in item.parts if part.shape.id not in hopeless))


def _not_beside_the_others(part: Part, taken: int, stop: Stop, wanted: int, *, proved: bool) -> Cut:
    shared = next(claim for claim in part.shape.claims if claim.shared is not None)
    why = f": {stop.reasons[0].message}" if stop.reasons else ""
    reason = Reason(
        code="shared-claim-node-full",
        message=f"pods that share claim {shared.shared} run on one node, and no node takes more than {stop.pods} of "
        f"the {wanted}{why}",
        fix="give the pods claims of their own with a ResourceClaimTemplate, or request less beside the claim",
        claim=str(shared.shared),
    )
    return Cut(part.shape, part.pods - taken, proved, (reason,))

"""The tried packings and the choice of the best one.

Each strategy is an order of items and a way to choose pools for new nodes. All use first-fit, so
all are valid plans. The cheapest one with the fewest pending pods wins, where pods with the highest
priority count first. Ties go to the earlier one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.records import equality
from dra_planner.sizing.packing.compatibility import Compatibility
from dra_planner.sizing.packing.filling import Filling
from dra_planner.sizing.packing.first_fit import Choose, Packing, Room, extend, pack, room_of
from dra_planner.sizing.packing.vector_fill import WHOLE, Weights, refill
from dra_planner.sizing.prices import NodeCost, total_cost

_CHEAPEST = 2  # number of cheap pools by each measure


@equality(unhashed=("shares", "weights"))
class Market(Struct, frozen=True, kw_only=True):
    """The items' shares of nodes, in parts of `WHOLE`, and the nodes' costs.

    `shares` is the largest share of any row, by (item, pool), and `weights` are the shares of every
    row. `least_shares` contains each item's shares in the pool with the most capacity for the item.
    """

    found: Compatibility
    costs: tuple[NodeCost, ...]
    shares: Mapping[tuple[int, int], int]
    least_shares: tuple[int, ...]
    weights: Weights

    @classmethod
    def of(cls, found: Compatibility, costs: tuple[NodeCost, ...], weights: Weights) -> Market:
        """Return the market of compatible items and pools, with the share of every row that an item
        needs, by (item, pool).
        """
        shares = {key: max(parts, default=0) for key, parts in weights.items()}
        least = tuple(
            min((shares[item, pool] for pool in pools), default=0)
            for item, pools in enumerate(found.takers)
        )
        return cls(found=found, costs=costs, shares=shares, least_shares=least, weights=weights)

    @property
    def priorities(self) -> list[int]:
        """The priorities of the items, the highest first."""
        return sorted({item.priority for item in self.found.items}, reverse=True)


def cheap_pools(market: Market, item: int, wanted: int) -> tuple[int, ...]:
    """Return the cheapest pools for this number of an item by two measures, a few by each.

    The measures are the price per item of a node filled with the item, and the price of the item's
    largest share of a node.
    """
    fills, shares, costs, takers = (
        market.found.fills,
        market.shares,
        market.costs,
        market.found.takers[item],
    )
    filled = [(costs[pool][0] * WHOLE // min(fills[item, pool], wanted), pool) for pool in takers]
    shared = [(costs[pool][0] * shares[item, pool], pool) for pool in takers]
    return tuple(
        dict.fromkeys(
            pool for prices in (filled, shared) for _, pool in nsmallest(_CHEAPEST, prices)
        )
    )


def quick_packing(market: Market, filling: Filling, needed: Sequence[int]) -> Packing:
    """Return the first packing that `best_packing` compares, without refilling."""
    rooms = market.found.rooms
    return next(_packings(market, rooms, _starts(rooms, needed), filling))


def best_packing(
    market: Market, filling: Filling, needed: Sequence[int], rooms: Sequence[Room]
) -> Packing:
    """Return the best packing found within the limits of these rooms.

    `needed` are the nodes that every plan provably has. They are open initially, so that items that
    fit them don't open other nodes.
    """
    starts = _starts(rooms, needed)
    tried = [starts]
    # nodes that the pods need together might not be the best choice for some of them
    if any(room.limits for room in rooms):
        tried.append([room.minimum for room in rooms])
    packings = (packing for each in tried for packing in _packings(market, rooms, each, filling))
    best = min(packings, key=lambda packing: rank(market, packing))
    if best.pending and any(room.maximum is not None for room in rooms):
        # A packing that grows without limits might still end within them, because it can be filled
        # again when it's complete.
        free = best_packing(
            market, filling, starts, [replace(room, maximum=None) for room in rooms]
        )
        if not free.pending and all(
            room.maximum is None or count <= room.maximum
            for room, count in zip(rooms, free.used_nodes(rooms), strict=True)
        ):
            return free
    return best


def pack_assigned(
    market: Market, filling: Filling, assignment: Mapping[tuple[int, int], float]
) -> Packing:
    """Return a packing that follows a fractional assignment of items to pools.

    Each pool packs its own share. Items left by rounding and unknown items are placed in the usual
    way.
    """
    items, rooms = market.found.items, market.found.rooms
    _, order = next(orders(market))
    shares: dict[int, dict[int, float]] = defaultdict(dict)
    for (item, pool), share in assignment.items():
        shares[item][pool] = share
    quotas = [_whole_parts(each.count, shares[item]) for item, each in enumerate(items)]
    merged = Packing(classes=[], opened=[0] * len(rooms))
    used = {pool for quota in quotas for pool, count in quota.items() if count}
    for pool in sorted(used.union(pool for pool, room in enumerate(rooms) if room.minimum)):
        starts = [0] * len(rooms)
        starts[pool] = rooms[pool].minimum
        chosen = [item for item in order if quotas[item].get(pool)]
        own = {item: items[item].times(quotas[item][pool]) for item in chosen}
        packing = pack(
            own,
            chosen,
            _beside(rooms, merged.opened, pool),
            starts,
            market.found.takers,
            filling,
            _only(market, pool),
        )
        if not packing.pending:
            packing = next(
                refill(packing, _only_minimum(rooms, pool), own, market.weights, filling), packing
            )
        merged.classes += packing.classes
        merged.opened[pool] = sum(group.count for group in packing.classes)
        merged.placed.update({key: count for key, count in packing.placed.items() if count})
    placed = Counter(dict.fromkeys(range(len(items)), 0))
    for (item, _), count in merged.placed.items():
        placed[item] += count
    rest = {item: each.times(each.count - placed[item]) for item, each in enumerate(items)}
    pending = [item for item in order if rest[item].count]
    extend(merged, rest, pending, rooms, market.found.takers, filling, _by_fill(market))
    merged.method = "linear relaxation, rounded"
    return merged


def _whole_parts(count: int, shares: Mapping[int, float]) -> dict[int, int]:
    """Round the shares of one item to integers with at most its count as sum, largest remainder
    first.
    """
    parts = {pool: min(count, int(value + 1e-6)) for pool, value in shares.items()}
    for pool in sorted(shares, key=lambda pool: (parts[pool] - shares[pool], pool)):
        if sum(parts.values()) < count and shares[pool] > parts[pool] + 1e-6:
            parts[pool] += 1
    surplus = sum(parts.values()) - count
    for pool in sorted(parts, key=lambda pool: (-parts[pool], pool)):
        cut = max(0, min(surplus, parts[pool]))
        parts[pool] -= cut
        surplus -= cut
    return parts


def _only(market: Market, only: int) -> Choose:
    def choose(item: int, left: int, room: Sequence[int | None]) -> tuple[int, int] | None:
        is_open = room[only] != 0 and only in market.found.pools_of(item)
        return _nodes(market, item, left, room, only) if is_open else None

    return choose


def _beside(rooms: Sequence[Room], opened: Sequence[int], only: int) -> Sequence[Room]:
    """Return the rooms with one pool limited by the remainder of shared limits after the open
    nodes.
    """
    if not rooms[only].limits:
        return rooms
    return [
        replace(room, maximum=room_of(only, rooms, opened)) if at == only else room
        for at, room in enumerate(rooms)
    ]


def _only_minimum(rooms: Sequence[Room], only: int) -> list[Room]:
    return [
        room if index == only or not room.minimum else replace(room, minimum=0)
        for index, room in enumerate(rooms)
    ]


def _starts(rooms: Sequence[Room], needed: Sequence[int]) -> list[int]:
    starts = [room.minimum for room in rooms]
    for pool, count in enumerate(needed):
        left = room_of(pool, rooms, starts)
        starts[pool] += max(
            0, count - starts[pool] if left is None else min(count - starts[pool], left)
        )
    return starts


def rank(market: Market, packing: Packing) -> tuple[tuple[int, ...], NodeCost]:
    """Return the sort key of packings: pending pods, highest priority first, then cost."""
    pending = dict.fromkeys(market.priorities, 0)
    for item, count in packing.pending.items():
        pending[market.found.items[item].priority] += market.found.items[item].pods * count
    return tuple(pending.values()), total_cost(packing.used_nodes(market.found.rooms), market.costs)


def _packings(
    market: Market, rooms: Sequence[Room], starts: Sequence[int], filling: Filling
) -> Iterator[Packing]:
    seen: set[tuple[int, ...]] = set()
    for order_name, order in orders(market):
        if order in seen:
            continue
        seen.add(order)
        for measure, choose in (("fill", _by_fill(market)), ("share", _by_share(market))):
            packing = pack(
                market.found.items, order, rooms, starts, market.found.takers, filling, choose
            )
            packing.method = f"first-fit, {order_name}, pools by price per {measure}"
            yield packing
            if not packing.pending:
                yield from refill(packing, rooms, market.found.items, market.weights, filling)
            if len(rooms) == 1:
                break


def orders(market: Market) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield orders of items: hardest first, choosiest first, easiest first (some partitions only
    nest that way).
    """
    items, share = range(len(market.found.items)), market.least_shares
    choice = {item: len(market.found.pools_of(item)) for item in items}
    yield "largest share first", tuple(sorted(items, key=lambda item: (-share[item], item)))
    yield (
        "fewest pools first",
        tuple(sorted(items, key=lambda item: (choice[item], -share[item], item))),
    )
    yield "smallest share first", tuple(sorted(items, key=lambda item: (share[item], item)))
    if len(market.priorities) > 1:
        urgency = [-each.priority for each in market.found.items]
        yield (
            "highest priority first",
            tuple(sorted(items, key=lambda item: (urgency[item], -share[item], item))),
        )


def choices(market: Market) -> tuple[Choose, ...]:
    """Return the ways to choose a pool for new nodes."""
    return _by_fill(market), _by_share(market)


def _by_fill(market: Market) -> Choose:
    """Choose the pool whose node costs least per item when filled with it. The last node counts by
    its actual content.
    """

    def choose(item: int, left: int, room: Sequence[int | None]) -> tuple[int, int] | None:
        held = {
            pool: min(market.found.fills[item, pool], left)
            for pool in _open_pools(market, item, room)
        }
        best = _cheapest(
            held, lambda pool, entry: market.costs[pool][entry] * WHOLE // held[pool], market.costs
        )
        return None if best is None else _nodes(market, item, left, room, best)

    return choose


def _by_share(market: Market) -> Choose:
    """Choose the pool in which the item's dominant share of a node costs least, because other items
    will use the rest.
    """

    def choose(item: int, left: int, room: Sequence[int | None]) -> tuple[int, int] | None:
        pools = _open_pools(market, item, room)
        best = _cheapest(
            pools,
            lambda pool, entry: market.costs[pool][entry] * market.shares[item, pool],
            market.costs,
        )
        return None if best is None else _nodes(market, item, left, room, best)

    return choose


def _cheapest(
    pools: Iterable[int], measure: Callable[[int, int], int], costs: Sequence[NodeCost]
) -> int | None:
    """Return the pool with the lowest measured entry of the costs. The next entry breaks ties."""
    left = list(pools)
    for entry in range(len(costs[0]) if len(left) > 1 else 0):
        measured = [measure(pool, entry) for pool in left]
        least = min(measured)
        left = [pool for pool, value in zip(left, measured, strict=True) if value == least]
        if len(left) == 1:
            break
    return min(left, default=None)


def _open_pools(market: Market, item: int, room: Sequence[int | None]) -> list[int]:
    return [pool for pool in market.found.pools_of(item) if room[pool] is None or room[pool]]


def _nodes(
    market: Market, item: int, left: int, room: Sequence[int | None], pool: int
) -> tuple[int, int]:
    nodes, limit = max(1, left // market.found.fills[item, pool]), room[pool]
    return pool, nodes if limit is None else min(nodes, limit)

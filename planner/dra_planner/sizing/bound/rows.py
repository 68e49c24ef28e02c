"""Limited resources of a pool's node, and each item's minimum needs, for the bound.

Every row is a relaxation: for any allocation, the pods of one node together never need more of it
than the node has. Rows are amounts (cpu, memory, pod slots), sets of devices that requests are
restricted to, counters of partitioned devices, and rounded forms of all of these (dual-feasible
functions), which recognize that two pods with 5 devices don't share a node with 8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd, lcm

from dra_planner.allocation import NodeState
from dra_planner.sizing.bound.exact import BoundLimit, BoundModel, BoundPool, CapacityRow
from dra_planner.sizing.bound.exclusions import Exclusions, exclusive_groups, find_exclusions
from dra_planner.sizing.device_needs import DeviceNeeds, device_needs
from dra_planner.sizing.items import Item, ShapePods
from dra_planner.sizing.packing.compatibility import Compatibility
from dra_planner.sizing.packing.filling import FillStage
from dra_planner.sizing.packing.first_fit import Room, room_left
from dra_planner.sizing.packing.vector_fill import WHOLE

# for a row with at most this number of units, all relevant roundings are tried
_FINEST_ROUNDING = 8
_COARSE_ROUNDINGS = (1, 2, 3)
# the capacity of a row for items that exclude each other, if a smaller one isn't exact
_FINEST_SHARE = 10**6

_NO_DEVICES = DeviceNeeds()

RowsOfPool = tuple[CapacityRow, ...]


def pool_rows(found: Compatibility) -> tuple[tuple[RowsOfPool, Mapping[int, DeviceNeeds]], ...]:
    """Return the plain rows of each pool over the items that fit it, and the items' device needs.

    Pools with equal empty nodes share rows, which then cover all items of these pools.
    """
    inside: dict[FillStage, list[int]] = defaultdict(list)
    for item, pools in enumerate(found.takers):
        for stage in dict.fromkeys(found.rooms[pool].empty for pool in pools):
            inside[stage].append(item)
    made = {}
    wanted: dict[object, dict[str, dict[int, int]]] = {}
    exclusions = find_exclusions(found.items, found.nodes)
    for stage, items in inside.items():
        state, key = stage.state, tuple(items)
        needs = {item: _device_needs(found.items[item], stage, state, found) for item in items}
        amounts = _amount_rows(_wanted_amounts(key, stage, found, wanted), stage)
        rows = (*amounts, *_device_rows(needs, state))
        most: dict[int, int] = {}
        for item in items if exclusions else ():
            if item in exclusions:
                pool = next(each for each in found.takers[item] if found.rooms[each].empty is stage)
                alone = item in exclusions[item]
                most[item] = 1 if alone else _most(found, item, pool, needs[item], rows)
        made[stage] = (*rows, *_exclusive_rows(most, exclusions)), needs
    return tuple(made.get(room.empty, ((), {})) for room in found.rooms)


def _device_needs(
    item: Item, stage: FillStage, state: NodeState, found: Compatibility
) -> DeviceNeeds:
    """Return the item's device needs. Items with equal claims have equal needs, at every level of
    demand.
    """
    taken = found.nodes.filling.taken(item, stage.kind)
    if taken.is_plain and taken.probe is None:
        return _NO_DEVICES
    key = (stage.held, taken.claims if taken.is_plain else item.id)
    needs = found.nodes.device_needs.get(key)
    if needs is None:
        probe = item if taken.probe is None else Item((ShapePods(taken.probe, 1),), 1)
        needs = found.nodes.device_needs[key] = device_needs(probe, state)
    return needs


def bound_model(
    found: Compatibility,
    rows: Sequence[tuple[RowsOfPool, Mapping[int, DeviceNeeds]]],
    certain: Iterable[int],
) -> BoundModel:
    """Return the model of the bound: items that every pool can evaluate, and rounded rows in
    addition to plain ones.

    `found` is the compatibility with nodes at their maximum resources. `certain` are the items
    without open questions.
    """
    judged = {index: found.items[index].count for index in certain if found.pools_of(index)}
    rounded: dict[FillStage, RowsOfPool] = {}
    inside: list[list[int]] = [[] for _ in found.rooms]
    for item in judged:
        for pool in found.takers[item]:
            inside[pool].append(item)
    pools = []
    least = [room.minimum for room in found.rooms]
    further = room_left(found.rooms, least)
    for pool, room in enumerate(found.rooms):
        plain, needs = rows[pool]
        if room.empty not in rounded:
            rounded[room.empty] = (*plain, *(each for row in plain for each in _rounded(row)))
        most = {item: _most(found, item, pool, needs[item], plain) for item in inside[pool]}
        pools.append(
            BoundPool(
                minimum=room.minimum,
                maximum=room.minimum + (further[pool] or 0),
                rows=rounded[room.empty],
                most=most,
            )
        )
    return BoundModel(demand=judged, pools=tuple(pools), limits=_limits(found.rooms))


def _limits(rooms: Sequence[Room]) -> tuple[BoundLimit, ...]:
    at = {room.name: pool for pool, room in enumerate(rooms)}
    limits = dict.fromkeys(limit for room in rooms for limit in room.limits)
    return tuple(
        BoundLimit(
            limit.name,
            limit.most,
            {at[name]: takes for name, takes in limit.takes.items() if name in at},
        )
        for limit in limits
    )


def row_weights(
    found: Compatibility, rows: Sequence[tuple[RowsOfPool, Mapping[int, DeviceNeeds]]]
) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the share of each plain row that one item needs, in parts of `WHOLE`, by
    (item, pool).
    """
    known: dict[tuple[int, FillStage], tuple[int, ...]] = {}
    stages = [room.empty for room in found.rooms]
    needs = [[(row.needs.get, row.capacity) for row in rows_of_pool] for rows_of_pool, _ in rows]
    weights = {}
    for item, pools in enumerate(found.takers):
        for pool in pools:
            key = item, stages[pool]
            weight = known.get(key)
            if weight is None:
                weight = known[key] = tuple(
                    [need(item, 0) * WHOLE // capacity for need, capacity in needs[pool]]
                )
            weights[item, pool] = weight
    return weights


def _most(
    found: Compatibility, item: int, pool: int, needs: DeviceNeeds, rows: Iterable[CapacityRow]
) -> int:
    """Return the maximum number of an item on one node, with any other content.

    The allocator's result on an empty node is the maximum only if other pods can't lead it to
    better choices, and if the node's capacity ended the filling.
    """
    fill, wanted = found.fills[item, pool], found.items[item].count
    if fill == wanted or (needs.is_steady and (item, pool) in found.ended):
        return fill
    limits = [row.capacity // need for row in rows if (need := row.needs.get(item, 0))]
    return max(fill, min([wanted, *limits]))


def _amounts(item: Item, stage: FillStage, found: Compatibility) -> Mapping[str, int]:
    """Return the item's amounts on such nodes.

    On some nodes, a device plugin also counts devices that claims use.
    """
    taken = found.nodes.filling.taken(item, stage.kind)
    return (
        {stage.kind.names[at]: amount for at, amount in taken.amounts}
        if taken.is_plain
        else item.requests
    )


def _wanted_amounts(
    items: tuple[int, ...],
    stage: FillStage,
    found: Compatibility,
    known: dict[object, dict[str, dict[int, int]]],
) -> Mapping[str, Mapping[int, int]]:
    """Return each item's amounts of each resource on such nodes. Nodes with equal amounts share the
    result.
    """
    takens = tuple(found.nodes.filling.taken(found.items[item], stage.kind) for item in items)
    key = (items, stage.kind.names, tuple(map(id, takens)))
    if key not in known:
        wanted: dict[str, dict[int, int]] = defaultdict(dict)
        for item in items:
            for name, amount in _amounts(found.items[item], stage, found).items():
                wanted[name][item] = amount
        known[key] = wanted
    return known[key]


def _amount_rows(
    wanted: Mapping[str, Mapping[int, int]], stage: FillStage
) -> Iterator[CapacityRow]:
    for name in sorted(wanted):
        free = stage.free(name)
        if free > 0:
            yield CapacityRow(name, free, wanted[name])


def _device_rows(needs: Mapping[int, DeviceNeeds], state: NodeState) -> Iterator[CapacityRow]:
    """Yield a row for each set of devices that some request is restricted to, and for each family
    of counters.
    """
    if not state.template.candidates:
        return
    for bits in _confining_sets(needs.values()):
        taken = {
            item: total
            for item, each in needs.items()
            if (total := sum(count for inside, count in each.exclusive if not inside & ~bits))
        }
        free = (bits & ~state.taken).bit_count()
        if taken and free:
            yield CapacityRow(f"devices {bits:x}", free, taken)
    families = sorted({family for each in needs.values() for family in each.counters})
    capacities = DeviceNeeds.counter_capacities(state)
    for family in families:
        drawn = {
            item: each.counters[family] for item, each in needs.items() if each.counters.get(family)
        }
        if drawn and capacities.get(family, 0) > 0:
            yield CapacityRow(f"counter {family}", capacities[family], drawn)
    for family, (sets, capacity) in sorted(DeviceNeeds.set_capacities(state).items()):
        if capacity > 0:  # an A100 doesn't have encoders, and publishes a counter of 0
            yield from _rounded_sets(needs, family, sets, capacity)
    names = sorted({name for each in needs.values() for name in each.shares})
    capacities = DeviceNeeds.share_capacities(state)
    for name in names:
        shared = {item: each.shares[name] for item, each in needs.items() if each.shares.get(name)}
        if shared and capacities.get(name, 0) > 0:
            yield CapacityRow(f"capacity {name}", capacities[name], shared)


def _rounded_sets(
    needs: Mapping[int, DeviceNeeds], family: str, sets: int, capacity: int
) -> Iterator[CapacityRow]:
    """Yield the consumption of each counter set, rounded as in `_rounded` and added up, because
    each set is a separate bin.
    """
    for k in _COARSE_ROUNDINGS:
        rounded = {
            item: total
            for item, each in needs.items()
            if (
                total := sum(
                    _round(drawn, capacity, k) * times
                    for name, drawn, times in each.draws
                    if name == family
                )
            )
        }
        if rounded:
            yield CapacityRow(f"counter {family}, rounded {k} by set", sets * capacity * k, rounded)


def _exclusive_rows(most: Mapping[int, int], exclusions: Exclusions) -> Iterator[CapacityRow]:
    """Yield a row for items that exclude each other, so that a node has pods of at most one of
    them. `most` is the maximum number of each item on a node.
    """
    for number, group in enumerate(exclusive_groups(most, exclusions)):
        capacity = min(lcm(*(most[item] for item in group)), _FINEST_SHARE)
        needs = {item: capacity // most[item] for item in group}
        yield CapacityRow(f"pods that avoid each other {number}", capacity, needs)


def _confining_sets(needs: Iterable[DeviceNeeds]) -> list[int]:
    """Return the sets of devices that requests name, and the unions of overlapping sets."""
    named = sorted({bits for each in needs for bits, _ in each.exclusive if bits})
    unions: list[int] = []
    for bits in named:
        for other in [each for each in unions if each & bits]:
            unions.remove(other)
            bits |= other
        unions.append(bits)
    return sorted({*named, *unions})


def _rounded(row: CapacityRow) -> Iterator[CapacityRow]:
    """Yield u(need) for the functions u of Fekete and Schepers, for which every set that fits one
    node adds up to at most 1. u_k(x) = x if x·(k+1) is an integer, otherwise floor(x·(k+1)) / k,
    for needs x as shares of the capacity. Source: S. P. Fekete, J. Schepers, "New classes of fast
    lower bounds for bin packing problems" (2001).
    """
    small, largest = row.capacity <= _FINEST_ROUNDING, max(row.needs.values(), default=0)
    seen = set()
    for k in range(1, row.capacity) if small else _COARSE_ROUNDINGS:
        if largest * (k + 1) < row.capacity:  # every need would be rounded down to 0
            continue
        capacity = row.capacity * k
        needs = {
            item: after
            for item, need in row.needs.items()
            if (after := _round(need, row.capacity, k))
        }
        grown = any(need > row.needs[item] * k for item, need in needs.items())
        if not grown:
            continue
        common = gcd(capacity, *needs.values())
        key = (
            capacity // common,
            *((item, need // common) for item, need in sorted(needs.items())),
        )
        if key not in seen:
            seen.add(key)
            yield CapacityRow(f"{row.name}, rounded {k}", capacity, needs)


def _round(need: int, capacity: int, k: int) -> int:
    whole, rest = divmod(need * (k + 1), capacity)
    return need * k if not rest else whole * capacity

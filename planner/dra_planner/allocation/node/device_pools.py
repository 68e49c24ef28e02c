"""The device pools that a node can use: generations, completeness, validity, and order.

Source of the behavior:
kubernetes/dynamic-resource-allocation:structured/internal/{experimental,incubating}/pools_*.go
@v0.34.9, v0.35.6, v0.36.3 and v0.37.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from dra_planner.allocation.behaviour import is_plain
from dra_planner.allocation.node.selectors import selection_matches
from dra_planner.allocation.search.devices import PoolId
from dra_planner.model import CounterSet, Device, Node, ResourceSlice
from dra_planner.records import equality
from dra_planner.releases import Features


@equality(unhashed=("counter_sets",))
class DevicePool(Struct, frozen=True, kw_only=True):
    """The devices of one driver's pool that a node can use.

    `slices` contain the devices in search order. `others` are slices of the same generation for
    other nodes, whose devices affect only counters.
    """

    id: PoolId
    incomplete: bool = False
    invalid_reason: str = ""
    slices: tuple[ResourceSlice, ...] = ()
    others: tuple[ResourceSlice, ...] = ()
    counter_sets: tuple[CounterSet, ...] = ()

    @property
    def invalid(self) -> bool:
        return bool(self.invalid_reason)

    @property
    def has_binding_conditions(self) -> bool:
        return any(device.binding_conditions for s in self.slices for device in s.devices)


def gather_pools(
    slices: Sequence[ResourceSlice], node: Node, features: Features
) -> tuple[DevicePool, ...]:
    """Return the pools that are relevant to a node, in search order.

    `slices` are the slices of the whole cluster, or only the node's own slices if other slices are
    irrelevant. Versions before 1.36 have no fixed order, so pools are sorted as in 1.36.
    """
    found: dict[PoolId, list[ResourceSlice]] = {}
    for item in _relevant(slices, node, features):
        _add(found, item)
    early: list[DevicePool] = []
    late: list[DevicePool] = []
    for pool_id in sorted(found):
        pool = _build(pool_id, found[pool_id], slices, features)
        if pool is not None:
            (late if _walked_last(pool, features) else early).append(pool)
    return tuple(early + late)


def is_relevant(item: ResourceSlice, node: Node, features: Features) -> bool:
    """Return whether a slice is relevant to a node."""
    if not features.partitionable_devices and item.per_device_node_selection:
        return False
    if features.counter_sets_apart and item.shared_counters:
        if not features.partitionable_devices:
            return False
        if features.counter_slices_on_every_node or is_plain(features):
            return True
    if item.node_name or item.all_nodes or item.node_selector is not None:
        return selection_matches(node, item.node_name, item.all_nodes, item.node_selector)
    return item.per_device_node_selection and any(device_reaches(d, node) for d in item.devices)


def device_reaches(device: Device, node: Node) -> bool:
    """Return whether a device with its own node selection can be used from the node."""
    return selection_matches(node, device.node_name, device.all_nodes, device.node_selector)


def _relevant(
    slices: Sequence[ResourceSlice], node: Node, features: Features
) -> list[ResourceSlice]:
    relevant = [item for item in slices if is_relevant(item, node, features)]
    if is_plain(features):
        return relevant
    if features.own_slices_first:
        relevant.sort(
            key=lambda s: (
                not s.node_name or bool(s.shared_counters and features.counter_slices_last)
            )
        )
    else:
        relevant.sort(key=lambda s: any(d.binding_conditions for d in s.devices))
    return relevant


def _walked_last(pool: DevicePool, features: Features) -> bool:
    return pool.has_binding_conditions and not is_plain(features)


def _add(found: dict[PoolId, list[ResourceSlice]], item: ResourceSlice) -> None:
    pool_id = PoolId(item.driver, item.pool)
    known = found.get(pool_id)
    if known is None or item.generation > known[0].generation:
        found[pool_id] = [item]
    elif item.generation == known[0].generation:
        known.append(item)


def _build(
    pool_id: PoolId,
    relevant: list[ResourceSlice],
    slices: Sequence[ResourceSlice],
    features: Features,
) -> DevicePool | None:
    """Return the pool, or None if a newer generation for other nodes replaces it."""
    if features.own_slices_only:
        return DevicePool(
            id=pool_id,
            incomplete=len(relevant) != relevant[0].slice_count,
            invalid_reason=_duplicate_device(relevant),
            slices=tuple(relevant),
        )
    first = relevant[0]
    everywhere: list[ResourceSlice] | None = None
    if len(relevant) != first.slice_count:
        everywhere = [
            s for s in slices if (s.driver, s.pool) == pool_id and s.generation >= first.generation
        ]
        if any(s.generation > first.generation for s in everywhere):
            return None
        if len(everywhere) != first.slice_count:
            return DevicePool(id=pool_id, incomplete=True)
    if features.walks_slices_by_name and not is_plain(features):
        relevant = sorted(relevant, key=lambda s: s.name)
    return _validate(pool_id, relevant, everywhere, features)


def _validate(
    pool_id: PoolId,
    relevant: list[ResourceSlice],
    everywhere: list[ResourceSlice] | None,
    features: Features,
) -> DevicePool:
    if not features.partitionable_devices:
        reason = _duplicate_device(relevant)
        return DevicePool(
            id=pool_id, invalid_reason=reason, slices=() if reason else tuple(relevant)
        )
    names = {s.name for s in relevant}
    others = [s for s in everywhere or () if s.name not in names]
    counter_slices = [s for s in relevant if s.shared_counters]
    joined = features.joins_counter_slices and not is_plain(features)
    if joined:
        counter_slices += [s for s in others if s.shared_counters]
        others = [s for s in others if not s.shared_counters]
    devices = [s for s in relevant if not s.shared_counters]
    sets = [counter_set for s in counter_slices for counter_set in s.shared_counters]
    consumers = (devices if joined else relevant) + others
    reason = _duplicate_device(devices) or _duplicate_set(sets) or _unknown_counter(sets, consumers)
    if reason:
        return DevicePool(id=pool_id, invalid_reason=reason)
    return DevicePool(
        id=pool_id, slices=tuple(devices), others=tuple(others), counter_sets=tuple(sets)
    )


def pool_faults(
    slices: Iterable[ResourceSlice], features: Features
) -> Iterator[tuple[ResourceSlice, str]]:
    """Yield a slice of each pool that no node can use because the pool's slices contradict each
    other, with the reason.
    """
    found: dict[PoolId, list[ResourceSlice]] = {}
    for item in slices:
        _add(found, item)
    for _, pool in sorted(found.items()):
        reason = _duplicate_device(pool)
        if features.partitionable_devices:
            sets = [counter_set for item in pool for counter_set in item.shared_counters]
            reason = reason or _duplicate_set(sets) or _unknown_counter(sets, pool)
        if reason:
            yield pool[0], reason


def _duplicate_device(slices: Iterable[ResourceSlice]) -> str:
    seen: set[str] = set()
    for item in slices:
        for device in item.devices:
            if device.name in seen:
                return f"duplicate device name {device.name}"
            seen.add(device.name)
    return ""


def _duplicate_set(sets: Iterable[CounterSet]) -> str:
    seen: set[str] = set()
    for counter_set in sets:
        if counter_set.name in seen:
            return f"duplicate counter set name {counter_set.name}"
        seen.add(counter_set.name)
    return ""


def _unknown_counter(sets: Iterable[CounterSet], slices: Iterable[ResourceSlice]) -> str:
    known = {counter_set.name: counter_set.counters for counter_set in sets}
    for item in slices:
        for device in item.devices:
            for consumption in device.consumes_counters:
                counters = known.get(consumption.counter_set)
                if counters is None:
                    return f"counter set {consumption.counter_set} not found"
                for name in consumption.counters:
                    if name not in counters:
                        return f"counter {name} not found in counter set {consumption.counter_set}"
    return ""

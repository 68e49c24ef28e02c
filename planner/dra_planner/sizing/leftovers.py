"""Unused resources of the planned nodes: amounts, and used, free, and stranded devices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from dra_planner.allocation import NodeState
from dra_planner.drivers import is_counted
from dra_planner.sizing.items import Item
from dra_planner.sizing.packing.compatibility import Compatibility
from dra_planner.sizing.packing.filling import MOST_ASKED, Filling, FillStage
from dra_planner.sizing.packing.first_fit import NodeClass, Packing, Room
from dra_planner.sizing.result import DeviceCount


def planned_classes(packing: Packing, room: Room, pool: int, nodes: int) -> list[NodeClass]:
    """Return the planned nodes of a pool by state: used ones, and empty ones up to `nodes`."""
    used = [group for group in packing.classes if group.pool == pool and group.history]
    empty = nodes - sum(group.count for group in used)
    return [*used, NodeClass(pool, room.empty, empty)] if empty > 0 else used


def count_devices(
    classes: Sequence[NodeClass], found: Compatibility, filling: Filling
) -> DeviceCount:
    """Return the devices of these nodes of one pool, without channels of compute domains."""
    total = used = stranded = 0
    claiming: list[Item] | None = None
    for group in classes:
        here = _counted(group.stage.state)
        busy = full = _busy(group.stage.state, here)
        if busy < len(here):
            if claiming is None:
                claiming = _claiming(group.pool, found)
            full = _busy(_filled(group.stage, claiming, here, filling).state, here)
        total += group.count * len(here)
        used += group.count * busy
        stranded += group.count * (len(here) - full)
    return DeviceCount(total=total, used=used, stranded=stranded)


def count_state(state: NodeState) -> tuple[int, int]:
    """Return the devices of one node, and the number in use."""
    units = _counted(state)
    return len(units), _busy(state, units)


def count_left(classes: Sequence[NodeClass]) -> dict[str, int]:
    """Return the unused amounts on these nodes, by resource."""
    left: dict[str, int] = defaultdict(int)
    for group in classes:
        for resource in sorted(group.stage.state.node.allocatable):
            left[resource] += group.count * max(0, group.stage.state.free(resource))
    return dict(left)


def _claiming(pool: int, found: Compatibility) -> list[Item]:
    """Return the items with claims that fit a pool."""
    return [
        item
        for index, item in enumerate(found.items)
        if found.fills[index, pool] and any(part.shape.claims for part in item.parts)
    ]


def _filled(
    stage: FillStage, items: Iterable[Item], units: Sequence[int], filling: Filling
) -> FillStage:
    """Return the node after adding pods of the demand, each kind in turn, while devices are
    free.
    """
    for item in items:
        count, stage = filling.fill(item, stage, MOST_ASKED)
        if count and _busy(stage.held.state, units) == len(units):
            break
    return stage


def _counted(state: NodeState) -> tuple[int, ...]:
    """Return the units to count as sets of candidates: devices, or whole GPUs if partitioned."""
    units: dict[object, int] = defaultdict(int)
    for candidate in state.template.candidates:
        if candidate.bit & state.template.searched and is_counted(candidate.id.driver):
            sets = {drawn.counter_set for drawn in candidate.device.consumes_counters}
            units[(candidate.id[:2], *sorted(sets)) if sets else candidate.id] |= candidate.bit
    return tuple(units.values())


def _busy(state: NodeState, units: Sequence[int]) -> int:
    shared = sum(1 << index for index, _ in state.shares)
    return sum(1 for bits in units if bits & (state.taken | shared))

"""The figures of a plan, for all formats: a letter for each workload, bars of nodes, and the
devices of a node in a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from string import ascii_uppercase
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_command.pens.signs import Signs
from dra_command.plan_report.workload_order import listed_workloads
from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan, PlannedPool
from dra_planner.plan.nodes.devices import NIC, NodeDevice
from dra_planner.plan.nodes.groups import FilledNodes, NodeGroup

if TYPE_CHECKING:  # most plans don't need this module
    from dra_planner.plan.nodes.order_outcomes import HeldDevices

MOST_CELLS: Final = 24
MANY: Final = "+"
"""The sign that represents all workloads without their own letter."""
SHARED: Final = "*"
"""The sign that represents several workloads that share a device."""
_LONGEST_ROW: Final = 24
_LAST: Final = "~"  # follows all letters

Letters = Mapping[WorkloadRef, str]


class Bar(Struct, frozen=True, kw_only=True):
    """Nodes of a pool: `bound` is the proven minimum, `more` is the number of additional
    recommended nodes, and `allowed` is the number of further nodes up to the maximum. `beyond` is
    the number of nodes that are needed above the maximum, which is unknown if `is_open` is set.
    """

    bound: int
    more: int
    allowed: int
    beyond: int
    is_open: bool

    @property
    def nodes(self) -> int:
        return self.bound + self.more + self.beyond

    @property
    def maximum(self) -> int:
        return self.bound + self.more + self.allowed


def letters_of(plan: Plan, filled: FilledNodes) -> Letters:
    """Return a letter for each workload with claims, in the order of the report's list. If there
    are more than 26 workloads, only the workloads that use the most devices get a letter.
    """
    uses: Counter[WorkloadRef] = Counter()
    for group in filled.groups:
        for device in group.devices:
            for ref in device.holders:
                uses[ref] += group.nodes * (1 if device.kind == NIC else 1_000)
    claiming = {
        member.workload for shape in plan.demand.shapes if shape.claims for member in shape.members
    }
    ranked = sorted(claiming | set(uses), key=lambda ref: (-uses[ref], ref))
    listed = {each.workload: at for at, each in enumerate(listed_workloads(plan))}
    lettered = sorted(
        ranked[: len(ascii_uppercase)], key=lambda ref: (listed.get(ref, len(listed)), ref)
    )
    return dict(zip(lettered, ascii_uppercase, strict=False))


def in_letter_order(filled: FilledNodes, letters: Letters) -> FilledNodes:
    """Return the nodes, with groups of equally many nodes in the order of their letters."""
    pools = list(dict.fromkeys(group.pool for group in filled.groups))
    places = {pool: at for at, pool in enumerate(pools)}

    def key(group: NodeGroup) -> tuple[int, bool, int, list[str]]:
        used = (letters.get(ref, _LAST) for device in group.devices for ref in device.holders)
        return places[group.pool], not group.pods, -group.nodes, sorted(used)

    return replace(filled, groups=tuple(sorted(filled.groups, key=key)))


def in_held_order(devices: Iterable[HeldDevices], letters: Letters) -> list[HeldDevices]:
    """Return the devices of a node by kind, in the order of their letters, with free devices
    last.
    """
    return sorted(
        devices,
        key=lambda each: (each.kind, each.workload is None, letters.get(each.workload, _LAST)),  # type: ignore[arg-type]  # see Letters
    )


def bar_of(pool: PlannedPool) -> Bar:
    """Return the nodes of a pool, divided into parts of its maximum."""
    built = pool.recommended
    bound = min(pool.bound, built)
    return Bar(
        bound=bound,
        more=built - bound,
        allowed=max(0, pool.maximum - built),
        beyond=max(0, pool.bound - pool.maximum),
        is_open=pool.simulated is None and pool.bound <= pool.maximum and built == pool.maximum > 0,
    )


def drawn_bar(bar: Bar, signs: Signs, cells: int = MOST_CELLS) -> str:
    """Return the bar as text. Each sign represents one node, or several nodes if there are more
    than `cells`.
    """
    end = (
        signs.beyond * min(bar.beyond, cells)
        if bar.beyond
        else signs.cannot_tell
        if bar.is_open
        else ""
    )
    if bar.maximum <= cells:
        return (
            signs.bound * bar.bound + signs.simulated * bar.more + signs.allowed * bar.allowed + end
        )
    filled, rest = divmod((bar.bound + bar.more) * cells * 8 // bar.maximum, 8)
    bound = bar.bound * cells // bar.maximum
    part = signs.eighths[rest - 1] if rest and signs.eighths else ""
    text = signs.bound * bound + signs.simulated * (filled - bound) + part
    return text + signs.allowed * (cells - len(text)) + ("" if not end else end[0])


def device_letter(device: NodeDevice, letters: Letters, signs: Signs) -> str:
    """Return the sign for one device, which shows the workload that uses it, or that it's free or
    stranded.
    """
    if device.state != "used":
        return signs.stranded if device.state == "stranded" else signs.free
    users = set(device.holders)
    return SHARED if len(users) > 1 else letters.get(next(iter(users), None), MANY)  # type: ignore[arg-type]  # see MANY


def drawn_devices(group: NodeGroup, letters: Letters, signs: Signs) -> str:
    """Return the devices of one node, except its network interfaces. MIG devices are grouped by
    GPU, and a long row of equal GPUs is shortened.
    """
    devices = [each for each in group.devices if each.kind != NIC]
    boards = [
        "".join(device_letter(each, letters, signs) for each in board) for board in _boards(devices)
    ]
    gap = " " if any(len(board) > 1 for board in boards) else ""
    row = gap.join(boards)
    if len(row) <= _LONGEST_ROW or not gap:
        return row if len(row) <= 2 * _LONGEST_ROW else "  ".join(_times(boards))
    return "  ".join(_times(boards))


def _times(boards: Iterable[str]) -> Iterator[str]:
    for board, equal in groupby(boards):
        number = len(list(equal))
        yield board if number == 1 else f"{board} ×{number}"


def _boards(devices: Iterable[NodeDevice]) -> Iterator[list[NodeDevice]]:
    """Yield the devices of each GPU together. MIG devices are sorted by the memory slices that they
    cover.
    """
    gpus: dict[str, list[NodeDevice]] = {}
    for device in devices:
        gpus.setdefault(device.board or device.name, []).append(device)
    for slices in gpus.values():
        yield sorted(
            slices, key=lambda each: (each.is_rest, each.start if each.start is not None else 0)
        )


def is_shared(filled: FilledNodes) -> bool:
    """Whether several workloads use a device."""
    return any(len(set(device.holders)) > 1 for group in filled.groups for device in group.devices)


def has_many(filled: FilledNodes, letters: Letters) -> bool:
    """Whether a workload without a letter uses a device."""
    return any(
        ref not in letters
        for group in filled.groups
        for device in group.devices
        for ref in device.holders
    )

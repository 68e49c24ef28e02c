"""The devices of one node in readable form: kind, memory, GPU and PCIe root, and users."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation import NodeState
from dra_planner.allocation.search.devices import Candidate
from dra_planner.drivers import driver_of, is_counted
from dra_planner.model import Unknown, WorkloadRef
from dra_planner.quantity import Quantity

DeviceState = Literal["used", "free", "stranded"]

GPU: Final = "GPU"
SLICE: Final = "MIG slice"
NIC: Final = "NIC"
_PCIE_ROOT: Final = "resource.kubernetes.io/pcieRoot"
_MEBIBYTE: Final = 2**20


class NodeDevice(Struct, frozen=True, kw_only=True):
    """One device.

    `counted_as` is the device that counts in totals: the device itself, or the GPU that claims
    partition dynamically. The unpartitioned rest of such a GPU is an additional device with
    `is_rest`. `board` is the GPU of a slice, and `root` is the PCIe root ("" if unknown). `start`
    and `size` are the memory slices of a MIG slice. `memory_mib` is None if it's unknown. `claims`
    are the holders' claims in the same order: the name of the entry in a pod's claims, or
    namespace/name if pods share the claim.
    """

    name: str
    driver: str
    kind: str
    counted_as: str
    profile: str = ""
    memory_mib: int | None = None
    board: str = ""
    root: str = ""
    start: int | None = None
    size: int | None = None
    state: DeviceState
    holders: tuple[WorkloadRef, ...] = ()
    claims: tuple[str, ...] = ()
    is_rest: bool = False


class KindCount(Struct, frozen=True, kw_only=True):
    """Devices of one kind. `stranded` devices are free, but no pod of the demand can use them."""

    kind: str
    total: int = 0
    used: int = 0
    free: int = 0
    stranded: int = 0

    def __add__(self, other: KindCount) -> KindCount:
        return KindCount(
            kind=self.kind,
            total=self.total + other.total,
            used=self.used + other.used,
            free=self.free + other.free,
            stranded=self.stranded + other.stranded,
        )


Holders = Mapping[int, tuple[tuple[WorkloadRef, str], ...]]
"""The user and claim of each device, by the device's position among the node's candidates."""


def describe_devices(state: NodeState, full: NodeState, holders: Holders) -> tuple[NodeDevice, ...]:
    """Return the devices of a node, network interfaces last. `full` is the node with as much of the
    demand as fits.
    """
    busy, after = in_use(state), in_use(full)
    units: dict[object, list[Candidate]] = {}
    for candidate in state.template.candidates:
        if candidate.bit & state.template.searched and is_counted(candidate.driver):
            sets = sorted({drawn.counter_set for drawn in candidate.device.consumes_counters})
            units.setdefault((*candidate.id[:2], *sets) if sets else candidate.id, []).append(
                candidate
            )
    devices: list[NodeDevice] = []
    for unit in units.values():
        if len(unit) == 1:
            devices.append(_device(unit[0], busy, after, holders))
            continue
        devices += _partitions(unit, busy, after, holders)
    return tuple(sorted(devices, key=lambda each: each.kind == NIC))


def count_kinds(devices: Iterable[NodeDevice], nodes: int = 1) -> Iterator[KindCount]:
    """Yield the number of devices of each kind on these nodes."""
    units: dict[str, dict[tuple[str, str], DeviceState]] = {}
    for each in devices:
        of_kind = units.setdefault(
            each.kind if each.counted_as == each.name else _board_kind(each.driver), {}
        )
        unit = (each.driver, each.counted_as)
        if of_kind.get(unit) != "used":
            of_kind[unit] = each.state
    for kind, states in units.items():
        values = list(states.values())
        yield KindCount(
            kind=kind,
            total=nodes * len(values),
            used=nodes * values.count("used"),
            free=nodes * values.count("free"),
            stranded=nodes * values.count("stranded"),
        )


def add_kinds(counts: Iterable[KindCount]) -> tuple[KindCount, ...]:
    """Return the sums by kind, in the order of first appearance."""
    sums: dict[str, KindCount] = {}
    for each in counts:
        sums[each.kind] = sums.get(each.kind, KindCount(kind=each.kind)) + each
    return tuple(sums.values())


def _partitions(
    unit: list[Candidate], busy: int, after: int, holders: Holders
) -> Iterator[NodeDevice]:
    """Yield the used partitions of one GPU, and the rest of it."""
    used = [_device(each, busy, after, holders) for each in unit if each.bit & busy]
    biggest = max(
        (_device(each, busy, after, holders) for each in unit),
        key=lambda each: each.memory_mib or 0,
    )
    board = biggest.board or biggest.name
    yield from (replace(each, counted_as=board) for each in used)
    memory = (
        None
        if biggest.memory_mib is None
        else biggest.memory_mib - sum(each.memory_mib or 0 for each in used)
    )
    owner = driver_of(biggest.driver)
    is_whole = owner is not None and any(each.kind == owner.board_kind for each in used)
    if used and (is_whole or (memory is not None and memory <= 0)):
        return
    state: DeviceState = "free" if any(each.bit & after & ~busy for each in unit) else "stranded"
    yield replace(
        biggest,
        name=board,
        counted_as=board,
        kind=_board_kind(biggest.driver),
        profile="",
        board=board,
        memory_mib=memory,
        start=None,
        size=None,
        state=state,
        holders=(),
        claims=(),
        is_rest=True,
    )


def _board_kind(domain: str) -> str:
    """Return the name of a device of this driver that can be partitioned."""
    driver = driver_of(domain)
    return (driver.board_kind if driver is not None else "") or f"device of {domain}"


def _device(candidate: Candidate, busy: int, after: int, holders: Holders) -> NodeDevice:
    attributes, name = candidate.attributes, candidate.id.device
    driver = driver_of(candidate.driver)
    kind = (
        driver.kind(candidate.driver, attributes)
        if driver is not None
        else f"device of {candidate.driver}"
    )
    profile, root = attributes.get("profile", ""), attributes.get(_PCIE_ROOT, "")
    board = driver.board(candidate.device) if driver is not None else ""
    covered, held = _memory_slices(candidate), holders.get(candidate.index, ())
    return NodeDevice(
        name=name,
        driver=candidate.driver,
        kind=kind,
        counted_as=name,
        profile=profile if isinstance(profile, str) else "",
        memory_mib=_memory_mib(candidate),
        board=board,
        root=root.group if isinstance(root, Unknown) else str(root),
        start=min(covered, default=None),
        size=len(covered) or None,
        state="used" if candidate.bit & busy else "free" if candidate.bit & after else "stranded",
        holders=tuple(ref for ref, _ in held),
        claims=tuple(claim for _, claim in held),
    )


def _memory_mib(candidate: Candidate) -> int | None:
    capacity = candidate.capacity.get("memory")
    return (
        capacity.value.value // _MEBIBYTE
        if capacity and isinstance(capacity.value, Quantity)
        else None
    )


def _memory_slices(candidate: Candidate) -> list[int]:
    """Return the numbers of a device's memory slices, from its capacities or its consumed
    counters.
    """
    drawn = (name for each in candidate.device.consumes_counters for name in each.counters)
    names = (name.replace("memory-slice-", "memorySlice") for name in (*candidate.capacity, *drawn))
    numbers = (name.removeprefix("memorySlice") for name in names if name.startswith("memorySlice"))
    return sorted({int(number) for number in numbers if number.isdecimal()})


def in_use(state: NodeState) -> int:
    """Return the candidates that are in use, as bits."""
    return state.taken | sum(1 << index for index, _ in state.shares)

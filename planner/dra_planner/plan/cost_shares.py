"""Who the planned nodes are paid for: each workload carries the share of its devices in the price of their node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from dra_planner.model import WorkloadRef
from dra_planner.plan.node_devices import NIC, NodeDevice
from dra_planner.plan.node_groups import FilledNodes, NodeGroup
from dra_planner.plan.values import Plan
from dra_planner.records import dataclass

ShareState = Literal["used", "free", "stranded"]
_CENT: Final = Decimal("0.01")
_Key = tuple[WorkloadRef | None, ShareState]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostShare:
    """What one workload costs in an hour; without a workload, what is free or stranded: nobody uses it."""

    workload: WorkloadRef | None
    state: ShareState
    hourly_usd: Decimal


def cost_shares(plan: Plan, filled: FilledNodes) -> tuple[CostShare, ...]:
    """Return the shares, the largest first and what nobody uses last; together they are the cost, to the cent.

    The price of a node is divided evenly among its GPUs (other accelerators where it has none), that of a GPU among its
    slices by memory, and that of a device among those that share it. Memory that no slice has counts as stranded.
    Network interfaces cost nothing beside the GPUs. () where a price is not known, and where nodes exist already.
    """
    if plan.cost is None or plan.judgement.is_observed:
        return ()
    prices = {pool.name: pool.hourly_usd for pool in plan.pools}
    exact: dict[_Key, Fraction] = defaultdict(Fraction)
    for group in filled.groups:
        price = prices.get(group.pool)
        for who, state, part in _parts(group):
            exact[who, state] += Fraction(price or 0) * group.nodes * part
    rounded = _round([(key, value) for key, value in exact.items() if value], plan.cost.hourly_usd.quantize(_CENT))
    shares = [CostShare(workload=who, state=state, hourly_usd=usd) for (who, state), usd in rounded]
    return tuple(sorted(shares, key=lambda each: (each.workload is None, -each.hourly_usd, str(each.workload))))


def _parts(group: NodeGroup) -> Iterator[tuple[WorkloadRef | None, ShareState, Fraction]]:
    """Yield the parts of one node, which sum up to 1."""
    gpus: dict[str, list[NodeDevice]] = defaultdict(list)
    for device in [each for each in group.devices if each.kind != NIC] or list(group.devices):
        gpus[device.board or device.name].append(device)
    if not gpus:
        yield None, "free", Fraction(1)
    for devices in gpus.values():
        whole = left = Fraction(1, len(gpus))
        for device in devices:
            part = min(left, whole * _weight(device, devices, group))
            left -= part
            if not device.holders:
                yield None, "stranded" if device.state == "stranded" else "free", part
            for holder in device.holders:
                yield holder, "used", part / len(device.holders)
        if left > 0:
            yield None, "stranded", left


def _weight(device: NodeDevice, devices: list[NodeDevice], group: NodeGroup) -> Fraction:
    """Return which part a device is of its GPU: by memory slices or memory, else each the same."""
    if len(devices) == 1 and not device.size:
        return Fraction(1)
    if device.size and group.slices_per_gpu:
        return Fraction(device.size, group.slices_per_gpu)
    if device.is_rest:
        return Fraction(1)  # whatever is left
    if device.memory_mib and group.gpu_memory_mib:
        return Fraction(device.memory_mib, group.gpu_memory_mib)
    return Fraction(1, len(devices))


def _round(parts: list[tuple[_Key, Fraction]], total: Decimal) -> list[tuple[_Key, Decimal]]:
    """Return the parts in cents that sum up to the total: the largest remainders are rounded up."""
    cents = [(key, int(value * 100), value * 100 % 1) for key, value in parts]
    missing = int(total * 100) - sum(whole for _, whole, _ in cents)
    up = sorted(range(len(cents)), key=lambda at: -cents[at][2])[: max(0, missing)]
    return [(key, (whole + (at in up)) * _CENT) for at, (key, whole, _) in enumerate(cents)]

"""Cost shares of the planned nodes. Each workload pays its devices' share of their node's price."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, TypeVar

from msgspec import Struct

from dra_planner.model import WorkloadRef, generated_claim_name
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.devices import NIC, NodeDevice
from dra_planner.plan.nodes.groups import FilledNodes, NodeGroup

ShareState = Literal["used", "free", "stranded"]
_UNIT: Final = Decimal("0.000001")  # the exactness of prices, in US dollars
_Name = TypeVar("_Name")
_Key = tuple[WorkloadRef | None, ShareState]
_Parts = Iterator[tuple[WorkloadRef | None, ShareState, str, Fraction]]


class CostShare(Struct, frozen=True, kw_only=True):
    """The hourly cost of one workload, or of free and stranded devices if there is no workload."""

    workload: WorkloadRef | None
    state: ShareState
    hourly_usd: Decimal


class ClaimShare(Struct, frozen=True, kw_only=True):
    """The hourly cost of a workload's claims with one name, in total and per claim.

    `claim` is the name of the entry in the pods' claims if each pod has its own claim, or
    namespace/name of a shared claim. The first workload that uses a shared claim's devices pays for
    them.
    """

    workload: WorkloadRef
    claim: str
    claims: int
    hourly_usd: Decimal

    @property
    def title(self) -> str:
        """Return the name of the claim, as in all messages."""
        if "/" in self.claim:
            return self.claim
        ref = self.workload
        return f"{ref.namespace}/{generated_claim_name(ref.name, self.claim)}"

    @property
    def each_usd(self) -> Decimal:
        """Cost of one claim, to the millionth of a US dollar."""
        return (self.hourly_usd / self.claims).quantize(_UNIT)


def cost_shares(plan: Plan, filled: FilledNodes) -> tuple[CostShare, ...]:
    """Return the shares, largest first and unused devices last.

    Their sum is the cost, to the millionth of a US dollar. A node's price is divided evenly among
    its GPUs (or other accelerators), a GPU's price by memory among its slices, and a device's price
    among its users. Memory without a slice counts as stranded. Network interfaces have no cost.
    Returns () if a price is unknown, or if the nodes already exist.
    """
    if plan.cost is None or plan.judgement.is_observed:
        return ()
    exact: dict[_Key, Fraction] = defaultdict(Fraction)
    for who, state, _, usd in _paid(plan, filled):
        exact[who, state] += usd
    rounded = _round(
        [(key, value) for key, value in exact.items() if value],
        plan.cost.hourly_usd.quantize(_UNIT),
    )
    shares = [CostShare(workload=who, state=state, hourly_usd=usd) for (who, state), usd in rounded]
    return tuple(
        sorted(
            shares, key=lambda each: (each.workload is None, -each.hourly_usd, str(each.workload))
        )
    )


def claim_shares(plan: Plan, filled: FilledNodes) -> tuple[ClaimShare, ...]:
    """Return the costs of each workload's claims, by workload and claim name, or () like
    `cost_shares`. A workload's claims add up to its cost share.
    """
    if plan.cost is None or plan.judgement.is_observed:
        return ()
    exact: dict[WorkloadRef, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for who, _, claim, usd in _paid(plan, filled):
        if who is not None:
            exact[who][claim] += usd
    sums = {each.workload: each.hourly_usd for each in cost_shares(plan, filled)}
    numbers: dict[tuple[WorkloadRef, str], int] = defaultdict(int)
    for group in filled.groups:
        for key, claims in group.claims:
            numbers[key] += claims * group.nodes
    return tuple(
        ClaimShare(workload=who, claim=claim, claims=numbers[who, claim], hourly_usd=usd)
        for who, claims in sorted(exact.items())
        for claim, usd in _round(sorted(claims.items()), sums.get(who, Decimal(0)))
    )


def namespace_shares(shares: Iterable[CostShare]) -> dict[str, Decimal]:
    """Return the hourly cost of each namespace, most expensive first."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for share in shares:
        if share.workload is not None:
            sums[share.workload.namespace] += share.hourly_usd
    return dict(sorted(sums.items(), key=lambda each: (-each[1], each[0])))


def _paid(plan: Plan, filled: FilledNodes) -> _Parts:
    """Yield the payers of the nodes, each with amount and claim ("" for unused devices)."""
    prices = {pool.name: pool.hourly_usd for pool in plan.pools}
    for group in filled.groups:
        price = Fraction(prices.get(group.pool) or 0) * group.nodes
        for who, state, claim, part in _parts(group):
            yield who, state, claim, price * part


def _parts(group: NodeGroup) -> _Parts:
    """Yield the shares of one node, whose sum is 1."""
    gpus: dict[str, list[NodeDevice]] = defaultdict(list)
    for device in [each for each in group.devices if each.kind != NIC] or list(group.devices):
        gpus[device.board or device.name].append(device)
    if not gpus:
        yield None, "free", "", Fraction(1)
    for devices in gpus.values():
        whole = left = Fraction(1, len(gpus))
        for device in devices:
            part = min(left, whole * _weight(device, devices, group))
            left -= part
            if not device.holders:
                yield None, "stranded" if device.state == "stranded" else "free", "", part
            for holder, claim in zip(device.holders, device.claims, strict=True):
                yield holder, "used", claim, part / len(device.holders)
        if left > 0:
            yield None, "stranded", "", left


def _weight(device: NodeDevice, devices: list[NodeDevice], group: NodeGroup) -> Fraction:
    """Return a device's share of its GPU: by memory slices or memory, otherwise equal shares."""
    if len(devices) == 1 and not device.size:
        return Fraction(1)
    if device.size and group.slices_per_gpu:
        return Fraction(device.size, group.slices_per_gpu)
    if device.is_rest:
        return Fraction(1)  # the unassigned rest
    if device.memory_mib and group.gpu_memory_mib:
        return Fraction(device.memory_mib, group.gpu_memory_mib)
    return Fraction(1, len(devices))


def _round(parts: list[tuple[_Name, Fraction]], total: Decimal) -> list[tuple[_Name, Decimal]]:
    """Return the shares in units that add up to the total. The largest remainders are
    rounded up.
    """
    units = [(key, *divmod(value / Fraction(_UNIT), 1)) for key, value in parts]
    missing = int(total / _UNIT) - sum(whole for _, whole, _ in units)
    up = sorted(range(len(units)), key=lambda at: -units[at][2])[: max(0, missing)]
    return [(key, (whole + (at in up)) * _UNIT) for at, (key, whole, _) in enumerate(units)]

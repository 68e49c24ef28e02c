"""Limits that pools of a fleet share: account quotas and reservations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from dra_planner.catalog import Machine
from dra_planner.clouds import AllocatableSettings, cloud
from dra_planner.documents.tree import Location
from dra_planner.errors import PlannerError
from dra_planner.fleet.pools import Pool, Quota
from dra_planner.model import SharedLimit
from dra_planner.wording import counted, listed

_SINGULAR = {
    "vcpus": "vCPU",
    "gpus": "GPU",
    "nodes": "node",
    "addresses": "address",
    "pod-addresses": "pod address",
}
_MANY_PODS = 10**6  # more pods than any node can run
_BOUGHT = {"reservation": "reservation", "capacity-block": "capacity block"}


class _SystemPool(Protocol):
    @property
    def machine(self) -> str: ...
    @property
    def count(self) -> int: ...


class _Network(Protocol):
    @property
    def prefix_delegation(self) -> bool: ...


class QuotaHolder(Protocol):
    """The facts of a fleet that determine its limits."""

    @property
    def cloud(self) -> str: ...
    @property
    def network(self) -> _Network: ...
    @property
    def quotas(self) -> list[Quota]: ...
    @property
    def pools(self) -> list[Pool]: ...
    @property
    def system_pool(self) -> _SystemPool: ...
    def machine(self, name: str) -> Machine: ...


def shared_limits(fleet: QuotaHolder) -> tuple[SharedLimit, ...]:
    """Return the limits that apply to some pool: quotas without the system pool's use,
    reservations, and the maximums of split pools.
    """
    limits = [
        limit for quota in fleet.quotas for limit in [_quota_limit(fleet, quota)] if limit.takes
    ]
    return (*limits, *_reservations(fleet), *_shared_maximums(fleet))


def limit_faults(fleet: QuotaHolder) -> Iterator[tuple[Location, str]]:
    """Yield the faults of quotas and reservations: unknown amounts, and limits that are too low for
    the required nodes.
    """
    named: dict[str, int] = {}
    for at, quota in enumerate(fleet.quotas):
        if quota.name in named:
            yield (
                ("quotas", at, "name"),
                f'quotas[{named[quota.name]}] already has the name "{quota.name}"',
            )
        named.setdefault(quota.name, at)
        if (
            quota.unit == "pod-addresses"
            and cloud(fleet.cloud).pod_range_addresses(AllocatableSettings()) == 0
        ):
            title = cloud(fleet.cloud).title
            yield (
                ("quotas", at, "unit"),
                f"pods on {title} use addresses from the nodes' subnets; count addresses instead",
            )
            continue
        unknown = list(dict.fromkeys(_unknown(fleet, quota)))
        yield from (
            (
                ("quotas", at, "unit"),
                f"the number of {quota.unit} of {machine} is unknown; count nodes instead",
            )
            for machine in unknown
        )
        if not unknown:
            yield from _too_little(
                fleet, _quota_limit(fleet, quota), quota.limit, ("quotas", at, "limit")
            )
    sizes: dict[str, int] = {}
    for at, pool in enumerate(fleet.pools):
        nodes, name = pool.bought_nodes, pool.source.reservation
        if nodes is not None and sizes.setdefault(name, nodes) != nodes:
            yield (
                ("pools", at, "capacity", "nodes"),
                f'an earlier pool sets {sizes[name]} nodes for the reservation "{name}", and all '
                "pools that use this reservation must set the same number",
            )
    for limit in _reservations(fleet):
        first = next(at for at, pool in enumerate(fleet.pools) if pool.name in limit.takes)
        yield from _too_little(fleet, limit, limit.most, ("pools", first, "capacity", "nodes"))


def _too_little(
    fleet: QuotaHolder, limit: SharedLimit, most: int, at: Location
) -> Iterator[tuple[Location, str]]:
    needed = limit.used({pool.name: pool.count.min for pool in fleet.pools})
    if needed + limit.beside > most:
        beside = f" and the system pool uses {limit.beside}" if limit.beside else ""
        allowed = f"{limit.name} allows {counted(most, limit.unit)}"
        yield at, f"{allowed}, but the minimum counts of its pools need {needed}{beside}"


def _quota_limit(fleet: QuotaHolder, quota: Quota) -> SharedLimit:
    takes = {
        pool.name: amount
        for pool in fleet.pools
        if quota.counts(pool.machine, pool.source.kind)
        and (amount := node_takes(fleet, quota, pool) or 0)
    }
    least, most = _system(fleet, quota)
    return SharedLimit(
        name=f'quota "{quota.name}"',
        most=max(0, quota.limit - least),
        beside=least,
        unsure=most - least,
        unit=_SINGULAR[quota.unit],
        takes=takes,
    )


def node_takes(fleet: QuotaHolder, quota: Quota, pool: Pool, pods: int = 1) -> int | None:
    """Return a quota's use by one node of a pool, or None if it's unknown.

    `pods` is the number of pods with their own address, at least 1 for the driver's pod.
    """
    return _amount(fleet, quota, pool.machine, pods, pool.max_pods)


def _system(fleet: QuotaHolder, quota: Quota) -> tuple[int, int]:
    """Return the minimum and maximum use of a quota by the system pool, whose pods are unknown."""
    pool = fleet.system_pool
    if not quota.counts(pool.machine, "on-demand"):
        return 0, 0
    least, most = (_amount(fleet, quota, pool.machine, pods) or 0 for pods in (0, _MANY_PODS))
    return pool.count * least, pool.count * most


def _unknown(fleet: QuotaHolder, quota: Quota) -> Iterator[str]:
    """Yield machine types with an unknown use of a quota. Unknown machine types have other
    faults.
    """
    machines = [
        pool.machine for pool in fleet.pools if quota.counts(pool.machine, pool.source.kind)
    ]
    if quota.counts(fleet.system_pool.machine, "on-demand"):
        machines.append(fleet.system_pool.machine)
    yield from (
        each
        for each in machines
        if _machine(fleet, each) and _amount(fleet, quota, each, 1) is None
    )


def _amount(
    fleet: QuotaHolder, quota: Quota, name: str, pods: int, max_pods: int | None = None
) -> int | None:
    """Return a quota's use by one node with this number of pods, or None if it's unknown."""
    machine = _machine(fleet, name)
    if quota.unit == "nodes":
        return 1
    if machine is None:
        return None
    settings = AllocatableSettings(
        max_pods=max_pods, prefix_delegation=fleet.network.prefix_delegation
    )
    if quota.unit == "addresses":
        return cloud(fleet.cloud).subnet_addresses(machine, settings, pods)
    if quota.unit == "pod-addresses":
        return cloud(fleet.cloud).pod_range_addresses(settings)
    if quota.unit == "vcpus":
        return machine.vcpus
    return machine.accelerator.count if machine.accelerator is not None else 0


def _machine(fleet: QuotaHolder, name: str) -> Machine | None:
    try:
        return fleet.machine(name)
    except PlannerError:
        return None


def _reservations(fleet: QuotaHolder) -> tuple[SharedLimit, ...]:
    """Return the reservations with a known number of nodes. Pools can share a reservation."""
    limits = {}
    for pool in fleet.pools:
        source, nodes = pool.source, pool.bought_nodes
        if nodes is not None and source.reservation not in limits:
            sharing = [
                each.name for each in fleet.pools if each.source.reservation == source.reservation
            ]
            limits[source.reservation] = SharedLimit(
                # messages name the pools instead, because other fields must not contain the
                # reservation's ID
                name=f"the {_BOUGHT[source.kind]} of {listed(sharing)}",
                most=nodes,
                unit="node",
                takes=dict.fromkeys(sharing, 1),
            )
    return tuple(limits.values())


def _shared_maximums(fleet: QuotaHolder) -> Iterator[SharedLimit]:
    """Yield a limit for each group of pools that share one maximum."""
    for name in dict.fromkeys(pool.part_of for pool in fleet.pools if pool.part_of):
        parts = [pool for pool in fleet.pools if pool.part_of == name]
        yield SharedLimit(
            name=f'the maximum of pool "{name}"',
            most=max(pool.count.max for pool in parts),
            unit="node",
            takes={pool.name: 1 for pool in parts},
        )

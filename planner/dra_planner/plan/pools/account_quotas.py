"""Compare the nodes of a plan with the quotas of the account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dra_planner.clouds.account_quotas import AccountQuota
from dra_planner.fleet import Fleet, Quota
from dra_planner.fleet.limits import node_takes

# maximum limit of a fleet's quota; exports contain larger numbers for "unlimited"
_LARGEST: Final = 10**9


class QuotaUse(Struct, frozen=True, kw_only=True):
    """A fleet's use of a quota: `planned` nodes of the plan, and `at_most` with pools at their
    maximums.
    """

    quota: AccountQuota
    planned: int
    at_most: int

    @property
    def missing(self) -> int:
        """The amount by which the quota is too small for the plan; 0 if it's large enough."""
        return max(0, self.planned - self.quota.free)


def fleet_quotas(quotas: Sequence[AccountQuota]) -> list[Quota]:
    """Return the unused part of account quotas as quotas of a fleet."""
    return [
        Quota.model_validate(
            {
                "name": quota.name,
                "unit": quota.unit,
                "limit": min(quota.free, _LARGEST),
                "machines": list(quota.machines),
                "capacity": list(quota.capacity),
            }
        )
        for quota in quotas
    ]


def quota_uses(
    fleet: Fleet, quotas: Sequence[AccountQuota], nodes: Mapping[str, int]
) -> Iterator[QuotaUse]:
    """Yield the use of each quota that applies to nodes of a fleet. `nodes` are the plan's counts
    by pool.
    """
    most = {pool.name: pool.count.max for pool in fleet.pools}
    for account, quota in zip(quotas, fleet_quotas(quotas), strict=True):
        counting = [pool for pool in fleet.pools if quota.counts(pool.machine, pool.source.kind)]
        has_system = quota.counts(fleet.system_pool.machine, "on-demand")
        if not counting and not has_system:
            continue
        takes = {pool.name: node_takes(fleet, quota, pool) or 0 for pool in counting}
        system = _system_use(fleet, quota) if has_system else 0
        yield QuotaUse(
            quota=account,
            planned=system + sum(amount * nodes.get(name, 0) for name, amount in takes.items()),
            at_most=system + sum(amount * most[name] for name, amount in takes.items()),
        )


def pools_without_quota(fleet: Fleet, quotas: Sequence[AccountQuota]) -> list[str]:
    """Return the pools whose machine type has no known quota, so that it's unknown whether the
    account allows them.
    """
    rows = fleet_quotas(quotas)
    return [
        pool.name
        for pool in fleet.pools
        if not any(row.counts(pool.machine, pool.source.kind) for row in rows)
    ]


def _system_use(fleet: Fleet, quota: Quota) -> int:
    machine = fleet.machine(fleet.system_pool.machine)
    amount = machine.vcpus if quota.unit == "vcpus" else machine.gpu_count
    return (amount or 0) * fleet.system_pool.count

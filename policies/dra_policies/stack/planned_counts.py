"""Changes that set a pool's counts to the counts in its plan, as properties and values. They never
remove running nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_planner.clouds import PoolResource
from dra_planner.planfile import PlanFile, PoolRow
from dra_policies.stack.plan_record import find_record
from dra_policies.stack.pools import cloud_of_pool, declared_pools, zones_of_pool
from dra_policies.stack.resource import Resource
from dra_policies.view.stack_view import DeclaredPool


def counts_of_plan(resource: Resource, seen: Sequence[Resource]) -> dict[str, int]:
    """Return the counts to set, keyed by the path of their property. Empty if all counts are
    correct or unknown.

    `seen` are the earlier resources, including the recorded plan. The maximum and the desired count
    never become lower than the current value. Properties whose change would replace the pool don't
    change.
    """
    of_cloud, record = cloud_of_pool(resource), find_record(seen)
    if of_cloud is None or record is None or record.plan_file is None:
        return {}
    pool = next(declared_pools(resource, seen), None)
    row = next(
        (row for row in record.plan_file.pools if pool is not None and row.name == pool.name), None
    )
    if pool is None or row is None or pool.count_desired is None:
        return {}
    zones = zones_of_pool(resource, of_cloud, seen) if of_cloud.pool.zones else 1
    wanted = _wanted(resource, pool, row, record.plan_file, of_cloud.pool, zones)
    return {
        path: count for path, count in wanted.items() if resource.props.count(path, -1) != count
    }


def _wanted(
    resource: Resource,
    pool: DeclaredPool,
    row: PoolRow,
    plan_file: PlanFile,
    paths: PoolResource,
    zones: int | None,
) -> dict[str, int]:
    here = pool.count_desired or 0
    is_ours = not pool.leaves_desired and not plan_file.fleet.counts_change(row.name)
    desired = max(row.nodes.desired, here) if is_ours else here
    wanted: dict[str, int | None] = {}
    at = paths.desired[0]  # the other counts apply only when the pool is created
    if is_ours and resource.props.has(at):
        wanted[at] = _each(desired, zones if paths.desired_per_zone else 1)
    if not pool.is_fixed:
        limits = next(
            (each for each in paths.limits if resource.props.has(each.maximum)), paths.limits[0]
        )
        share = zones if limits.per_zone else 1
        wanted[limits.minimum] = _each(min(row.nodes.min, desired), share)
        wanted[limits.maximum] = _each(max(row.nodes.max, desired), share)
    if None in wanted.values():
        return {}  # this total isn't divisible by the number of zones
    return {path: count for path, count in wanted.items() if count is not None}


def _each(total: int, zones: int | None) -> int | None:
    return total // zones if zones and total % zones == 0 else None

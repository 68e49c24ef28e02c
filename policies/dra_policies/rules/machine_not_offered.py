"""Machines in a region or a zone that does not have them."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner import catalog
from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import DeclaredPool, StackView

MOST_NAMES = 6


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        of_cloud = cloud(pool.cloud)
        zones = pool.own.texts(of_cloud.pool.zones) if of_cloud.pool.zones else ()
        location = pool.own.text(of_cloud.pool.location) if of_cloud.pool.location else ""
        region = (of_cloud.region_of(location) or location if location else "") or view.region
        if not region:
            continue
        for zone in zones or ():
            if zone and of_cloud.region_of(zone) and of_cloud.zone_fault(zone, region):
                yield Finding(
                    message=f'{pool.title}: zone "{zone}" is not in the region {region} of its cluster',
                    fix=f"name zones of {region}",
                    urn=pool.urn,
                )
        yield from _in_region(pool, region)


def _in_region(pool: DeclaredPool, region: str) -> Iterator[Finding]:
    try:
        machine = catalog.machine(pool.cloud, pool.machine) if pool.machine else None
    except PlannerError:
        return
    if machine is not None and machine.regions and region not in machine.regions:
        listed = ", ".join(machine.regions[:MOST_NAMES])
        more = f" and {len(machine.regions) - MOST_NAMES} more" if len(machine.regions) > MOST_NAMES else ""
        yield Finding(
            message=f"{pool.title}: machines {machine.instance_type} are not offered in {region}, but in "
            f"{listed}{more}",
            fix=f"use a machine that {region} has (pulumi-dra catalog machines --region {region})",
            urn=pool.urn,
        )


RULE = Rule(
    id="machine-not-offered",
    says="The region and the zones of a pool have its machines.",
    why="No node is ever made: the pool fails to be created, or stays empty.",
    fix="Use a machine that the region has, and zones of the cluster's region.",
    level="advisory",
    needs="stack",
    check=check,
)

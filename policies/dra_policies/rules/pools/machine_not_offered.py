"""Machine types that aren't available in a region or zone."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_planner.wording import counted, either, listed, one_or_more
from dra_policies.rules.capacity.spot_limits import low_spot_limit
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.address_ranges import zones_of_subnets
from dra_policies.view.pool_machines import known_machine, requirements
from dra_policies.view.stack_view import DeclaredPool, StackView

MOST_NAMES = 6
ZONE = "topology.kubernetes.io/zone"


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        of_cloud = cloud(pool.cloud)
        zones = _zones(pool) or zones_of_subnets(view, pool)
        yield from _retired(pool)
        location = pool.own.text(of_cloud.pool.location) if of_cloud.pool.location else ""
        region = (of_cloud.region_of(location) or location if location else "") or view.region
        if not region:
            continue
        for zone in zones or ():
            if zone and of_cloud.region_of(zone) and of_cloud.zone_fault(zone, region):
                yield Finding(
                    message=f"{pool.title}: zone \"{zone}\" isn't in the cluster's region, "
                    f"{region}",
                    fix=f"use zones in {region}",
                    urn=pool.urn,
                )
        chosen = pool.own.texts(of_cloud.pool.zone_list) if of_cloud.pool.zone_list else ()
        if chosen and region in of_cloud.regions_without_zones:
            yield Finding(
                message=f"{pool.title}: {region} doesn't have availability zones, so "
                f"{of_cloud.title} rejects the pool",
                fix=f"remove {of_cloud.pool.zone_list}, or use another region",
                urn=pool.urn,
            )
        yield from _in_region(pool, region)
        yield from low_spot_limit(pool, region)
        if location == region:
            yield from _in_default_zones(view, pool, region)
        at = (location,) if location and of_cloud.region_of(location) else ()
        yield from _in_zones(
            pool, region, [zone for zone in dict.fromkeys((*(zones or ()), *at)) if zone]
        )


def _zones(pool: DeclaredPool) -> tuple[str | None, ...] | None:
    """Return the zones of a pool: its own list, or the zones that a Karpenter pool requires."""
    required = requirements(pool)
    if required:
        return required.get(ZONE, ())
    paths = cloud(pool.cloud).pool
    return pool.own.texts(paths.zones) if paths.zones else ()


def _retired(pool: DeclaredPool) -> Iterator[Finding]:
    machine = known_machine(pool.cloud, pool.machine)
    if machine is not None and not machine.is_offered:
        yield Finding(
            message=f"{pool.title}: machine type {machine.instance_type} is retired, so "
            f"{cloud(pool.cloud).title} can't create new nodes",
            fix="use a current machine type (`pulumi-dra catalog machines` lists them)",
            urn=pool.urn,
        )


def _in_zones(pool: DeclaredPool, region: str, zones: list[str]) -> Iterator[Finding]:
    """Yield the zones in the region that certainly don't offer the machine type."""
    machine = known_machine(pool.cloud, pool.machine)
    having = (
        [zone for zone in machine.zones if cloud(pool.cloud).region_of(zone) == region]
        if machine
        else []
    )
    without = [
        zone for zone in zones if cloud(pool.cloud).region_of(zone) == region and zone not in having
    ]
    if machine is not None and having and without:
        yield Finding(
            message=f"{pool.title}: machine type {machine.instance_type} isn't available in "
            f"{either(without)}, only in {listed(having)}",
            fix=f"use {one_or_more('zone', having)}",
            urn=pool.urn,
        )


def _in_default_zones(view: StackView, pool: DeclaredPool, region: str) -> Iterator[Finding]:
    """Yield a regional pool without zones, if too few zones of the region have its machine
    type.

    terraform-google-modules/terraform-google-kubernetes-engine issue 263.
    """
    of_cloud, machine = cloud(pool.cloud), known_machine(pool.cloud, pool.machine)
    cluster = next((each for each in view.declared if each.urn == pool.cluster_urn), None)
    path = of_cloud.pool.zones
    if machine is None or cluster is None or not path or pool.own.is_given(path) is not False:
        return
    having = sorted(zone for zone in machine.zones if of_cloud.region_of(zone) == region)
    if 0 < len(having) < of_cloud.default_zones and cluster.props.is_given(path) is False:
        yield Finding(
            message=f"{pool.title} doesn't set {path}, so {of_cloud.title} uses "
            f"{of_cloud.default_zones} zones of {region}, but machine type {machine.instance_type} "
            f"is available only in {listed(having)}",
            fix=f"set {path} to {one_or_more('zone', having)}",
            urn=pool.urn,
        )


def _in_region(pool: DeclaredPool, region: str) -> Iterator[Finding]:
    machine = known_machine(pool.cloud, pool.machine)
    if machine is not None and machine.regions and region not in machine.regions:
        shown, others = machine.regions[:MOST_NAMES], machine.regions[MOST_NAMES:]
        regions = listed((*shown, *([f"{counted(len(others), 'more region')}"] if others else [])))
        yield Finding(
            message=f"{pool.title}: machine type {machine.instance_type} isn't available in "
            f"{region}, only in {regions}",
            fix=f"use a machine type that is available in {region} (`pulumi-dra catalog machines "
            f"--region {region}` lists them)",
            urn=pool.urn,
        )


RULE = Rule(
    id="machine-not-offered",
    description="A pool's machine type isn't available in its region or zones.",
    why="The cloud can't create nodes, so the pool fails or stays empty.",
    fix="Use a machine type that is available in the cluster's region, and only zones in that region.",
    level="advisory",
    needs="stack",
    check=check,
)

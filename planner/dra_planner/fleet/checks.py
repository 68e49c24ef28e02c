"""Faults between fields of a fleet, and unknown names. All faults are reported together."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import WHOLE, ClusterSettings, PoolSettings, cloud, extended_resource_fault
from dra_planner.documents.tree import Location
from dra_planner.drivers import every_driver, nvidia
from dra_planner.errors import PlannerError
from dra_planner.fleet.limits import limit_faults
from dra_planner.fleet.plugin_checks import plugin_pool_faults
from dra_planner.fleet.pools import Pool
from dra_planner.fleet.schema import Fleet
from dra_planner.fleet.value_types import sentence_of
from dra_planner.releases import GATES, optional_version_fault

Fault = tuple[Location, str]


def check_together(fleet: Fleet) -> list[Fault]:
    """Return the faults between fields, and unknown names, as (location, sentence)."""
    faults = [
        *_cloud_faults(fleet),
        *_gate_faults(fleet),
        *_version_faults(fleet),
        *_driver_faults(fleet),
        *_catalog_faults(fleet),
        *_region_faults(fleet),
    ]
    if fleet.device_plugin:
        version = fleet.device_plugin.version
        faults += _catalog_fault(
            ("devicePlugin", "version"), lambda: nvidia.device_plugin_release(version)
        )
    if isinstance(fleet.network.zones, list):
        for at, zone in enumerate(fleet.network.zones):
            faults += _zone_fault(fleet, zone, ("network", "zones", at))
    faults += _name_faults(fleet)
    for index, pool in enumerate(fleet.pools):
        faults += _pool_faults(fleet, index, pool)
    return [*faults, *_driver_root_faults(fleet), *_limit_faults(fleet), *_redundancy_faults(fleet)]


def _cloud_faults(fleet: Fleet) -> Iterator[Fault]:
    """Yield the cluster settings that the cloud rejects."""
    settings: dict[str, object] = {
        "network.subnetIds": fleet.network.subnet_ids,
        "network.prefixDelegation": fleet.network.prefix_delegation,
        "devicePlugin": fleet.device_plugin,
    }
    for driver, options in fleet.drivers.installed():
        settings[f"drivers.{driver.name}"] = True
        settings |= {
            f"drivers.{driver.name}.{key}": value
            for key, value in options.model_dump(by_alias=True).items()
        }
    cluster = ClusterSettings(
        region=fleet.region,
        kubernetes=fleet.kubernetes,
        autoscaler=fleet.autoscaler,
        subnet_ids=tuple(fleet.network.subnet_ids),
        zone_count=_counted_zones(fleet),
        public_access_cidrs=tuple(fleet.endpoint.public_access_cidrs),
        set_keys=frozenset(key for key, value in settings.items() if value),
    )
    for key, sentence in cloud(fleet.cloud).cluster_faults(cluster):
        yield _location(key), sentence


def _counted_zones(fleet: Fleet) -> int | None:
    zones = fleet.network.zones
    return None if fleet.network.subnet_ids or isinstance(zones, list) else zones


def _location(key: str) -> Location:
    return tuple(int(part) if part.isdigit() else part for part in key.split("."))


def _catalog_faults(fleet: Fleet) -> Iterator[Fault]:
    """Yield duplicate rows of the fleet's catalog, and rows without the size of their
    machine type.
    """
    names = [row.machine for row in fleet.catalog]
    for index, row in enumerate(fleet.catalog):
        at: Location = ("catalog", index)
        if row.machine in names[:index]:
            yield (
                (*at, "machine"),
                f'an earlier row already describes "{row.machine}"; use one row per machine type',
            )
        drivers = [each.driver for each in row.drivers]
        for number, each in enumerate(row.drivers):
            if each.driver in drivers[:number]:
                yield (
                    (*at, "drivers", number, "driver"),
                    f'an earlier entry already describes "{each.driver}"',
                )
            devices = [device.name for device in each.devices]
            for position, name in enumerate(devices):
                if name in devices[:position]:
                    where: Location = (*at, "drivers", number, "devices", position, "name")
                    yield where, f'an earlier device already has the name "{name}"'


def _region_faults(fleet: Fleet) -> list[Fault]:
    """Report that no machine type is listed in the region, if the pools' machine types exist in
    other regions.
    """
    found = [_machine(fleet, pool)[0] for pool in fleet.pools]
    if cloud(fleet.cloud).region_fault(fleet.region) or not any(
        machine is not None and machine.regions for machine in found
    ):
        return []
    return _catalog_fault(
        ("region",), lambda: catalog.check_listed_region(fleet.cloud, fleet.region)
    )


def _gate_faults(fleet: Fleet) -> Iterator[Fault]:
    by_name = {gate.name: gate for gate in GATES.values()}
    for name, on in fleet.feature_gates.items():
        gate = by_name[name]
        if not gate.is_known(fleet.minor):
            yield (
                ("featureGates", name),
                f"exists only in Kubernetes 1.{gate.since} and later; remove it",
            )
        elif gate.is_locked(fleet.minor) and not on:
            fault = f"is always on in Kubernetes 1.{gate.locked} and later; remove it"
            yield ("featureGates", name), fault


def _version_faults(fleet: Fleet) -> Iterator[Fault]:
    for name, on in fleet.runtime_config.items():
        fault = optional_version_fault(name, fleet.minor, on=on)
        if fault:
            yield ("runtimeConfig", name), fault


def _driver_faults(fleet: Fleet) -> Iterator[Fault]:
    learned = any(row.drivers for row in fleet.catalog)
    if not learned and not any(True for _ in fleet.drivers.installed()):
        yield (
            ("drivers",),
            f"must contain at least one driver: {', '.join(each.name for each in every_driver())}",
        )
    for driver, options in fleet.drivers.installed():
        # the cloud's own message already states this
        refused = f"drivers.{driver.name}" in cloud(fleet.cloud).refused
        for key, error in driver.faults(options, cloud(fleet.cloud), fleet.features):
            if key or not refused:
                yield (
                    ("drivers", driver.name, *_location(key)) if key else ("drivers", driver.name),
                    sentence_of(error),
                )


def _name_faults(fleet: Fleet) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for index, pool in enumerate(fleet.pools):
        if pool.name == "system":
            yield (
                ("pools", index, "name"),
                'the name "system" is reserved for the pool without GPUs',
            )
        if pool.name in seen:
            yield (
                ("pools", index, "name"),
                f'pools[{seen[pool.name]}] already has the name "{pool.name}"',
            )
        seen.setdefault(pool.name, index)
    names = [device_class.name for device_class in fleet.device_classes]
    for at, name in enumerate(names):
        if name in names[:at]:
            yield ("deviceClasses", at, "name"), f'an earlier class already has the name "{name}"'
    for at, device_class in enumerate(fleet.device_classes):
        if device_class.extended_resource_name and (fault := extended_resource_fault(fleet.minor)):
            yield ("deviceClasses", at, "extendedResourceName"), fault


def _driver_root_faults(fleet: Fleet) -> Iterator[Fault]:
    """Yield images whose NVIDIA driver is in a different folder than in earlier pools, because all
    nodes share one DRA driver.
    """
    usual = cloud(fleet.cloud).driver_root
    first: tuple[int, str] | None = None
    for index, pool in enumerate(fleet.pools):
        root = pool.image.driver_root if pool.image else usual
        if first is None and root:
            first = index, root
        elif first is not None and root and root != first[1]:
            yield (
                ("pools", index, *(("image", "driverRoot") if pool.image else ("image",))),
                "the DRA driver expects the NVIDIA driver in the same folder on all nodes, but "
                f"pools[{first[0]}] has the driver in {first[1]}, and this pool has it in {root}",
            )


def _redundancy_faults(fleet: Fleet) -> Iterator[Fault]:
    """Yield pools with unknown zones, if the fleet plans for the loss of a zone."""
    if fleet.redundancy.zones and not isinstance(fleet.network.zones, list):
        for index, pool in enumerate(fleet.pools):
            if not pool.zones:
                yield (
                    ("pools", index, "zones"),
                    "must be set if redundancy.zones is set",
                )


def _limit_faults(fleet: Fleet) -> Iterator[Fault]:
    if fleet.quotas or any(pool.bought_nodes is not None for pool in fleet.pools):
        yield from limit_faults(fleet)


def _pool_faults(fleet: Fleet, index: int, pool: Pool) -> Iterator[Fault]:
    at: Location = ("pools", index)
    for position, zone in enumerate(pool.zones):
        yield from _zone_fault(fleet, zone, (*at, "zones", position))
    machine, unknown = _machine(fleet, pool)
    settings = PoolSettings(
        name=pool.name,
        machine=machine,
        capacity=pool.source,
        zones=tuple(pool.zones),
        autoscaler=fleet.autoscaler,
        min_nodes=pool.count.min,
        max_nodes=pool.count.max,
        max_pods=pool.max_pods,
        disk_gib=pool.disk_gib,
        local_ssds=pool.local_ssds,
        mig=pool.mig,
        plugin=fleet.plugin_serving(pool),
        huge_pages=pool.huge_pages.counts if pool.huge_pages else {},
        image=pool.image.facts if pool.image else None,
        is_served=machine is not None and _is_served(fleet, machine),
        labels=pool.labels,
        taint_keys=tuple(taint.key for taint in pool.taints),
        set_keys=frozenset(key for key, given in _optional_settings(pool) if given),
    )
    for key, sentence in cloud(fleet.cloud).pool_faults(settings):
        yield (*at, *_location(key)), sentence
    if pool.schedule is not None:
        yield from (((*at, "schedule"), sentence) for sentence in _schedule_faults(fleet, pool))
    if machine is None:
        yield (*at, "machine"), unknown
        return
    if fleet.region in catalog.listed_regions(fleet.cloud):
        yield from _catalog_fault(
            (*at, "machine"), lambda: catalog.check_region(machine, fleet.region)
        )
    if not pool.is_dra:
        yield from (
            ((*at, *_location(key)), sentence)
            for key, sentence in plugin_pool_faults(fleet, pool, machine)
        )
        return
    if pool.mig not in WHOLE and not any(driver.has_mig for driver, _ in fleet.drivers.installed()):
        yield (*at, "mig"), "none of the fleet's drivers partitions devices with MIG; remove mig"
    for driver, options in fleet.drivers.installed():
        for key, error in driver.pool_faults(options, cloud(fleet.cloud), machine, pool.mig):
            yield (*at, *_location(key)), sentence_of(error)


def _is_served(fleet: Fleet, machine: Machine) -> bool:
    learned = fleet.learned(machine.name)
    if learned is not None and learned.drivers:
        return True
    drivers = [driver for driver, _ in fleet.drivers.installed()]
    return any(driver.serves(machine) for driver in drivers if not driver.is_network)


def _optional_settings(pool: Pool) -> Iterator[tuple[str, object]]:
    """Yield the keys of a pool that not every cloud supports, and whether they are set."""
    yield "reserved", any(pool.reserved.amounts.values())
    yield "schedule", pool.schedule
    yield "localSsds", pool.local_ssds
    yield "localStorage", pool.local_storage != "none"
    yield "image", pool.image
    yield "hugePages", pool.huge_pages


def _schedule_faults(fleet: Fleet, pool: Pool) -> Iterator[str]:
    """Yield the reasons why a pool can't follow its schedule on any cloud."""
    if fleet.autoscaler != "none":
        does = "changes" if fleet.is_autoscaled else "keeps"
        yield (
            f"the fleet's autoscaler ({fleet.autoscaler}) {does} the node count; set autoscaler to "
            "none, or remove the schedule"
        )
    if pool.count.is_fixed:
        yield (
            f"a fixed count of {pool.count.max} can't follow a schedule; set min and max instead"
        )
    elif pool.source.kind == "capacity-block" and pool.count.min:
        yield ("a Capacity Block doesn't have nodes before it starts; set the minimum count to 0")


def _machine(fleet: Fleet, pool: Pool) -> tuple[Machine | None, str]:
    """Return the machine type of a pool, or None with the reason why it's unknown."""
    try:
        return fleet.machine(pool.machine), ""
    except PlannerError as error:
        return None, sentence_of(error)


def _catalog_fault(at: Location, look_up: Callable[[], object]) -> list[Fault]:
    try:
        look_up()
    except PlannerError as error:
        return [(at, sentence_of(error))]
    return []


def _zone_fault(fleet: Fleet, zone: str, at: Location) -> list[Fault]:
    fault = cloud(fleet.cloud).zone_fault(zone, fleet.region)
    return [(at, fault)] if fault else []

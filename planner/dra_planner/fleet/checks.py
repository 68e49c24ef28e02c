"""What is wrong between fields of a fleet, or unknown to the catalogue: all of it at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dra_planner import catalog
from dra_planner.catalog import DriverRelease, Machine
from dra_planner.documents.tree import Location
from dra_planner.errors import PlannerError
from dra_planner.fleet.pools import CapacityBlock, Pool
from dra_planner.fleet.schema import Fleet
from dra_planner.fleet.values import sentence_of
from dra_planner.releases import features_of

Fault = tuple[Location, str]
_ZONE = re.compile(r"(.*\d)(-(ai\d+)?[a-z]|[a-z])")  # us-east-1a, us-central1-a, us-central1-ai1a
_GKE_PODS = range(8, 257)  # docs.cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr
_GKE_KUBELET = "docs.cloud.google.com/kubernetes-engine/docs/how-to/node-system-config"


def check_together(fleet: Fleet) -> list[Fault]:
    """Return what is wrong between fields, or unknown to the catalogue: (location, sentence) for each fault."""
    driver = _driver(fleet)
    faults = [*_cloud_faults(fleet), *_driver_faults(fleet, driver)]
    if fleet.device_plugin:
        version = fleet.device_plugin.version
        faults += _catalog_fault(("devicePlugin", "version"), lambda: catalog.device_plugin_release(version))
    if isinstance(fleet.network.zones, list):
        for at, zone in enumerate(fleet.network.zones):
            faults += _zone_fault(fleet, zone, ("network", "zones", at))
    faults += _name_faults(fleet)
    for index, pool in enumerate(fleet.pools):
        faults += _pool_faults(fleet, index, pool, driver)
    return faults


def _driver(fleet: Fleet) -> DriverRelease | None:
    try:
        return catalog.driver_release(fleet.drivers.nvidia.version)
    except PlannerError:
        return None


def _cloud_faults(fleet: Fleet) -> Iterator[Fault]:
    """Yield what the other cloud has, and a zone where the region belongs."""
    network = fleet.network
    zone = _ZONE.fullmatch(fleet.region)
    if zone:
        yield ("region",), f'"{fleet.region}" is a zone; its region is "{zone[1]}"'
    if fleet.cloud == "eks":
        if fleet.autoscaler == "gke":
            remedy = "use none, cluster-autoscaler or karpenter"
            yield ("autoscaler",), f"an EKS cluster has no gke autoscaler; {remedy}"
        return
    if fleet.autoscaler in ("karpenter", "cluster-autoscaler"):
        yield ("autoscaler",), f"a GKE cluster is scaled by gke or by none, not by {fleet.autoscaler}"
    if network.subnet_ids:
        yield ("network", "subnetIds"), "subnetIds are for EKS; on GKE give zones"
    if network.prefix_delegation:
        yield ("network", "prefixDelegation"), "is for EKS; on GKE a pool's maxPods decides its addresses"
    if fleet.drivers.dranet and fleet.drivers.dranet.version:
        yield ("drivers", "dranet", "version"), "is for EKS; GKE manages its own DRANET: write dranet: true"


def _driver_faults(fleet: Fleet, driver: DriverRelease | None) -> Iterator[Fault]:
    at: Location = ("drivers", "nvidia")
    if driver is None:
        version = fleet.drivers.nvidia.version
        yield from _catalog_fault((*at, "version"), lambda: catalog.driver_release(version))
        return
    yield from _catalog_fault((*at, "version"), lambda: catalog.require_installable(driver))
    settings = fleet.drivers.nvidia.settings
    for key, error in catalog.driver_faults(fleet.cloud, driver, settings, features_of(fleet.minor)):
        yield (*at, key), sentence_of(error)


def _name_faults(fleet: Fleet) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for index, pool in enumerate(fleet.pools):
        if pool.name == "system":
            yield ("pools", index, "name"), 'the name "system" is taken by the pool without GPUs'
        if pool.name in seen:
            yield ("pools", index, "name"), f'the name "{pool.name}" is taken by pools[{seen[pool.name]}]'
        seen.setdefault(pool.name, index)
    names = [device_class.name for device_class in fleet.device_classes]
    for at, name in enumerate(names):
        if name in names[:at]:
            yield ("deviceClasses", at, "name"), f'the name "{name}" is taken by an earlier class'


def _pool_faults(fleet: Fleet, index: int, pool: Pool, driver: DriverRelease | None) -> Iterator[Fault]:
    at: Location = ("pools", index)
    if isinstance(pool.capacity, CapacityBlock) and fleet.cloud != "eks":
        yield (*at, "capacity"), "capacity blocks exist on EKS only; use a reservation"
    for position, zone in enumerate(pool.zones):
        yield from _zone_fault(fleet, zone, (*at, "zones", position))
    if fleet.cloud == "gke":
        if pool.max_pods is not None and pool.max_pods not in _GKE_PODS:
            yield (*at, "maxPods"), f"a GKE node takes {_GKE_PODS[0]} to {_GKE_PODS[-1]} pods, not {pool.max_pods}"
        if any(pool.reserved.amounts.values()):
            yield (*at, "reserved"), f"GKE lets nobody set kubelet's reservations ({_GKE_KUBELET}); use daemonPods"
    try:
        machine = catalog.machine(fleet.cloud, pool.machine)
    except PlannerError as error:
        yield (*at, "machine"), sentence_of(error)
        return
    if _ZONE.fullmatch(fleet.region) is None:
        yield from _catalog_fault((*at, "machine"), lambda: catalog.check_region(machine, fleet.region))
    yield from _mig_faults((*at, "mig"), fleet, pool, machine, driver)


def _mig_faults(
    at: Location, fleet: Fleet, pool: Pool, machine: Machine, driver: DriverRelease | None
) -> Iterator[Fault]:
    """Yield what is wrong with a layout, or with the driver's settings on this machine."""
    settings = fleet.drivers.nvidia.settings
    told = [] if driver is None else list(catalog.machine_faults(machine, driver, settings, pool.mig))
    yield from ((at, sentence_of(error)) for error in told)
    if not told:
        yield from _catalog_fault(at, lambda: catalog.check_mig_layout(machine, pool.mig))


def _catalog_fault(at: Location, look_up: Callable[[], object]) -> list[Fault]:
    try:
        look_up()
    except PlannerError as error:
        return [(at, sentence_of(error))]
    return []


def _zone_fault(fleet: Fleet, zone: str, at: Location) -> list[Fault]:
    letter = "[a-z]" if fleet.cloud == "eks" else r"-(ai\d+)?[a-z]"  # us-central1-ai1a is a zone for accelerators
    pattern = rf"{re.escape(fleet.region)}{letter}"
    if re.fullmatch(pattern, zone):
        return []
    example = f"{fleet.region}a" if fleet.cloud == "eks" else f"{fleet.region}-a"
    return [(at, f'zone "{zone}" is not in region {fleet.region}; write for example "{example}"')]

"""Driver settings with which several claims share a device, by the capacity that they request."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dra_planner.drivers import every_driver, nvidia
from dra_planner.errors import Diagnostic, PlannerError
from dra_planner.fleet import Fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.model import ClaimSpec
from dra_planner.offers import predict_offers
from dra_planner.releases import RELEASES, features_of
from dra_planner.wording import listed


class SharingFleet(Struct, frozen=True):
    """A fleet with driver settings that publish shareable devices, the drivers, the names of the
    devices' capacities, and the change as an imperative.
    """

    fleet: Fleet
    drivers: frozenset[str]
    capacities: frozenset[str]
    text: str


def sharing_fleets(fleet: Fleet) -> Iterator[SharingFleet]:
    """Yield the fleet with each driver setting that makes a device shareable.

    Each setting is tried with the fleet's versions, with the newest driver, and on old clusters
    with the first Kubernetes version that stores shares.
    """
    for setting in driver_proposals(fleet):
        for version in _versions(fleet):
            changes = tuple(map(read_change, (*version, *setting)))
            try:
                changed = change_fleet(fleet, changes)
                offers = predict_offers(changed, changed.features_at(changed.minor))
            # the version of the driver or Kubernetes doesn't have this setting
            except PlannerError:
                continue
            shared = [
                (published.driver, device)
                for offer in offers
                for published in offer.slices
                for device in published.devices
                if device.allow_multiple_allocations
            ]
            if shared:
                text = f"set {listed([f'`{change}`' for change in changes])} in the fleet"
                names = frozenset(name for _, device in shared for name in device.capacity)
                yield SharingFleet(changed, frozenset(each for each, _ in shared), names, text)


def capacity_name(name: str) -> str:
    """Return the name of a capacity without its driver's domain."""
    return name.rpartition("/")[2]


def requests_part(spec: ClaimSpec) -> bool:
    """Return whether a request of the claim is for an amount of a device's capacity."""
    ways = (way for each in spec.requests for way in each.alternatives)
    return any(way.capacity for way in ways)


def driver_proposals(fleet: Fleet) -> Iterator[tuple[str, ...]]:
    """Yield driver settings that may make a pod fit, for drivers that publish devices on one of the
    pools.
    """
    machines = [fleet.machine(pool.machine) for pool in fleet.pools]
    for driver in sorted(every_driver(), key=lambda each: each.is_network):
        if any(map(driver.serves, machines)):
            yield from driver.proposals


def _versions(fleet: Fleet) -> Iterator[tuple[str, ...]]:
    """Yield the version changes to try, smallest first: no change, the newest driver, and the first
    Kubernetes version that stores requests for capacity.
    """
    drivers: list[tuple[str, ...]] = [()]
    if fleet.drivers.of(nvidia.DRIVER) is not None:
        drivers.append((f"drivers.nvidia.version={nvidia.newest_driver_release().version}",))
    if fleet.features_at(fleet.minor).consumable_capacity:
        yield from drivers
        return
    yield from ((f"kubernetes=1.{first_minor_with_shares()}", *each) for each in drivers)


def first_minor_with_shares() -> int:
    """Return the first Kubernetes minor version that stores requests for capacity by default."""
    return next(each for each in sorted(RELEASES) if features_of(each).consumable_capacity)


def is_dropped_part(diagnostic: Diagnostic) -> bool:
    """Return whether a warning is about a request for capacity that the Kubernetes version
    ignores.
    """
    return diagnostic.code == "field-dropped" and diagnostic.place.path.endswith(".capacity")

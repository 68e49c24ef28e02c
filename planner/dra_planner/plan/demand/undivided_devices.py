"""Claims for a part of a device that get a whole device, because nodes don't share devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from dra_planner.claims.manifest_claims import WrittenClaim, written_claims
from dra_planner.claims.requested_drivers import driver_of_request
from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet
from dra_planner.manifests import Manifests
from dra_planner.model import DeviceClass
from dra_planner.offers import Offer
from dra_planner.plan.suggestion.device_sharing import (
    capacity_name,
    is_dropped_part,
    sharing_fleets,
)
from dra_planner.quantity import Quantity
from dra_planner.wording import listed

UNDIVIDED: Final = "device-not-shared"
_WHOLE: Final = "remove `capacity` from the request if each pod needs a whole device"


def find_undivided_devices(
    manifests: Manifests,
    fleet: Fleet | None,
    offers: Iterable[Offer],
    classes: Mapping[str, DeviceClass],
) -> Iterator[Diagnostic]:
    """Yield claims for a part of a device whose driver doesn't share a device among claims. Without
    a fleet, the fixes don't include settings of the driver.
    """
    known = {**classes, **manifests.classes}
    published = [each for offer in offers for each in offer.slices]
    shared = {
        each.driver
        for each in published
        if any(device.allow_multiple_allocations for device in each.devices)
    }
    whole = {each.driver for each in published} - shared
    capacities = {
        capacity_name(name)
        for each in published
        for device in each.devices
        for name in device.capacity
    }
    for claim in written_claims(manifests):
        parts = [
            (driver, way.capacity)
            for request in claim.spec.requests
            for way in request.alternatives
            if way.capacity and (driver := driver_of_request(way, known)) in whole
        ]
        if parts and claim.users:
            yield _undivided(claim, parts, fleet, capacities)


def with_sharing_fixes(
    manifests: Manifests, fleet: Fleet, offers: Iterable[Offer], classes: Mapping[str, DeviceClass]
) -> Iterator[Diagnostic]:
    """Yield the manifests' diagnostics, with driver settings added to fixes for shared devices.

    If the fleet's Kubernetes version ignores requests for a part of a device, a newer version isn't
    enough to share devices. The driver's settings must also change.
    """
    found = manifests.diagnostics
    if not any(map(is_dropped_part, found)) or fleet.features_at(fleet.minor).consumable_capacity:
        # if the plan and the fleet have different versions, the fixes don't change
        yield from found
        return
    known = {**classes, **manifests.classes}
    drivers: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    for claim in written_claims(manifests):
        ways = [way for request in claim.spec.requests for way in request.alternatives]
        drivers[claim.title] = {driver_of_request(way, known) for way in ways}
        names[claim.title] = {capacity_name(name) for way in ways for name in way.capacity}
    published = {each.driver for offer in offers for each in offer.slices}
    fleets = tuple(sharing_fleets(fleet))
    for each in found:
        title = each.message.partition(": ")[0]
        own, wanted = drivers.get(title, set()), names.get(title, set())
        text = next(
            (other.text for other in fleets if own & other.drivers and wanted <= other.capacities),
            "",
        )
        if is_dropped_part(each) and own & published:
            yield replace(each, fix=f"{text}, or {_WHOLE}" if text else _WHOLE)
        else:
            yield each


def _undivided(
    claim: WrittenClaim,
    parts: list[tuple[str, Mapping[str, Quantity]]],
    fleet: Fleet | None,
    published: set[str],
) -> Diagnostic:
    drivers = {driver for driver, _ in parts}
    amounts = dict.fromkeys(
        f'{amount} of capacity "{capacity_name(name)}"'
        for _, capacity in parts
        for name, amount in capacity.items()
    )
    names = {capacity_name(name) for _, capacity in parts for name in capacity}
    text = next(
        (
            each.text
            for each in (() if fleet is None else sharing_fleets(fleet))
            if drivers <= each.drivers and names <= each.capacities
        ),
        "",
    )
    effect = (
        "which the driver doesn't publish"
        if names - published
        else "but gets a whole device, because the driver doesn't let several claims share a device"
    )
    return Diagnostic(
        "warning",
        UNDIVIDED,
        f"{claim.title} requests {listed(amounts)}, {effect}",
        claim.place,
        f"{text}, or {_WHOLE}" if text else _WHOLE,
    )

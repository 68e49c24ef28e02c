"""The demand for a fleet's pools: pods that request devices of drivers that the fleet runs.

Pods without devices run elsewhere and are ignored. Pods with devices of other drivers are listed.
Only guards use this module, because a plan evaluates all pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.extended_resources import (
    IMPLICIT_PREFIX,
    extended_resources,
    without_resources,
)
from dra_planner.drivers import driver_of, known_classes
from dra_planner.fleet import Fleet
from dra_planner.model import (
    Blocked,
    ClaimSpec,
    Demand,
    DeviceClass,
    Member,
    PodSpec,
    Reason,
    Shape,
)
from dra_planner.offers import Offer
from dra_planner.plan.demand.missing_drivers import (
    OF_A_CLASS,
    driver_fix,
    driver_of_name,
    drivers_of_class,
)
from dra_planner.plan.demand.provided_devices import Provided
from dra_planner.wording import listed

OTHER_DRIVER: Final = "device-of-another-driver"
"""The code of the reason that pods request devices of a driver that the fleet doesn't run."""
NO_DRIVER: Final = "but no driver in the fleet provides such devices"
OTHER_DEVICES_FIX: Final = (
    "request devices that the fleet provides, or use --observed with a snapshot of nodes that have "
    "the requested devices"
)


class OtherDevices(Struct, frozen=True):
    """Pods that need devices of drivers that the fleet doesn't run. `names` are classes and
    resources.
    """

    member: Member
    names: tuple[str, ...]


class DeviceDemand(Struct, frozen=True):
    """The demand of pods that request the fleet's devices, and the excluded pods worth
    mentioning.
    """

    demand: Demand
    others: tuple[OtherDevices, ...] = ()
    # pods for which it's unknown whether they request devices
    not_described: tuple[Blocked, ...] = ()


def device_demand(
    demand: Demand, offers: Iterable[Offer], classes: Mapping[str, DeviceClass]
) -> DeviceDemand:
    """Return the part of a demand that is meant for these offers."""
    provided = Provided.of(offers)
    shapes: list[Shape] = []
    others: list[OtherDevices] = []
    for shape in demand.shapes:
        if not shape.claims and not extended_resources(shape.pod):
            if shape.per_node:
                shapes.append(shape)  # uses resources on every node
            continue
        names = names_of_others(shape.pod, _specs_of(shape), classes, provided)
        if names is None:
            shapes.append(_without_unknown_resources(shape, provided))
        else:
            others += (OtherDevices(member, names) for member in shape.members)
    blocked: list[Blocked] = []
    unknown: list[Blocked] = []
    for each in demand.blocked:
        if each.classes and all(
            name not in classes and provided.is_of_another_vendor(name) for name in each.classes
        ):
            others.append(
                OtherDevices(each.member, tuple(f"{OF_A_CLASS}{name}" for name in each.classes))
            )
        elif each.requests_devices:
            blocked.append(each)
        elif each.verdict == "cannot-tell":
            unknown.append(each)
    kept = replace(demand, shapes=tuple(shapes), blocked=tuple(blocked))
    return DeviceDemand(kept, tuple(others), tuple(unknown))


def block_other_drivers(
    demand: Demand, offers: Iterable[Offer], classes: Mapping[str, DeviceClass], fleet: Fleet
) -> Demand:
    """Return the demand without pods that need devices of drivers that the fleet doesn't run.

    These pods are blocked as *cannot tell*, because the fleet might not describe the nodes with
    these devices. Pods that also request the fleet's devices are planned without the unknown
    resources, and `find_unknown_resources` reports them.
    """
    provided = Provided.of(offers)
    kept: list[Shape] = []
    blocked: list[Blocked] = []
    for shape in demand.shapes:
        names = None
        if shape.claims or extended_resources(shape.pod):
            names = names_of_others(shape.pod, _specs_of(shape), classes, provided)
        if names is None:
            kept.append(_without_unknown_resources(shape, provided))
        else:
            blocked += (
                _of_another_driver(member, names, classes, fleet) for member in shape.members
            )
    known = tuple(_named(each, classes, provided, fleet) for each in demand.blocked)
    return replace(demand, shapes=tuple(kept), blocked=(*known, *blocked))


def _named(
    blocked: Blocked, classes: Mapping[str, DeviceClass], provided: Provided, fleet: Fleet
) -> Blocked:
    """Return the other driver's devices of pods with undefined classes, if all class names belong
    to other vendors.
    """
    names = [
        name
        for name in blocked.classes
        if name not in classes
        and (provided.is_of_another_vendor(name) or _is_elsewhere(name, fleet))
    ]
    if not names or len(names) < len(blocked.classes):
        return blocked
    titles = tuple(f"{OF_A_CLASS}{name}" for name in names)
    return _of_another_driver(blocked.member, titles, classes, fleet)


def _is_elsewhere(name: str, fleet: Fleet) -> bool:
    """Return whether the class with that name is created only on other clouds."""
    known = known_classes().get(name)
    return known is not None and known.cloud not in ("", fleet.cloud)


def _of_another_driver(
    member: Member, names: tuple[str, ...], classes: Mapping[str, DeviceClass], fleet: Fleet
) -> Blocked:
    of_driver = [driver_of_name(name, classes) for name in names]
    missing = {each.name: each for each in of_driver if each is not None}
    fixes = [driver_fix(each, fleet) for each in missing.values()]
    requested = [f"devices of {name}" if name.startswith(OF_A_CLASS) else name for name in names]
    reason = NO_DRIVER
    if not missing.keys().isdisjoint(driver.name for driver, _ in fleet.drivers.installed()):
        requested = list(names)
        reason = (
            f"which {listed(each.title for each in missing.values())} doesn't create in this fleet"
        )
    fix = (
        " and ".join(fixes)
        if len(missing) == 1 and None not in of_driver and all(fixes)
        else OTHER_DEVICES_FIX
    )
    return Blocked(
        member=member,
        verdict="cannot-tell",
        reason=Reason(
            code=OTHER_DRIVER,
            message=f"{member.workload} requests {listed(requested)}, {reason}",
            fix=fix,
            place=member.place,
        ),
    )


def _specs_of(shape: Shape) -> list[ClaimSpec]:
    """Return the contents of a shape's claims."""
    return [claim.spec for claim in shape.claims]


def names_of_others(
    pod: PodSpec,
    specs: Iterable[ClaimSpec],
    classes: Mapping[str, DeviceClass],
    provided: Provided,
) -> tuple[str, ...] | None:
    """Return the classes and resources of other drivers if a pod with these claims requests only
    those, or None.

    Drivers without a table count as the fleet's drivers, because they might publish devices on any
    node.
    """
    resources = sorted(extended_resources(pod))
    requests = [
        [exact.device_class_name for exact in request.alternatives]
        for spec in specs
        for request in spec.requests
    ]
    only_others = all(map(provided.is_of_others, resources)) and all(
        _is_of_others(name, classes, provided) for ways in requests for name in ways
    )
    if not only_others:
        resources = []
        requests = [
            ways
            for ways in requests
            if all(
                _is_of_others(each, classes, provided) and _is_undescribed(each, classes)
                for each in ways
            )
        ]
    names = [
        *(each.replace(IMPLICIT_PREFIX, OF_A_CLASS) for each in resources),
        *(f"{OF_A_CLASS}{name}" for ways in requests for name in ways),
    ]
    return tuple(dict.fromkeys(names)) or None


def _without_unknown_resources(shape: Shape, provided: Provided) -> Shape:
    unknown = provided.unknown_resources(shape.pod)
    return replace(shape, pod=without_resources(shape.pod, unknown)) if unknown else shape


def _is_undescribed(name: str, classes: Mapping[str, DeviceClass]) -> bool:
    """Return whether a class selects devices of drivers that the planner doesn't know."""
    return all(driver_of(driver) is None for driver in drivers_of_class(classes[name]))


def _is_of_others(name: str, classes: Mapping[str, DeviceClass], provided: Provided) -> bool:
    """Return whether a class only selects devices of other vendors' drivers that no pool runs."""
    device_class = classes.get(name)
    if device_class is None:
        return False
    named = drivers_of_class(device_class)
    return (
        bool(named)
        and named.isdisjoint(provided.drivers)
        and all(map(provided.is_of_another_vendor, named))
    )

"""The demand for a fleet's pools: pods that request devices of drivers that the fleet runs.

Pods without devices run elsewhere and are ignored. Pods with devices of other drivers are listed.
Only guards use this module, because a plan evaluates all pods.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims import extended_resources
from dra_planner.drivers import driver_of, is_other_resource, known_classes
from dra_planner.drivers.protocol.misspelled_names import is_misspelling
from dra_planner.fleet import Fleet
from dra_planner.model import Blocked, Demand, DeviceClass, Member, Reason, Shape
from dra_planner.offers import Offer
from dra_planner.plan.demand.missing_drivers import driver_fix, driver_of_name, drivers_of_class
from dra_planner.wording import listed

OTHER_DRIVER: Final = "device-of-another-driver"
"""The code of the reason that pods request devices of a driver that the fleet doesn't run."""
_OF_KUBERNETES: Final = frozenset({"kubernetes.io", "k8s.io"})
"""Domains of names that no driver can own. A resource with such a domain is a mistake."""


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
    offers = tuple(offers)
    drivers = {part.driver for offer in offers for part in offer.slices}
    counted = {name for offer in offers for name in offer.node.allocatable}
    own = _own_domains(drivers, counted)
    shapes: list[Shape] = []
    others: list[OtherDevices] = []
    for shape in demand.shapes:
        resources = extended_resources(shape.pod)
        if not shape.claims and not resources:
            if shape.per_node:
                shapes.append(shape)  # uses resources on every node
            continue
        names = _names_of_others(shape, resources - counted, classes, drivers, own)
        if names is None:
            shapes.append(shape)
        else:
            others += (OtherDevices(member, names) for member in shape.members)
    blocked: list[Blocked] = []
    unknown: list[Blocked] = []
    for each in demand.blocked:
        if each.classes and all(
            name not in classes and is_of_another_vendor(name, own) for name in each.classes
        ):
            others.append(
                OtherDevices(each.member, tuple(f"DeviceClass {name}" for name in each.classes))
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
    these devices.
    """
    offers = tuple(offers)
    drivers = {part.driver for offer in offers for part in offer.slices}
    counted = {name for offer in offers for name in offer.node.allocatable}
    own = _own_domains(drivers, counted)
    kept: list[Shape] = []
    blocked: list[Blocked] = []
    for shape in demand.shapes:
        resources = extended_resources(shape.pod)
        names = None
        if shape.claims or resources:
            names = _names_of_others(shape, resources - counted, classes, drivers, own)
        if names is None:
            kept.append(shape)
        else:
            blocked += (
                _of_another_driver(member, names, classes, fleet) for member in shape.members
            )
    known = tuple(_named(each, classes, own, fleet) for each in demand.blocked)
    return replace(demand, shapes=tuple(kept), blocked=(*known, *blocked))


def _named(
    blocked: Blocked, classes: Mapping[str, DeviceClass], own: set[str], fleet: Fleet
) -> Blocked:
    """Return the other driver's devices of pods with undefined classes, if all class names belong
    to other vendors.
    """
    names = [
        name
        for name in blocked.classes
        if name not in classes and (is_of_another_vendor(name, own) or _is_elsewhere(name, fleet))
    ]
    if not names or len(names) < len(blocked.classes):
        return blocked
    titles = tuple(f"DeviceClass {name}" for name in names)
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
    requested = [
        f"devices of {name}" if name.startswith("DeviceClass ") else name for name in names
    ]
    reason = "but no driver in the fleet provides such devices"
    if not missing.keys().isdisjoint(driver.name for driver, _ in fleet.drivers.installed()):
        requested = list(names)
        reason = (
            f"which {listed(each.title for each in missing.values())} doesn't create in this fleet"
        )
    fix = (
        " and ".join(fixes)
        if len(missing) == 1 and None not in of_driver and all(fixes)
        else "request devices that the fleet provides, or use --observed with a snapshot of "
        "nodes that have the requested devices"
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


def is_of_another_vendor(name: str, own: Collection[str]) -> bool:
    """Return whether the name of a class or driver ("gpu.intel.com") is outside the known domains.

    Names similar to a known domain count as misspelled.
    """
    domain = _domain(name)
    return "." in name and not any(domain == each or is_misspelling(domain, each) for each in own)


def _is_resource_of_others(resource: str, own: Collection[str]) -> bool:
    """Return whether no known driver of the own domains publishes the devices of a resource. The
    domain of a resource can be one word, such as rdma.
    """
    domain = _domain(resource.partition("/")[0])
    is_own = any(domain == each or is_misspelling(domain, each) for each in own)
    return not is_own or is_other_resource(resource)


def _own_domains(drivers: Iterable[str], counted: Iterable[str]) -> set[str]:
    """Return the domains of drivers, of the pools' extended resources, and of the extended
    resources of the same vendors' device plugins.
    """
    drivers = tuple(drivers)
    members = filter(None, map(driver_of, drivers))
    plugins = (name for each in members for name in each.plugin_resources)
    resources = (name.partition("/")[0] for name in (*counted, *plugins) if "/" in name)
    return {*_OF_KUBERNETES, *map(_domain, (*drivers, *resources))}


def _domain(name: str) -> str:
    return ".".join(name.split(".")[-2:])


def _names_of_others(
    shape: Shape,
    not_counted: frozenset[str],
    classes: Mapping[str, DeviceClass],
    drivers: set[str],
    own: set[str],
) -> tuple[str, ...] | None:
    """Return the classes and resources of other drivers if a shape requests only those, or None.

    Drivers without a table count as the fleet's drivers, because they might publish devices on any
    node.
    """
    resources = sorted(extended_resources(shape.pod))
    requests = [
        [exact.device_class_name for exact in request.alternatives]
        for claim in shape.claims
        for request in claim.spec.requests
    ]
    only_others = all(
        resource in not_counted and _is_resource_of_others(resource, own) for resource in resources
    ) and all(_is_of_others(name, classes, drivers, own) for ways in requests for name in ways)
    if not only_others:
        resources = []
        requests = [
            ways
            for ways in requests
            if all(
                _is_of_others(each, classes, drivers, own) and _is_undescribed(each, classes)
                for each in ways
            )
        ]
    names = [*resources, *(f"DeviceClass {name}" for ways in requests for name in ways)]
    return tuple(dict.fromkeys(names)) or None


def _is_undescribed(name: str, classes: Mapping[str, DeviceClass]) -> bool:
    """Return whether a class selects devices of drivers that the planner doesn't know."""
    return all(driver_of(driver) is None for driver in drivers_of_class(classes[name]))


def _is_of_others(
    name: str, classes: Mapping[str, DeviceClass], drivers: set[str], own: set[str]
) -> bool:
    """Return whether a class only selects devices of other vendors' drivers that no pool runs."""
    device_class = classes.get(name)
    if device_class is None:
        return False
    named = drivers_of_class(device_class)
    return (
        bool(named)
        and named.isdisjoint(drivers)
        and all(is_of_another_vendor(each, own) for each in named)
    )

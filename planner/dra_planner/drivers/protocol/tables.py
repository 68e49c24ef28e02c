"""Facts about drivers from tables: their clouds, classes, and node labels and taints."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from dra_planner.catalog import Machine
from dra_planner.catalog.tables import Row, read_table
from dra_planner.model import CelSelector, DeviceClass, ObjectMeta


class Availability(Struct, frozen=True):
    """Availability of a driver on a cloud: `chart` (installed from a chart), `managed` (by the
    cloud), or `no` (with the reason).
    """

    runs: str
    reason: str

    @property
    def is_managed(self) -> bool:
        return self.runs == "managed"


class KnownClass(Struct, frozen=True):
    """A DeviceClass that a driver's chart or a cloud creates.

    `driver` is the name in ResourceSlices. `cloud` is the only cloud with the class ("" means all
    clouds). `setting` is the fleet setting that installs the class ("" means that no setting is
    needed). `since` is the first NVIDIA driver version with the class. `selector` is its CEL
    expression ("" if the driver's module generates it). `extended_resource` is the resource name
    that the class serves.
    """

    name: str
    driver: str
    cloud: str
    setting: str
    since: str
    selector: str
    extended_resource: str

    def device_class(self, *, has_extended_resource: bool) -> DeviceClass:
        """Return the class as an object, without its extended resource for control planes that
        don't have the field.
        """
        extended = self.extended_resource if has_extended_resource else ""
        return device_class(self.name, self.selector, extended_resource=extended or None)


def availability(driver: str, cloud: str) -> Availability | None:
    """Return the availability of a driver ("amd") on a cloud, or None if it isn't in the tables."""
    return _availabilities().get((driver, cloud))


@cache
def known_classes() -> dict[str, KnownClass]:
    """Return the classes of every known driver, by name."""
    return {row["name"]: _class(row) for row in read_table("device_classes")}


def device_class(name: str, *selectors: str, extended_resource: str | None = None) -> DeviceClass:
    """Return a DeviceClass with these CEL selectors."""
    return DeviceClass(
        meta=ObjectMeta(name=name),
        selectors=tuple(CelSelector(text) for text in selectors),
        extended_resource_name=extended_resource,
    )


def has_accelerator(machine: Machine, vendor: str, kind: str) -> bool:
    """Return whether a machine type has accelerators of this vendor and kind, as named in the
    tables of machine types.
    """
    accelerator = machine.accelerator
    return accelerator is not None and (accelerator.vendor, accelerator.kind) == (vendor, kind)


@cache
def _availabilities() -> dict[tuple[str, str], Availability]:
    rows = read_table("driver_clouds")
    return {(row["driver"], row["cloud"]): Availability(row["runs"], row["reason"]) for row in rows}


def _class(row: Row) -> KnownClass:
    return KnownClass(
        row["name"],
        row["driver"],
        row["cloud"],
        row["setting"],
        row["since"],
        row.get("selector", ""),
        row.get("extended_resource", ""),
    )

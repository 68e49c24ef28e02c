"""DeviceClasses that drivers bring, and what of a fleet installs each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dra_planner.catalog.tables import read_table


@dataclass(frozen=True, slots=True)
class KnownClass:
    """A DeviceClass by its name: the driver that brings it, on which cloud alone ("": any), the setting of a fleet that
    installs it ("": none), and since which release of the NVIDIA driver.
    """

    name: str
    driver: str
    cloud: str
    setting: str
    since: str


@cache
def known_classes() -> dict[str, KnownClass]:
    """Return the classes of all drivers that are known here, by name."""
    return {
        row["name"]: KnownClass(row["name"], row["driver"], row["cloud"], row["setting"], row["since"])
        for row in read_table("device_classes")
    }

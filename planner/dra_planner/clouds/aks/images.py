"""Node images of AKS, and settings of its own DRA driver."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dra_planner.catalog import Machine
from dra_planner.errors import RejectedValue
from dra_planner.wording import either

IMAGE = "Ubuntu"


_OS_FAMILIES = {"Ubuntu": "ubuntu", "AzureLinux": "azurelinux"}


def image_fault(machine: Machine, image: str) -> RejectedValue | None:
    """Return why a VM size doesn't work with a node image (AKS doesn't install a driver), or None
    if no problem is known.
    """
    family = next((of for name, of in _OS_FAMILIES.items() if image.startswith(name)), None)
    listed = machine.operating_systems
    if family is None or not listed or any(each.startswith(family) for each in listed):
        return None
    known = [name for name, of in _OS_FAMILIES.items() if of in listed]
    return RejectedValue(
        f"AKS doesn't have a GPU driver for {machine.name} on {image}",
        f"use the {either(known)} image",
    )


_OFF = (None, False, "None", "none", "Disabled", "Unmanaged", "false")


def dra_settings(value: object, path: str) -> Iterator[str]:
    """Yield the paths of settings whose names mention DRA, and that aren't off."""
    for key, item in value.items() if isinstance(value, dict) else ():
        if re.search(r"(^|[a-z_])(dra|DRA|Dra)(?![a-z])", key):
            yield from () if item in _OFF else (f"{path}.{key}",)
        else:
            yield from dra_settings(item, f"{path}.{key}")

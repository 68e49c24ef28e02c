"""Image and boot disk of an imported pool."""

from __future__ import annotations

from typing import Final

from dra_planner.catalog import Machine
from dra_planner.clouds import DISK_GIB, Cloud
from dra_planner.clouds.foreign import ForeignPool

_NVIDIA: Final = "nvidia"


def note_image(pool: ForeignPool, machine: Machine, of_cloud: Cloud, notes: list[str]) -> None:
    """Add a note if the nodes have a different image than planned, or don't have the NVIDIA
    driver.
    """
    planned = of_cloud.gpu_images.get(machine.arch, "")
    if machine.accelerator is None or machine.accelerator.vendor != _NVIDIA:
        return
    if pool.image in of_cloud.images_without_driver:
        notes.append(
            f"pool {pool.name}: its image {pool.image} doesn't contain the NVIDIA driver, so its "
            f"nodes don't publish GPUs. The plan assumes {planned}. Use this planned image, or "
            "install the driver"
        )
    elif pool.image and pool.image.lower() != planned.lower():
        notes.append(
            f"pool {pool.name}: its image {pool.image} isn't imported. The plan assumes {planned}"
        )
    if pool.driver_off:
        notes.append(
            f"pool {pool.name}: {pool.driver_off} turns off NVIDIA driver installation. "
            "The plan assumes that the nodes have the driver. Make sure that this is correct"
        )


def imported_disk(pool: ForeignPool, of_cloud: Cloud, notes: list[str]) -> int:
    """Return the size of the boot disk in GiB. Add a note if the size differs from the pool's
    size.
    """
    size, allowed = pool.disk_gib, of_cloud.disk_gib
    if not size:  # 0 can stand for the default of the machine type
        notes.append(
            f"pool {pool.name}: its boot disk size isn't set, so the fleet uses {DISK_GIB} GiB"
        )
        return DISK_GIB
    if size not in allowed:
        nearest = min(max(size, allowed[0]), allowed[-1])
        notes.append(
            f"pool {pool.name}: its boot disk has {size} GiB. Boot disks in a fleet must have "
            f"{allowed[0]} to {allowed[-1]} GiB, so the generated fleet uses {nearest} GiB"
        )
        return nearest
    return size

"""The devices of a node before it exists: what each driver of the fleet publishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dra_planner.drivers import DriverNode
from dra_planner.model import ResourceSlice

if TYPE_CHECKING:  # reading a snapshot needs no fleet, and its schema takes long to import
    from dra_planner.fleet import Fleet


@dataclass(frozen=True, slots=True)
class PublishedSlices:
    """The slices of a node, driver by driver, and what they assume."""

    slices: tuple[ResourceSlice, ...]
    assumptions: tuple[str, ...]


def published_by(fleet: Fleet, node: DriverNode) -> PublishedSlices:
    """Return what the drivers of a fleet publish on a node; drivers of GPUs come before those of networks.

    Raises CatalogError or UnsupportedFeature for settings that can't work on its machine type.
    """
    installed = tuple(fleet.drivers.installed())
    slices = [found for driver, options in installed for found in driver.slices(options, node)]
    sentences = [text for driver, options in installed for text in driver.assumptions(options, node)]
    return PublishedSlices(tuple(slices), tuple(sentences))

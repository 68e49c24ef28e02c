"""Devices of a node before it exists: the devices that each driver of the fleet publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from dra_planner.clouds import PluginServing
from dra_planner.drivers import DriverNode, plugin_of
from dra_planner.model import ResourceSlice

if TYPE_CHECKING:  # reading a snapshot doesn't need a fleet, whose schema takes long to import
    from dra_planner.fleet import Fleet


class PublishedSlices(Struct, frozen=True):
    """The slices of a node by driver, and their assumptions."""

    slices: tuple[ResourceSlice, ...]
    assumptions: tuple[str, ...]
    units: Mapping[str, int] = {}  # extended resources of a device plugin


def published_by(
    fleet: Fleet, node: DriverNode, serving: PluginServing | None = None
) -> PublishedSlices:
    """Return the slices that a fleet's drivers publish on a node, with GPU drivers before network
    drivers.

    On nodes with a device plugin (`serving`), the drivers publish everything except the
    accelerators. A fleet's learned facts about a machine type take precedence over its drivers'
    predictions.

    Raises CatalogError or UnsupportedFeature for settings that can't work on its machine type.
    """
    learned = None if serving is not None else fleet.learned(node.machine.name)
    known = {each.driver: each for each in learned.drivers} if learned is not None else {}
    slices: list[ResourceSlice] = []
    sentences: list[str] = []
    for driver, options in fleet.drivers.installed():
        if serving is not None and driver.serves_accelerator(node.machine):
            continue
        if known.keys() & set(driver.domains):
            slices += (
                part
                for domain in driver.domains
                if domain in known
                for part in known[domain].slices(node.name)
            )
            continue
        slices += driver.slices(options, node)
        sentences += driver.assumptions(options, node)
    there = {part.driver for part in slices}
    slices += (
        part
        for domain, each in known.items()
        if domain not in there
        for part in each.slices(node.name)
    )
    if known:
        names = ", ".join(known)
        sentences.append(
            f"{node.machine.name}: the devices of {names} come from the fleet's own catalog"
        )
    plugin = plugin_of(node.machine) if serving is not None else None
    if plugin is None or serving is None:
        return PublishedSlices(tuple(slices), tuple(sentences))
    return PublishedSlices(tuple(slices), tuple(sentences), plugin.units(node.machine, serving))

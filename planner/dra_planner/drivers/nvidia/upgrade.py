"""Comparison of two NVIDIA driver versions: facts that a claim or class for the old version would
no longer find.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from dra_planner.drivers.nvidia.devices import GPU_DRIVER
from dra_planner.drivers.nvidia.gpus import gpus, mig_profiles
from dra_planner.drivers.nvidia.releases import DriverAttribute, DriverRelease
from dra_planner.drivers.nvidia.settings import PublishingSettings

ChangeKind = Literal[
    "attribute-renamed",
    "attribute-removed",
    "attribute-added",
    "capacity-changed",
    "names-changed",
    "config-refused",
    "devices-changed",
    "class-added",
    "class-removed",
    "class-changed",
    "chart-renamed",
    "not-installable",
    "no-way-back",
]
_SHARING = {"TimeSlicing": "TimeSlicingSettings", "MPS": "MPSSupport"}
_DEFAULTS = PublishingSettings()


class DriverChange(Struct, frozen=True):
    """One difference.

    `name` is the name in selectors ("gpu.nvidia.com/index"), a class, a chart, or a sharing
    strategy.

    `breaks` is set if something that worked before stops working, or changes its meaning without an
    error. `between` contains the capacities in MiB before and after (smaller first) of every device
    whose capacity changes. A threshold outside all these ranges has the same result with both
    versions. It's empty if any threshold might be affected. `before` is the old chart's name of its
    objects, if the name changes.
    """

    kind: ChangeKind
    name: str
    message: str
    fix: str = ""
    breaks: bool = True
    between: tuple[tuple[int, int], ...] = ()
    before: str = ""


def compare_releases(
    old: DriverRelease,
    new: DriverRelease,
    *,
    old_settings: PublishingSettings = _DEFAULTS,
    new_settings: PublishingSettings = _DEFAULTS,
) -> tuple[DriverChange, ...]:
    """Return the changes from one version, with its settings, to another, breaking changes
    first.
    """
    changes = [
        *_attribute_changes(old, new),
        *_device_changes(old, new, old_settings, new_settings),
        *_config_changes(old, new, old_settings, new_settings),
        *_class_changes(old, new),
        *_chart_changes(old, new),
    ]
    return tuple(sorted(changes, key=lambda change: not change.breaks))


def changes_read(changes: Iterable[DriverChange], reads: Iterable[str]) -> tuple[DriverChange, ...]:
    """Return the changes that affect a selector that reads these names.

    Names are qualified ("gpu.nvidia.com/index", "resource.kubernetes.io/pciBusID"). A capacity has
    a name like an attribute ("gpu.nvidia.com/memory").
    """
    names = frozenset(reads)
    return tuple(change for change in changes if change.breaks and change.name in names)


def _attribute_changes(old: DriverRelease, new: DriverRelease) -> list[DriverChange]:
    before = {attribute.qualified_name: attribute for attribute in reversed(old.attributes)}
    after = {attribute.qualified_name: attribute for attribute in reversed(new.attributes)}
    changes: list[DriverChange] = []
    successors: set[str] = set()
    for name in dict.fromkeys(attribute.qualified_name for attribute in old.attributes):
        if name in after:
            continue
        successor = _successor(before[name], new)
        if successor is None:
            changes.append(
                DriverChange(
                    "attribute-removed",
                    name,
                    f"{name} doesn't exist in driver version {new.version}, so selectors that use it fail "
                    "and match no devices",
                    fix="select by another attribute",
                )
            )
        else:
            successors.add(successor)
            changes.append(
                DriverChange(
                    "attribute-renamed",
                    name,
                    f"{name} is called {successor} in driver version {new.version}, so selectors that use "
                    "the old name fail",
                    fix=f"read {successor}",
                )
            )
    added = [name for name in after if name not in before and name not in successors]
    return changes + [
        DriverChange(
            "attribute-added", name, f"{name} is new in driver version {new.version}", breaks=False
        )
        for name in reversed(added)
    ]


def _successor(attribute: DriverAttribute, release: DriverRelease) -> str | None:
    """Return the name under which a version publishes the same value, or None if it doesn't publish
    the value.
    """
    for candidate in release.attributes:
        if (candidate.device, candidate.meaning) == (attribute.device, attribute.meaning):
            return candidate.qualified_name
    return None


def _device_changes(
    old: DriverRelease,
    new: DriverRelease,
    old_settings: PublishingSettings,
    new_settings: PublishingSettings,
) -> list[DriverChange]:
    changes = _memory_changes(old, new, old_settings, new_settings)
    if old.publishes_mig_parents != new.publishes_mig_parents:
        gone = not new.publishes_mig_parents
        message = (
            f"the driver {'no longer publishes' if gone else 'publishes'} a GPU in addition "
            "to its MIG instances"
        )
        changes.append(
            DriverChange(
                "devices-changed",
                GPU_DRIVER,
                message,
                fix="" if gone else "disable MIG",
                breaks=not gone,
            )
        )
    if old.mig_names != new.mig_names:
        message = (
            "the upgrade renames MIG devices, but allocated claims keep the old names until "
            "they're released"
        )
        changes.append(
            DriverChange(
                "names-changed", "device.name", message, fix="drain MIG nodes before the upgrade"
            )
        )
    return changes


def _memory_changes(
    old: DriverRelease,
    new: DriverRelease,
    old_settings: PublishingSettings,
    new_settings: PublishingSettings,
) -> list[DriverChange]:
    """Return how the published memory of a whole GPU changes: by partitions, and by shares."""
    changes: list[DriverChange] = []
    was, will_be = old_settings.has("DynamicMIG", old), new_settings.has("DynamicMIG", new)
    if was != will_be:
        smaller = (
            "shrinks to the memory of the largest MIG profile (H100: from 81559Mi to 81152Mi)"
            if will_be
            else "grows to the value that NVML reports (H100: from 81152Mi to 81559Mi)"
        )
        changes.append(
            DriverChange(
                "capacity-changed",
                f"{GPU_DRIVER}/memory",
                f"with DynamicMIG {'on' if will_be else 'off'}, the memory of a whole GPU "
                f"{smaller}",
                fix="in selectors, compare the memory with a value that is lower than both amounts",
                between=_memory_of_whole_gpus(),
            )
        )
    if bool(old_settings.shares(old)) != bool(new_settings.shares(new)):
        shared = bool(new_settings.shares(new))
        changes.append(
            DriverChange(
                "capacity-changed",
                f"{GPU_DRIVER}/memory",
                "claims share devices after the upgrade, so a claim gets only part of a GPU"
                if shared
                else "devices are no longer shared",
                fix="in each claim, request the memory or the number of shares that it needs"
                if shared
                else "",
            )
        )
    return changes


def _memory_of_whole_gpus() -> tuple[tuple[int, int], ...]:
    """Return the memory that a whole GPU publishes with and without dynamic MIG, in MiB, for every
    model that supports MIG.
    """
    found = set[tuple[int, int]]()
    for model in gpus():
        profiles = (
            [profile.memory_mib for profile in mig_profiles(model.id)] if model.mig_capable else []
        )
        largest = model.dynamic_mig_memory_mib or max(
            (size for size in profiles if size is not None), default=None
        )
        if largest is not None and model.memory_mib is not None:
            found.add((min(largest, model.memory_mib), max(largest, model.memory_mib)))
    return tuple(sorted(found))


def _config_changes(
    old: DriverRelease,
    new: DriverRelease,
    old_settings: PublishingSettings,
    new_settings: PublishingSettings,
) -> list[DriverChange]:
    """Return the sharing strategies that the new release rejects when it prepares a claim."""
    return [
        DriverChange(
            "config-refused",
            strategy,
            f"driver version {new.version} rejects sharing.strategy {strategy} unless its {gate} feature gate is "
            "on, so pods stay in ContainerCreating",
            fix=f"turn on the {gate} feature gate, or remove the configuration",
        )
        for strategy, gate in _SHARING.items()
        if _takes(old, old_settings, gate) and not _takes(new, new_settings, gate)
    ]


def _takes(release: DriverRelease, settings: PublishingSettings, gate: str) -> bool:
    """Return whether a version accepts a configuration that requires a feature gate. 25.3 accepts
    it without the gate.
    """
    return settings.has(gate, release) or not release.has_gate(gate)


def _class_changes(old: DriverRelease, new: DriverRelease) -> list[DriverChange]:
    changes: list[DriverChange] = []
    names = {"gpu": "gpu.nvidia.com", "mig": "mig.nvidia.com", "vfio": "vfio.gpu.nvidia.com"}
    for kind, name in names.items():
        if kind in new.device_classes and kind not in old.device_classes:
            changes.append(
                DriverChange(
                    "class-added",
                    name,
                    f"driver version {new.version} also installs DeviceClass {name}",
                    breaks=False,
                )
            )
        if kind in old.device_classes and kind not in new.device_classes:
            changes.append(
                DriverChange(
                    "class-removed",
                    name,
                    f"driver version {new.version} no longer installs DeviceClass {name}",
                    fix="add a manifest for this DeviceClass",
                )
            )
    if old.has_extended_resource != new.has_extended_resource:
        gained = new.has_extended_resource
        message = (
            "DeviceClass gpu.nvidia.com sets extendedResourceName to nvidia.com/gpu, so in "
            "Kubernetes 1.36 and later, pods that request nvidia.com/gpu can run on DRA nodes"
            if gained
            else (
                "DeviceClass gpu.nvidia.com no longer serves nvidia.com/gpu, so pods that request "
                "nvidia.com/gpu need a device plugin"
            )
        )
        changes.append(DriverChange("class-changed", "gpu.nvidia.com", message))
    return changes


def _chart_changes(old: DriverRelease, new: DriverRelease) -> list[DriverChange]:
    changes: list[DriverChange] = []
    if old.chart != new.chart:
        changes.append(
            DriverChange(
                "chart-renamed",
                new.chart,
                f"the chart is now called {new.chart} and is published at {new.repository}, so an "
                "upgrade creates every object a second time",
                fix=f"set nameOverride to {old.chart} on the first upgrade, and apply the "
                "CRDs yourself",
                before=old.chart,
            )
        )
    if old.is_oci and not new.is_oci:
        changes.append(
            DriverChange(
                "no-way-back",
                new.chart,
                f"driver version {new.version} can't read the prepared claims that version {old.version} stores on "
                "nodes, so a downgrade isn't supported",
                fix="replace the nodes in the DRA pools",
            )
        )
    if not new.is_installable and new.version != old.version:
        changes.append(
            DriverChange(
                "not-installable",
                new.chart,
                f"driver version {new.version} can't be installed, because {new.fault}",
            )
        )
    return changes

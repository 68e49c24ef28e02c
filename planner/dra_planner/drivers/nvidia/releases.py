"""Versions of the NVIDIA DRA driver and of the device plugin: their charts and published
devices.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.catalog.tables import Provenance, Row, flag, provenance, read_table
from dra_planner.errors import CatalogError
from dra_planner.records import equality
from dra_planner.wording import use_one_of

AttributeValueRule = Literal[
    "fixed", "model", "minor", "node", "node-wide", "device", "parent", "topology"
]


_PATCH: Final = re.compile(r"v?(?P<minor>\d+\.\d+)\.(?P<patch>\d+)")
_BEHIND_GATES: Final = {
    "FabricManagerPartitioning": (
        "gpuModuleID",
        "partition1",
        "partition2",
        "partition4",
        "partition8",
    ),
}
"""Attributes of whole GPUs that nodes publish only if a feature gate is on, and the Fabric Manager
responds.

Source: kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/deviceinfo.go@9593204.
"""


class DriverAttribute(Struct, frozen=True):
    """An attribute that a release publishes on one kind of device.

    `rule` describes the origin of its value: fixed by the driver, the GPU model, the minor number,
    the machine's PCIe topology, or only the node. Values from the node are completely unknown
    (node), equal on all its devices (node-wide), different on each device (device), or equal on one
    GPU and its parts but different between GPUs (parent).
    """

    device: str  # gpu, mig, vfio, channel, or daemon
    name: str  # a name without a domain belongs to the driver's own domain
    type: Literal["string", "int", "bool", "version"]
    rule: AttributeValueRule
    meaning: str  # the same text in versions that spell the attribute differently

    @property
    def qualified_name(self) -> str:
        """The name with its domain: "gpu.nvidia.com/uuid"."""
        if "/" in self.name:
            return self.name
        domain = (
            "compute-domain.nvidia.com"
            if self.device in ("channel", "daemon")
            else "gpu.nvidia.com"
        )
        return f"{domain}/{self.name}"


@equality(unhashed=("feature_gates",))
class DriverRelease(Struct, frozen=True, kw_only=True):
    """A release of the NVIDIA DRA driver. `order` grows with time: 0.4 is newer than 25.12."""

    version: str
    order: int
    generation: str  # "25.3", "25.8", "25.12", "0.4", "0.5"
    released: str
    chart: str
    repository: str  # https://… (a Helm repository) or oci://…
    resource_apis: tuple[str, ...]
    is_installable: bool  # on Kubernetes 1.34 and later
    feature_gates: Mapping[str, bool]  # whether each feature gate is on by default
    device_classes: tuple[str, ...]  # gpu, mig, vfio
    has_extended_resource: bool  # the class gpu.nvidia.com sets extendedResourceName nvidia.com/gpu
    # the driver publishes a GPU in addition to its MIG instances, so the scheduler can allocate
    # both
    publishes_mig_parents: bool
    mig_names: Literal["id-start-size", "profile-id-start"]
    fault: str  # reason why it can't be installed, or ""
    attributes: tuple[DriverAttribute, ...]
    provenance: Provenance
    # the version from which these facts come, if this patch version isn't in the tables
    known_as: str = ""

    @property
    def is_oci(self) -> bool:
        return self.repository.startswith("oci://")

    @property
    def chart_reference(self) -> str:
        """The chart's name for Helm: the complete OCI address, or the name in a repository."""
        return f"{self.repository}/{self.chart}" if self.is_oci else self.chart

    def has_gate(self, name: str) -> bool:
        return name in self.feature_gates

    def behind_gate(self, gate: str) -> tuple[str, ...]:
        """Return the attributes (without a domain) that some nodes publish if a feature gate is on.

        The result is empty for other gates.
        """
        return _BEHIND_GATES.get(gate, ()) if self.has_gate(gate) else ()

    @property
    def own_names(self) -> frozenset[str]:
        """The attribute names of all its devices, with any feature gates, and without the driver's
        domain.
        """
        gated = (name for gate in self.feature_gates for name in self.behind_gate(gate))
        return frozenset((*(attribute.name for attribute in self.attributes), *gated))

    def attributes_of(self, device: str) -> tuple[DriverAttribute, ...]:
        """Return the attributes of one kind of device, in table order."""
        return tuple(attribute for attribute in self.attributes if attribute.device == device)


class DevicePluginRelease(Struct, frozen=True, kw_only=True):
    """A release of the NVIDIA device plugin's chart."""

    version: str
    chart: str
    repository: str
    provenance: Provenance


@cache
def driver_releases() -> tuple[DriverRelease, ...]:
    """Return every release of the NVIDIA DRA driver, oldest first."""
    rows = read_table("driver_releases")
    order = {row["version"]: index for index, row in enumerate(rows)}
    return tuple(_driver(row, order) for row in rows)


def newest_driver_release() -> DriverRelease:
    """Return the newest version of the NVIDIA DRA driver that Kubernetes 1.34 and later support."""
    return [release for release in driver_releases() if release.is_installable][-1]


@cache
def driver_release(version: str) -> DriverRelease:
    """Return a release of the NVIDIA DRA driver, for example "25.8.1" or "v25.8.1".

    Raises CatalogError. A patch version that isn't in the tables gets the facts of the newest known
    patch of its minor version (`known_as`). A release that can't be installed on Kubernetes 1.34 or
    later has `is_installable` set to False, and `require_installable` rejects it.
    """
    for release in driver_releases():
        if release.version == version.removeprefix("v"):
            return release
    patch = _PATCH.fullmatch(version)
    of_minor = [
        each
        for each in driver_releases()
        if patch is not None and each.generation == patch["minor"]
    ]
    if (
        patch is not None
        and of_minor
        and int(patch["patch"]) > int(of_minor[-1].version.rpartition(".")[2])
    ):
        return replace(
            of_minor[-1], version=version.removeprefix("v"), known_as=of_minor[-1].version
        )
    known = ", ".join(release.version for release in driver_releases())
    raise CatalogError(
        f'"{version}" isn\'t a known version of the NVIDIA DRA driver',
        fix=f"use one of these versions (0.4 is newer than 25.12): {known}",
    )


def require_installable(release: DriverRelease) -> DriverRelease:
    """Return the version. Raises CatalogError if Kubernetes 1.34 and later reject its chart."""
    if release.is_installable:
        return release
    good = ", ".join(other.version for other in driver_releases() if other.is_installable)
    raise CatalogError(
        (
            f"version {release.version} of the NVIDIA DRA driver can't be installed, because "
            f"{release.fault}"
        ),
        fix=f"use one of these versions (0.4 is newer than 25.12): {good}",
    )


@cache
def device_plugin_releases() -> tuple[DevicePluginRelease, ...]:
    """Return every known release of the device plugin's chart, oldest first."""
    return tuple(
        DevicePluginRelease(
            version=row["version"],
            chart=row["chart"],
            repository=row["repository"],
            provenance=provenance(row),
        )
        for row in read_table("device_plugin_releases")
    )


def device_plugin_release(version: str) -> DevicePluginRelease:
    """Return a version of the device plugin's chart. Raises CatalogError with the known
    versions.
    """
    for release in device_plugin_releases():
        if release.version == version.removeprefix("v"):
            return release
    raise CatalogError(
        f'"{version}" isn\'t a known version of the NVIDIA device plugin',
        fix=use_one_of("version", [each.version for each in device_plugin_releases()]),
    )


def _driver(row: Row, order: Mapping[str, int]) -> DriverRelease:
    version = row["version"]
    gates = (gate.partition(":") for gate in row["feature_gates"].split())
    return DriverRelease(
        version=version,
        order=order[version],
        generation=row["generation"],
        released=row["released"],
        chart=row["chart"],
        repository=row["repository"],
        resource_apis=tuple(row["resource_apis"].split()),
        is_installable=bool(flag(row, "installable")),
        feature_gates={name: value == "on" for name, _, value in gates},
        device_classes=tuple(row["device_classes"].split()),
        has_extended_resource=bool(flag(row, "extended_resource")),
        publishes_mig_parents=bool(flag(row, "mig_parents")),
        mig_names=row["mig_names"],  # type: ignore[arg-type]  # tests check the column
        fault=row["faults"],
        attributes=tuple(
            _attribute(a) for a in read_table("driver_attributes") if _published(a, version, order)
        ),
        provenance=provenance(row),
    )


def _published(row: Row, version: str, order: Mapping[str, int]) -> bool:
    after = order[row["since"]] <= order[version]
    return after and (not row["until"] or order[version] <= order[row["until"]])


def _attribute(row: Row) -> DriverAttribute:
    kind, value = row["type"], row["value"]
    return DriverAttribute(row["device"], row["attribute"], kind, value, row["meaning"])  # type: ignore[arg-type]  # tests check the columns

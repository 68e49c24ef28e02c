"""Settings of the NVIDIA driver, and the settings that can't work with a driver version, a machine
type, a cloud, or a Kubernetes version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from msgspec import Struct

from dra_planner.catalog.machines import Machine
from dra_planner.clouds import WHOLE
from dra_planner.drivers.nvidia.releases import DriverRelease, driver_release, driver_releases
from dra_planner.errors import CatalogError, PlannerError, UnsupportedFeature
from dra_planner.records import equality
from dra_planner.releases import Features
from dra_planner.wording import use_one_of

_EXCLUSIVE = (  # first version in which the driver doesn't start with both gates
    ("DynamicMIG", "PassthroughSupport", "25.12.0"),
    ("DynamicMIG", "NVMLDeviceHealthCheck", "25.12.0"),
    ("DynamicMIG", "MPSSupport", "25.12.0"),
    ("PassthroughSupport", "NVMLDeviceHealthCheck", "0.4.0"),
    ("MPSSupport", "NVMLDeviceHealthCheck", "0.5.0"),
)
_NEEDED = {
    "ComputeDomainCliques": "IMEXDaemonsWithDNSNames",
    "DeviceMetadata": "PassthroughSupport",
}


@equality(unhashed=("gates",))
class PublishingSettings(Struct, frozen=True, kw_only=True):
    """Helm values of the NVIDIA driver that affect the published devices of a node.

    `gates` are the chart's `featureGates`. `consumable_shares` is its value of that name ("",
    "disabled", "memory", "unlimited", or a positive number). `compute_domains` is its
    `resources.computeDomains.enabled`.
    """

    gates: Mapping[str, bool] = {}
    consumable_shares: str = ""
    compute_domains: bool = False

    def has(self, gate: str, driver: DriverRelease) -> bool:
        """Return True if a feature gate of the driver is on, and False if it's off or if the
        version doesn't have the gate.
        """
        return self.gates.get(gate, driver.feature_gates.get(gate, False))

    def shares(self, driver: DriverRelease) -> str:
        """Return how claims share devices: "memory", "unlimited", a number, or "" if they don't
        share.
        """
        chosen = self.consumable_shares.strip()
        return chosen if self.has("ConsumableShares", driver) and chosen != "disabled" else ""


def unknown_gate(gate: str, driver: DriverRelease) -> CatalogError:
    """Return the error for a gate that a version doesn't have. It names the version that adds the
    gate, the most similar gate, or all gates.
    """
    near = get_close_matches(gate, list(driver.feature_gates), 1)
    later = [
        each for each in driver_releases() if each.has_gate(gate) and each.order > driver.order
    ]
    if later:
        return CatalogError(
            (
                f"version {driver.version} of the NVIDIA DRA driver doesn't have the feature gate "
                f'"{gate}"'
            ),
            fix=f"use version {min(later, key=lambda each: each.order).version} or later, or "
            "remove the feature gate",
        )
    return CatalogError(
        (
            f"version {driver.version} of the NVIDIA DRA driver doesn't have the feature gate \""
            f'{gate}"'
        ),
        fix=f"did you mean {near[0]}?"
        if near
        else use_one_of("feature gate", driver.feature_gates)
        if driver.feature_gates
        else "remove the feature gate",
    )


def gate_faults(
    driver: DriverRelease, settings: PublishingSettings
) -> Iterator[tuple[str, CatalogError]]:
    """Yield the feature gates that a version doesn't have, or with which it fails to start: (gate,
    error).

    Source: kubernetes-sigs/dra-driver-nvidia-gpu:pkg/featuregates/featuregates.go@v0.4.1.
    """
    yield from (
        (gate, unknown_gate(gate, driver)) for gate in settings.gates if not driver.has_gate(gate)
    )
    for one, other, since in _EXCLUSIVE:
        together = settings.has(one, driver) and settings.has(other, driver)
        if together and driver.order >= driver_release(since).order:
            message = f"the mutually exclusive feature gates {one} and {other} are both on"
            yield other, CatalogError(message, fix="turn off one of the two gates")
    for gate, needed in _NEEDED.items():
        if settings.has(gate, driver) and not settings.has(needed, driver):
            yield (
                gate,
                CatalogError(
                    f"the {gate} feature gate needs {needed}",
                    fix=f"turn {needed} on, or turn both off",
                ),
            )


def driver_faults(
    driver: DriverRelease, settings: PublishingSettings, features: Features
) -> Iterator[tuple[str, PlannerError]]:
    """Yield settings that can't work on any node, each with the fleet's key: "featureGates",
    "consumableShares".
    """
    yield from (
        ("featureGates", error) for error in _release_gate_faults(driver, settings, features)
    )
    yield from (("consumableShares", error) for error in share_faults(driver, settings))
    if settings.shares(driver) and not features.consumable_capacity:
        yield (
            "consumableShares",
            UnsupportedFeature(
                "shared devices need the allowMultipleAllocations field, which Kubernetes "
                f"{features.version} discards (the DRAConsumableCapacity feature gate is off)",
                fix="use Kubernetes 1.36 or later for shared devices",
            ),
        )


def _release_gate_faults(
    driver: DriverRelease, settings: PublishingSettings, features: Features
) -> Iterator[PlannerError]:
    """Yield the errors in feature gates for a driver version and a Kubernetes version."""
    yield from (error for _, error in gate_faults(driver, settings))
    if settings.has("DRAListTypeAttributes", driver) and not features.list_attributes:
        yield UnsupportedFeature(
            f"Kubernetes {features.version} rejects the driver's list attributes, because the "
            "cluster's DRAListTypeAttributes feature gate is off",
            fix="turn off the DRAListTypeAttributes feature gate in the driver too",
        )
    if settings.has("DynamicMIG", driver) and not features.partitionable_devices:
        yield UnsupportedFeature(
            f"DynamicMIG needs shared counters, which Kubernetes {features.version} discards (the "
            "DRAPartitionableDevices feature gate is off)",
            fix="use Kubernetes 1.36 or later for DynamicMIG",
        )


def machine_faults(
    machine: Machine, driver: DriverRelease, settings: PublishingSettings, mig: str
) -> Iterator[PlannerError]:
    """Yield settings that can't work on a machine type: a MIG configuration that conflicts with the
    driver's settings.
    """
    if settings.has("DynamicMIG", driver):
        if mig not in (*WHOLE, "all-enabled"):
            yield CatalogError(
                "with DynamicMIG, the driver removes the instances that the MIG configuration "
                f'"{mig}" creates',
                fix="remove the MIG configuration, or turn DynamicMIG off",
            )
    elif mig not in WHOLE and driver.publishes_mig_parents:
        yield CatalogError(
            f"version {driver.version} of the NVIDIA DRA driver publishes both a GPU and its MIG "
            "instances (dra-driver-nvidia-gpu issue 719)",
            fix="use version 25.8.1 or later",
        )
    if (
        driver.generation == "25.3"
        and machine.accelerator
        and machine.accelerator.gpu == "rtx-pro-6000-server"
    ):
        yield CatalogError(
            f"version {driver.version} of the NVIDIA DRA driver doesn't support this GPU's MIG "
            "profiles, so the driver stops",
            fix="use version 25.8.1 or later",
        )


def share_faults(driver: DriverRelease, settings: PublishingSettings) -> Iterator[PlannerError]:
    """Yield the reasons why a driver version can't share devices as configured, on any Kubernetes
    version.
    """
    chosen = settings.consumable_shares.strip()
    if chosen not in ("", "disabled", "memory", "unlimited") and not re.fullmatch(
        r"[1-9]\d*", chosen
    ):
        yield CatalogError(
            f'"{chosen}" isn\'t a valid sharing mode',
            fix='use "memory", "unlimited", or a positive number',
        )
    elif chosen not in ("", "disabled") and not settings.has("ConsumableShares", driver):
        yield UnsupportedFeature(
            f"version {driver.version} of the NVIDIA DRA driver shares devices only if the "
            "ConsumableShares feature gate is on"
            if driver.has_gate("ConsumableShares")
            else f"version {driver.version} of the NVIDIA DRA driver doesn't support device sharing",
            fix="turn on the ConsumableShares feature gate"
            if driver.has_gate("ConsumableShares")
            else "use version 0.5.0 or later, which is newer than 25.12.0",
        )

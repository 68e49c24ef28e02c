"""How a driver is set up on a node, and which of that cannot work together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_planner.catalog import DriverRelease, Machine
from dra_planner.errors import CatalogError, UnsupportedFeature
from dra_planner.releases import Features

_EXCLUSIVE = (
    ("DynamicMIG", "PassthroughSupport"),
    ("DynamicMIG", "NVMLDeviceHealthCheck"),
    ("DynamicMIG", "MPSSupport"),
    ("PassthroughSupport", "NVMLDeviceHealthCheck"),
)
WHOLE = ("none", "all-disabled")
_SHARING_GATES = ("TimeSlicingSettings", "MPSSupport", "ConsumableShares")


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSettings:
    """Helm values of the NVIDIA driver that change what a node publishes.

    `gates` are the chart's `featureGates`; `consumable_shares` its value of that name ("", "disabled",
    "memory", "unlimited" or a positive number); `compute_domains` its `resources.computeDomains.enabled`.
    """

    gates: Mapping[str, bool] = field(default_factory=dict, hash=False)
    consumable_shares: str = ""
    compute_domains: bool = False

    def has(self, gate: str, driver: DriverRelease) -> bool:
        """Whether a feature gate of the driver is on; False where the release has no such gate."""
        return self.gates.get(gate, driver.feature_gates.get(gate, False))

    def shares(self, driver: DriverRelease) -> str:
        """How devices are shared: "memory", "unlimited", a number, or "" where they are not."""
        chosen = self.consumable_shares.strip()
        return chosen if self.has("ConsumableShares", driver) and chosen != "disabled" else ""


def check_settings(
    machine: Machine, driver: DriverRelease, settings: DriverSettings, mig: str, features: Features
) -> None:
    """Raise CatalogError or UnsupportedFeature for settings that cannot work on this machine and release."""
    for gate in settings.gates:
        if not driver.has_gate(gate):
            known = ", ".join(driver.feature_gates) or "none"
            raise CatalogError(
                f'NVIDIA DRA driver {driver.version} has no feature gate "{gate}"', fix=f"it has {known}"
            )
    for one, other in _EXCLUSIVE:
        if settings.has(one, driver) and settings.has(other, driver):
            raise CatalogError(f"the feature gates {one} and {other} exclude each other", fix="turn one of them off")
    if settings.has("DRAListTypeAttributes", driver) and not features.list_attributes:
        raise UnsupportedFeature(
            f"Kubernetes {features.version} refuses attributes that are lists: DRAListTypeAttributes is off there",
            fix="turn the driver's feature gate of that name off",
        )
    _check_shares(driver, settings, features)
    _check_mig(machine, driver, settings, mig, features)
    if machine.cloud == "gke":
        _check_gke(driver, settings, mig)


def _check_shares(driver: DriverRelease, settings: DriverSettings, features: Features) -> None:
    if settings.consumable_shares.strip() not in ("", "disabled") and not settings.has("ConsumableShares", driver):
        raise UnsupportedFeature(
            f"NVIDIA DRA driver {driver.version} does not share devices unless the feature gate ConsumableShares is on",
            fix="turn the gate on" if driver.has_gate("ConsumableShares") else "use 0.5.0 or later",
        )
    shares = settings.shares(driver)
    if shares and shares not in ("memory", "unlimited") and not re.fullmatch(r"[1-9]\d*", shares):
        raise CatalogError(
            f'"{shares}" is no way to share devices', fix='use "memory", "unlimited" or a positive number'
        )
    if shares and not features.consumable_capacity:
        raise UnsupportedFeature(
            f"Kubernetes {features.version} drops allowMultipleAllocations: DRAConsumableCapacity is off",
            fix="shared devices need Kubernetes 1.36",
        )


def _check_mig(machine: Machine, driver: DriverRelease, settings: DriverSettings, mig: str, features: Features) -> None:
    if settings.has("DynamicMIG", driver):
        if not features.partitionable_devices:
            raise UnsupportedFeature(
                f"Kubernetes {features.version} drops shared counters: DRAPartitionableDevices is off",
                fix="dynamic MIG needs Kubernetes 1.36",
            )
        if mig not in (*WHOLE, "all-enabled"):
            raise CatalogError(
                f'with DynamicMIG the driver removes the instances that the layout "{mig}" creates',
                fix="drop the layout, or turn DynamicMIG off",
            )
    elif mig not in WHOLE and driver.publishes_mig_parents:
        raise CatalogError(
            f"NVIDIA DRA driver {driver.version} publishes a GPU and its MIG instances side by side "
            f"(dra-driver-nvidia-gpu issue 719)",
            fix="use 25.8.1 or later",
        )
    if driver.generation == "25.3" and machine.accelerator and machine.accelerator.gpu == "rtx-pro-6000-server":
        raise CatalogError(
            f"NVIDIA DRA driver {driver.version} does not know the MIG profiles of this GPU and stops",
            fix="use 25.8.1 or later",
        )


def _check_gke(driver: DriverRelease, settings: DriverSettings, mig: str) -> None:
    asked = [gate for gate in _SHARING_GATES if settings.has(gate, driver)]
    if mig not in WHOLE or settings.has("DynamicMIG", driver):
        asked.insert(0, "MIG")
    if asked:
        raise UnsupportedFeature(
            f"GKE does not support {' and '.join(asked)} with DRA "
            "(docs.cloud.google.com/kubernetes-engine/docs/how-to/set-up-dra: no time-sharing, MIG or MPS)",
            fix="turn it off, or use a pool without DRA",
        )

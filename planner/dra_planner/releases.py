"""Kubernetes releases: which DRA features a minor version has on, and what that decides.

Defaults are those of upstream's feature gates; a managed control plane may differ, which is why a plan
names its minor among its assumptions. Source: kubernetes/kubernetes:pkg/features/kube_features.go and the
versioned gate tables of releases 1.34 to 1.37.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from dra_planner.errors import NOWHERE, Place, UnsupportedFeature

MINIMUM_MINOR = 34
MAXIMUM_MINOR = 37
LATEST_PATCH = {34: 9, 35: 7, 36: 3, 37: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Which parts of DRA a control plane of this minor acts on; each field is one change of behaviour."""

    minor: int
    admin_access: bool = True  # DRAAdminAccess
    prioritized_list: bool = True  # DRAPrioritizedList: firstAvailable
    device_status: bool = True  # DRAResourceClaimDeviceStatus
    partitionable_devices: bool = False  # DRAPartitionableDevices: counters, perDeviceNodeSelection
    device_taints: bool = False  # DRADeviceTaints
    device_taint_rules: bool = False  # DRADeviceTaintRules
    consumable_capacity: bool = False  # DRAConsumableCapacity
    binding_conditions: bool = False  # DRADeviceBindingConditions
    extended_resource: bool = False  # DRAExtendedResource
    list_attributes: bool = False  # DRAListTypeAttributes
    fractional_capacity_range: bool = False  # DRAFractionalCapacityRange: shares in thousandths
    workload_claims: bool = False  # DRAWorkloadResourceClaims: claims of PodGroups

    def with_gates(self, **gates: bool) -> Features:
        """Return the same release with some fields switched; raises TypeError on an unknown one."""
        return replace(self, **gates)

    @property
    def version(self) -> str:
        return f"1.{self.minor}"


_ON_FROM_36 = (
    "partitionable_devices",
    "device_taints",
    "consumable_capacity",
    "binding_conditions",
    "extended_resource",
)


def features_of(minor: int) -> Features:
    """Return the default features of Kubernetes 1.<minor>; raises UnsupportedFeature outside 1.34 to 1.37."""
    if not MINIMUM_MINOR <= minor <= MAXIMUM_MINOR:
        raise UnsupportedFeature(
            f"Kubernetes 1.{minor} is not supported",
            fix=f"use 1.{MINIMUM_MINOR} to 1.{MAXIMUM_MINOR}: resource.k8s.io/v1 begins with 1.{MINIMUM_MINOR}",
        )
    gates = dict.fromkeys(_ON_FROM_36, minor >= 36)
    late = minor >= 37
    return Features(minor=minor, device_taint_rules=late, fractional_capacity_range=late, **gates)


def parse_version(text: str, place: Place = NOWHERE) -> int:
    """Return the minor of "1.36" or "1.36.3" (a leading v is fine); raises UnsupportedFeature otherwise."""
    match = re.fullmatch(r"v?1\.(\d+)(?:\.\d+)?(?:[-+].*)?", str(text).strip())
    if match is None:
        raise UnsupportedFeature(f'"{text}" is no Kubernetes version', place=place, fix='write it as "1.34"')
    try:
        return features_of(int(match[1])).minor
    except UnsupportedFeature as error:
        raise UnsupportedFeature(error.message, place=place, fix=error.fix) from None


GATES = tuple(field.name for field in fields(Features) if field.name != "minor")

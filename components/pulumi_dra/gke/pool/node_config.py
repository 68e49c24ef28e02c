"""Common node settings of a cluster: identity, metadata server, Shielded VM, disk. Plain values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import pulumi

from dra_planner.clouds.gke.disks import boot_disks
from dra_planner.clouds.gke.pulumi_resources import IMAGE

if TYPE_CHECKING:
    # The SDK's own type, so that the type checker finds misspelled keys. Imported only for type
    # checking.
    from pulumi_gcp.container import NodePoolNodeConfigArgsDict


def node_settings(
    service_account: pulumi.Input[str],
    *,
    machine_type: str,
    disk_gib: int,
    disk_type: str = "",
    secure_boot: bool,
    labels: Mapping[str, pulumi.Input[str]] = MappingProxyType({}),
    resource_labels: Mapping[str, pulumi.Input[str]] = MappingProxyType({}),
    disk_kms_key: pulumi.Input[str] | None = None,
) -> NodePoolNodeConfigArgsDict:
    """Return the common settings of system nodes and GPU nodes.

    They use Container-Optimized OS, because of the driver's paths. Without `disk_type`, the boot
    disk has the balanced type of the machine family.
    """
    settings: NodePoolNodeConfigArgsDict = {
        "image_type": IMAGE,
        "service_account": service_account,
        "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "shielded_instance_config": {
            "enable_integrity_monitoring": True,
            "enable_secure_boot": secure_boot,
        },
        "metadata": {"disable-legacy-endpoints": "true"},
        "disk_size_gb": disk_gib,
        "machine_type": machine_type,
        "disk_type": disk_type or boot_disks(machine_type)[0],
        "labels": dict(labels),
        "resource_labels": dict(resource_labels),
    }
    if disk_kms_key is not None:
        settings["boot_disk_kms_key"] = disk_kms_key
    return settings

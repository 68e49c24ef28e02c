"""Storage drivers that GKE runs for a cluster, in addition to the Persistent Disk driver."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dra_planner.clouds.gke.disks import boot_disks
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.storage_class import ClassOfVolumes

ADDONS: Mapping[str, str] = MappingProxyType(
    {
        "filestore": "gcp_filestore_csi_driver_config",
        "gcs-fuse": "gcs_fuse_csi_driver_config",
        "lustre": "lustre_csi_driver_config",
    }
)
"""Name of the driver in this package → the add-on
(hashicorp/terraform-provider-google:website/docs/r/container_cluster; each is a field of
AddonsConfig in Google's own client, which `tests/components/test_gcp_api.py` compares).
"""


HYPERDISK_CLASS = ClassOfVolumes(
    name="hyperdisk-balanced",
    provisioner="pd.csi.storage.gke.io",
    parameters={"type": "hyperdisk-balanced"},
    is_default=False,
)
"""GKE's own classes use Persistent Disk, which a3-ultragpu, a4, a4x, and g4 can't attach
(NVIDIA/aicr pull request 2338). This class isn't the default, because other nodes can't attach a
Hyperdisk.
"""


def volumes_for(machines: Iterable[str]) -> ClassOfVolumes | None:
    """Return the class whose volumes these machine types can attach, or None if GKE's own classes
    work.
    """
    return (
        HYPERDISK_CLASS
        if any(boot_disks(each) == (HYPERDISK_CLASS.name,) for each in machines)
        else None
    )


def read_storage_drivers(read: InputReader) -> list[str]:
    """Return `storage_drivers`, and record errors in `read`."""
    drivers = read.texts("storage_drivers", check=_storage_fault)
    if len(set(drivers)) != len(drivers):
        read.refuse("storage_drivers", "contains a driver twice")
    return drivers


def storage_addons(drivers: Sequence[str]) -> Any:
    """Return every add-on, enabled or disabled, because GKE doesn't change omitted add-ons."""
    return {addon: {"enabled": name in drivers} for name, addon in ADDONS.items()}


def _storage_fault(text: str) -> str:
    return (
        ""
        if text in ADDONS
        else f'"{text}" isn\'t a supported storage driver; use one of: {", ".join(ADDONS)}'
    )

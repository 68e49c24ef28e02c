"""GKE's API name of a machine type, and its attached accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from dra_planner.catalog import Machine
from dra_planner.clouds import PluginServing
from dra_planner.clouds.gke import CLOUD
from dra_planner.clouds.gke.labels import partition_size
from dra_planner.clouds.gke.machines import GPU_EXAMPLE, attachment
from dra_planner.drivers import every_driver
from dra_planner.errors import CatalogError
from pulumi_dra.gke.pool.device_plugin import plugin_accelerator

if TYPE_CHECKING:
    from pulumi_gcp.container import NodePoolNodeConfigGuestAcceleratorArgsDict


class GkeMachine(Struct, frozen=True):
    """A machine type in the form of a node pool."""

    instance_type: str  # n1-standard-8
    accelerator_type: str  # nvidia-l4
    accelerator_count: int
    has_rdma: bool = False
    found: Machine | None = None  # None: refused


def gke_machine(found: Machine) -> GkeMachine:
    """Return a node pool's settings for this machine type. Raises CatalogError for accelerators
    that no driver publishes, or that can't be attached.
    """
    gpus = attachment(found)
    if gpus is None and found.accelerator is not None and found.accelerator.vendor == "nvidia":
        raise CatalogError(
            f"the GPU type of {found.name} is unknown",
            fix="set acceleratorType in its catalog row to the value of the label "
            f"{CLOUD.accelerator_label}",
        )
    # GPUs can't be attached to TPU machine types, or to machine types whose pods claim only CPUs.
    if gpus is None and (
        found.accelerator is None or any(each.serves_accelerator(found) for each in every_driver())
    ):
        gpus = "", 0
    if gpus is None:
        raise CatalogError(f"{found.name} doesn't have an NVIDIA GPU", fix=GPU_EXAMPLE)
    return GkeMachine(found.instance_type, *gpus, bool(found.rdma_networks), found)


def guest_accelerators(
    machine: GkeMachine, plugin: PluginServing | None = None
) -> list[NodePoolNodeConfigGuestAcceleratorArgsDict]:
    """Return the accelerators of a pool, with the settings of GKE's `plugin`, or without GKE's
    driver if None.

    Google's managed driver includes its device plugin, so a DaemonSet installs the driver instead
    (docs.cloud.google.com/kubernetes-engine/docs/how-to/set-up-dra).
    """
    if not machine.accelerator_type:
        return []
    if plugin is not None:
        size = partition_size(plugin.mig)
        return [
            plugin_accelerator(machine.accelerator_type, machine.accelerator_count, plugin, size)
        ]
    return [
        {
            "type": machine.accelerator_type,
            "count": machine.accelerator_count,
            "gpu_driver_installation_config": {"gpu_driver_version": "INSTALLATION_DISABLED"},
        }
    ]

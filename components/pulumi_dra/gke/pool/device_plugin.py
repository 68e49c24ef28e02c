"""GKE's device plugin on a pool without DRA: partitions and sharing of its GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dra_planner.clouds import PluginServing
from dra_planner.clouds.gke import CLOUD
from dra_planner.clouds.gke.labels import SHARING_STRATEGIES
from pulumi_dra.inputs.plugin_inputs import read_plugin
from pulumi_dra.inputs.reader import InputReader

if TYPE_CHECKING:
    from pulumi_gcp.container import NodePoolNodeConfigGuestAcceleratorArgsDict

_CLIENTS = range(2, CLOUD.plugin.replicas + 1)
_ONLY_WITH_PLUGIN = {
    "mig_partition": "MIG",
    "gpu_sharing": "time-sharing and MPS",
    "gpu_sharing_clients": "time-sharing and MPS",
}


def read_gke_plugin(read: InputReader) -> PluginServing | None:
    """Return the settings of GKE's device plugin, or None for DRA pools, which don't support
    partitions or sharing.
    """
    plugin = read_plugin(read)
    if plugin is None:
        for key, what in _ONLY_WITH_PLUGIN.items():
            if read.has(key):
                read.refuse(key, str(CLOUD.unsupported(what)))
        return None
    size = read.text(
        "mig_partition", "", pattern=r"\d+g\.\d+gb", meaning="a partition size, such as 1g.10gb"
    )
    strategy = (
        read.choice("gpu_sharing", tuple(SHARING_STRATEGIES), "") if read.has("gpu_sharing") else ""
    )
    clients = (
        read.whole("gpu_sharing_clients", least=_CLIENTS[0], most=_CLIENTS[-1]) if strategy else 1
    )
    if not strategy and read.has("gpu_sharing_clients"):
        read.refuse("gpu_sharing_clients", "applies only to gpu_sharing")
    mig = f"all-{size}" if size else "none"
    return PluginServing(
        strategy=strategy, replicas=clients, mig=mig, mig_strategy="single" if size else ""
    )


def plugin_accelerator(
    kind: str, count: int, plugin: PluginServing, partition: str
) -> NodePoolNodeConfigGuestAcceleratorArgsDict:
    """Return the accelerators of a node with GKE's driver and device plugin."""
    found: NodePoolNodeConfigGuestAcceleratorArgsDict = {
        "type": kind,
        "count": count,
        "gpu_driver_installation_config": {"gpu_driver_version": "DEFAULT"},
    }
    if partition:
        found["gpu_partition_size"] = partition
    if plugin.strategy:
        found["gpu_sharing_config"] = {
            "gpu_sharing_strategy": SHARING_STRATEGIES[plugin.strategy],
            "max_shared_clients_per_gpu": plugin.replicas,
        }
    return found

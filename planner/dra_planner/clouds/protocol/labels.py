"""The labels and the taint of every DRA pool on every cloud. This is their only definition."""

from __future__ import annotations

from msgspec import Struct

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.plugin_serving import MPS, PluginServing
from dra_planner.model import Taint

_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LABEL_KEY = rf"([a-z0-9]([-a-z0-9.]{{0,251}}[a-z0-9])?/)?{_NAME}"
LABEL_VALUE = rf"({_NAME})?"

GPU_PRESENT = "nvidia.com/gpu.present"
DRA = "nvidia.com/gpu.dra"
POOL = "pulumi-dra/pool"
PLUGIN_CONFIG = "nvidia.com/device-plugin.config"
MPS_CAPABLE = "nvidia.com/mps.capable"
GPU_TAINT = Taint("nvidia.com/gpu", "present", "NoSchedule")
_NO_DRIVER = "the driver's kubelet plugin doesn't run on these nodes"
_NO_PLUGIN = "the device plugin doesn't run on these nodes"
_NO_CONFIG = "the device plugin serves whole GPUs on these nodes"


class NodeLabel(Struct, frozen=True):
    """A label that this project sets on nodes. `otherwise` is the consequence of a missing
    label.
    """

    key: str
    value: str
    otherwise: str = "pods that select this label can't run on these nodes as planned"


class NodeOrigin(Struct, frozen=True, kw_only=True):
    """The facts that determine the labels and taints of a pool's nodes, in addition to the labels
    and taints that the pool sets. `machine` is None if the catalog doesn't contain it. In that
    case, its nodes count as GPU nodes. `capacity` and `autoscaler` have the values of a fleet
    (for example, on-demand). `network_devices` is set if DRANET publishes network interfaces.
    `plugin` describes how a device plugin serves the devices, or is None for DRA nodes.
    """

    name: str
    machine: Machine | None
    capacity: str = "on-demand"
    network_devices: bool = False
    autoscaler: str = "none"
    plugin: PluginServing | None = None

    @property
    def has_gpus(self) -> bool:
        """Whether these nodes have devices that the NVIDIA driver can publish."""
        return self.machine is None or self.machine.gpu_count > 0


def contract_labels(nodes: NodeOrigin) -> tuple[NodeLabel, ...]:
    """Return the labels of a pool's nodes on every cloud. Drivers find GPU nodes by these
    labels.
    """
    own = (NodeLabel(POOL, nodes.name),)
    if not nodes.has_gpus:
        return own
    if nodes.plugin is not None:
        return (NodeLabel(GPU_PRESENT, "true", _NO_PLUGIN), *_plugin_labels(nodes.plugin), *own)
    return (NodeLabel(GPU_PRESENT, "true", _NO_DRIVER), NodeLabel(DRA, "true", _NO_DRIVER), *own)


def _plugin_labels(plugin: PluginServing) -> tuple[NodeLabel, ...]:
    """Return the labels by which NVIDIA's chart chooses the plugin's configuration and runs the MPS
    daemon.

    Source: NVIDIA/k8s-device-plugin:deployments/helm/nvidia-device-plugin/templates@v0.20.0.
    """
    config = (
        (NodeLabel(PLUGIN_CONFIG, plugin.config_name, _NO_CONFIG),) if plugin.config_name else ()
    )
    mps = NodeLabel(MPS_CAPABLE, "true", "the MPS control daemon doesn't run on these nodes")
    return (*config, mps) if plugin.strategy == MPS else config


def contract_taints(nodes: NodeOrigin) -> tuple[Taint, ...]:
    """Return the taint that excludes pods without claims from GPU nodes."""
    return (GPU_TAINT,) if nodes.has_gpus else ()

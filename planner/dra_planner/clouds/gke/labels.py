"""Labels and taints of GKE nodes, and the sharing of GPUs that they announce."""

from __future__ import annotations

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.plugin_serving import MPS, TIME_SLICING, PluginServing
from dra_planner.clouds.protocol.settings import WHOLE
from dra_planner.model import Taint

# keeps GKE's TPU device plugin off a node
TPU_DRA_DRIVER = "cloud.google.com/gke-tpu-dra-driver"


# docs.cloud.google.com/kubernetes-engine/docs/how-to/tpus
TPU_TAINT = Taint("google.com/tpu", "present", "NoSchedule")


NO_DEVICE_PLUGIN = "gke-no-default-nvidia-gpu-device-plugin"


DRA_DRIVER = "cloud.google.com/gke-nvidia-gpu-dra-driver"


NETWORK_DRIVER = "cloud.google.com/gke-networking-dra-driver"


ARM_TAINT = Taint("kubernetes.io/arch", "arm64", "NoSchedule")


SANDBOX_TAINT = Taint("sandbox.gke.io/runtime", "gvisor", "NoSchedule")


QUEUED_TAINT = Taint("cloud.google.com/gke-queued", "true", "NoSchedule")


SHARING_STRATEGIES = {TIME_SLICING: "TIME_SHARING", MPS: "MPS"}
"""Names of sharing strategies in the node pool's API."""


def partition_size(mig: str) -> str:
    """Return the profile into which GKE's plugin partitions every GPU: 1g.10gb for all-1g.10gb, or
    "" for whole GPUs.
    """
    return mig.removeprefix("all-") if mig not in WHOLE else ""


def plugin_labels(plugin: PluginServing) -> dict[str, str]:
    """Return the labels that describe how GKE's plugin serves a node's GPUs.

    Source: docs.cloud.google.com/kubernetes-engine/docs/how-to/timesharing-gpus.
    """
    labels = {"cloud.google.com/gke-gpu-driver-version": "default"}
    if plugin.strategy:
        labels["cloud.google.com/gke-gpu-sharing-strategy"] = (
            SHARING_STRATEGIES[plugin.strategy].lower().replace("_", "-")
        )
        labels["cloud.google.com/gke-max-shared-clients-per-gpu"] = str(plugin.replicas)
    if size := partition_size(plugin.mig):
        labels["cloud.google.com/gke-gpu-partition-size"] = size
    return labels


def has_tpus(machine: Machine | None) -> bool:
    return (
        machine is not None
        and machine.accelerator is not None
        and machine.accelerator.kind == "tpu"
    )

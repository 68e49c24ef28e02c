"""The DeviceClasses of the NVIDIA driver's chart.

Source: NVIDIA/k8s-dra-driver-gpu:deployments/helm/nvidia-dra-driver-gpu/templates @v25.8.1
(deviceclass-*.yaml).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.drivers.nvidia.compute_domains import COMPUTE_DOMAIN_DRIVER
from dra_planner.drivers.nvidia.devices import GPU_DRIVER
from dra_planner.drivers.nvidia.releases import DriverRelease
from dra_planner.drivers.protocol.tables import device_class
from dra_planner.model import DeviceClass
from dra_planner.releases import Features

GPU_CLASS: Final = "gpu.nvidia.com"
MIG_CLASS: Final = "mig.nvidia.com"
VFIO_CLASS: Final = "vfio.gpu.nvidia.com"
DAEMON_CLASS: Final = "compute-domain-daemon.nvidia.com"
CHANNEL_CLASS: Final = "compute-domain-default-channel.nvidia.com"
CHART_CLASSES: Final = (GPU_CLASS, MIG_CLASS, VFIO_CLASS, DAEMON_CLASS, CHANNEL_CLASS)
"""DeviceClasses that the charts of the NVIDIA driver create."""
GPU_CLASSES: Final = frozenset((GPU_CLASS, MIG_CLASS, VFIO_CLASS))
"""The DeviceClasses of the charts that match GPUs or parts of GPUs."""
CLASS_OF: Final = {"gpu": GPU_CLASS, "mig": MIG_CLASS, "vfio": VFIO_CLASS}
"""The class of each type of device."""
CONFIG_KINDS: Final = {
    GPU_CLASS: "GpuConfig",
    MIG_CLASS: "MigDeviceConfig",
    VFIO_CLASS: "VfioDeviceConfig",
}
"""The kind of opaque configuration for devices of each class."""
EXTENDED_RESOURCE: Final = "nvidia.com/gpu"


def chart_classes(
    release: DriverRelease, features: Features, *, compute_domains: bool
) -> Iterator[DeviceClass]:
    """Yield the classes that a version's chart creates.

    Control planes that don't know the field for extended resources drop it.
    """
    for kind in release.device_classes:
        named = kind == "gpu" and release.has_extended_resource and features.extended_resource
        selector = (
            f"device.driver == '{GPU_DRIVER}' && device.attributes['{GPU_DRIVER}'].type == '{kind}'"
        )
        yield device_class(
            CLASS_OF[kind], selector, extended_resource=EXTENDED_RESOURCE if named else None
        )
    if compute_domains:
        of_driver = (
            f"device.driver == '{COMPUTE_DOMAIN_DRIVER}' && "
            f"device.attributes['{COMPUTE_DOMAIN_DRIVER}']"
        )
        yield device_class(DAEMON_CLASS, f"{of_driver}.type == 'daemon'")
        yield device_class(
            CHANNEL_CLASS,
            f"{of_driver}.type == 'channel' && device.attributes['{COMPUTE_DOMAIN_DRIVER}'].id == "
            "0",
        )

"""The NVIDIA DRA driver: GPUs, MIG devices, ComputeDomains, and NVIDIA's device plugin."""

from dra_planner.drivers.nvidia.assumptions import slice_assumptions
from dra_planner.drivers.nvidia.classes import (
    CHANNEL_CLASS,
    CHART_CLASSES,
    CONFIG_KINDS,
    EXTENDED_RESOURCE,
    GPU_CLASS,
    GPU_CLASSES,
    MIG_CLASS,
)
from dra_planner.drivers.nvidia.compute_domains import COMPUTE_DOMAIN_DRIVER
from dra_planner.drivers.nvidia.devices import GPU_DRIVER
from dra_planner.drivers.nvidia.driver import DRIVER
from dra_planner.drivers.nvidia.gpus import Gpu, MigProfile, gpu, gpus, mig_profiles
from dra_planner.drivers.nvidia.mig import (
    MigGeometry,
    MigInstance,
    check_mig_layout,
    layout_name,
    mig_layout,
    mig_layouts,
    place_instances,
)
from dra_planner.drivers.nvidia.options import NvidiaDriver
from dra_planner.drivers.nvidia.releases import (
    DevicePluginRelease,
    DriverAttribute,
    DriverRelease,
    device_plugin_release,
    device_plugin_releases,
    driver_release,
    driver_releases,
    newest_driver_release,
    require_installable,
)
from dra_planner.drivers.nvidia.settings import (
    PublishingSettings,
    driver_faults,
    gate_faults,
    machine_faults,
    share_faults,
    unknown_gate,
)
from dra_planner.drivers.nvidia.slices import predict_slices
from dra_planner.drivers.nvidia.upgrade import DriverChange, changes_read, compare_releases

__all__ = [
    "CHANNEL_CLASS",
    "CHART_CLASSES",
    "COMPUTE_DOMAIN_DRIVER",
    "CONFIG_KINDS",
    "DRIVER",
    "EXTENDED_RESOURCE",
    "GPU_CLASS",
    "GPU_CLASSES",
    "GPU_DRIVER",
    "MIG_CLASS",
    "DevicePluginRelease",
    "DriverAttribute",
    "DriverChange",
    "DriverRelease",
    "Gpu",
    "MigGeometry",
    "MigInstance",
    "MigProfile",
    "NvidiaDriver",
    "PublishingSettings",
    "changes_read",
    "check_mig_layout",
    "compare_releases",
    "device_plugin_release",
    "device_plugin_releases",
    "driver_faults",
    "driver_release",
    "driver_releases",
    "gate_faults",
    "gpu",
    "gpus",
    "layout_name",
    "machine_faults",
    "mig_layout",
    "mig_layouts",
    "mig_profiles",
    "newest_driver_release",
    "place_instances",
    "predict_slices",
    "require_installable",
    "share_faults",
    "slice_assumptions",
    "unknown_gate",
]

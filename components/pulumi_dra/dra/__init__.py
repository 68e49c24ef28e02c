"""Resources in the cluster: drivers, DeviceClasses, the device plugin, metrics, and tenants."""

from os.path import exists, join
from pkgutil import extend_path

from pulumi_dra.optional_sdks import require_sdk

require_sdk("pulumi_kubernetes", "components", "pulumi_dra.dra")

# Another distribution can add a driver as a folder with this name, without an __init__.py.
__path__ += [
    folder
    for folder in extend_path(list[str](), __name__)
    if not exists(join(folder, "__init__.py"))
]

from pulumi_dra.dra.classes.device_classes import (
    DeviceClasses,
    DeviceClassesArgs,
    DeviceClassSettings,
)
from pulumi_dra.dra.device_plugin.device_plugin import DevicePlugin, DevicePluginArgs
from pulumi_dra.dra.dranet.release import Dranet, DranetArgs
from pulumi_dra.dra.driver_chart import DeviceDriver, DeviceDriverArgs
from pulumi_dra.dra.metrics.gpu_metrics import GpuMetrics, GpuMetricsArgs
from pulumi_dra.dra.nvidia.dra_driver import DraDriver, DraDriverArgs
from pulumi_dra.dra.nvidia.driver_installer import DriverInstaller, DriverInstallerArgs
from pulumi_dra.dra.releases.kuberay import KubeRay, KubeRayArgs
from pulumi_dra.dra.releases.kueue import Kueue, KueueArgs
from pulumi_dra.dra.tenants.admin_access_policy import AdminAccessPolicy, AdminAccessPolicyArgs
from pulumi_dra.dra.tenants.tenant_access import TenantAccess, TenantAccessArgs, TenantSettings

__all__ = [
    "AdminAccessPolicy",
    "AdminAccessPolicyArgs",
    "DeviceClassSettings",
    "DeviceClasses",
    "DeviceClassesArgs",
    "DeviceDriver",
    "DeviceDriverArgs",
    "DevicePlugin",
    "DevicePluginArgs",
    "DraDriver",
    "DraDriverArgs",
    "Dranet",
    "DranetArgs",
    "DriverInstaller",
    "DriverInstallerArgs",
    "GpuMetrics",
    "GpuMetricsArgs",
    "KubeRay",
    "KubeRayArgs",
    "Kueue",
    "KueueArgs",
    "TenantAccess",
    "TenantAccessArgs",
    "TenantSettings",
]

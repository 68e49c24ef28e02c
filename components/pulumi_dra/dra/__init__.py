"""What runs in the cluster for Dynamic Resource Allocation: drivers, classes, the device plugin's limits, rights."""

from pulumi_dra.extras import require_sdk

require_sdk("pulumi_kubernetes", "components", "pulumi_dra.dra")

from pulumi_dra.dra.classes.device_classes import DeviceClasses, DeviceClassesArgs, DeviceClassSettings  # noqa: E402  # the check comes first
from pulumi_dra.dra.device_plugin.device_plugin import DevicePlugin, DevicePluginArgs  # noqa: E402  # the check comes first
from pulumi_dra.dra.dranet import Dranet, DranetArgs  # noqa: E402  # the check comes first
from pulumi_dra.dra.driver.dra_driver import DraDriver, DraDriverArgs  # noqa: E402  # the check comes first
from pulumi_dra.dra.driver.driver_installer import DriverInstaller, DriverInstallerArgs  # noqa: E402  # the check comes first
from pulumi_dra.dra.metrics.gpu_metrics import GpuMetrics, GpuMetricsArgs  # noqa: E402  # the check comes first
from pulumi_dra.dra.releases.kuberay import KubeRay, KubeRayArgs  # noqa: E402  # the check comes first
from pulumi_dra.dra.releases.kueue import Kueue, KueueArgs  # noqa: E402  # the check comes first
from pulumi_dra.dra.tenants.admin_access_policy import AdminAccessPolicy, AdminAccessPolicyArgs  # noqa: E402  # the check comes first
from pulumi_dra.dra.tenants.tenant_access import TenantAccess, TenantAccessArgs, TenantSettings  # noqa: E402  # the check comes first

__all__ = [
    "AdminAccessPolicy",
    "AdminAccessPolicyArgs",
    "DeviceClassSettings",
    "DeviceClasses",
    "DeviceClassesArgs",
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

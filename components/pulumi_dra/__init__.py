"""Pulumi components for GPUs with Kubernetes Dynamic Resource Allocation on EKS, GKE, and AKS.

Components are imported on first use, so a program for one cloud never loads the SDKs of the others.
"""

from importlib import import_module
from os.path import exists, join
from pkgutil import extend_path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulumi_dra.aks import AksCluster as AksCluster
    from pulumi_dra.aks import AksGpuPool as AksGpuPool
    from pulumi_dra.aks import AksNetwork as AksNetwork
    from pulumi_dra.capacity_plan import CapacityPlan as CapacityPlan
    from pulumi_dra.dra import AdminAccessPolicy as AdminAccessPolicy
    from pulumi_dra.dra import DeviceClasses as DeviceClasses
    from pulumi_dra.dra import DeviceDriver as DeviceDriver
    from pulumi_dra.dra import DevicePlugin as DevicePlugin
    from pulumi_dra.dra import DraDriver as DraDriver
    from pulumi_dra.dra import Dranet as Dranet
    from pulumi_dra.dra import DriverInstaller as DriverInstaller
    from pulumi_dra.dra import GpuMetrics as GpuMetrics
    from pulumi_dra.dra import KubeRay as KubeRay
    from pulumi_dra.dra import Kueue as Kueue
    from pulumi_dra.dra import TenantAccess as TenantAccess
    from pulumi_dra.eks import EksCluster as EksCluster
    from pulumi_dra.eks import EksClusterAutoscaler as EksClusterAutoscaler
    from pulumi_dra.eks import EksGpuPool as EksGpuPool
    from pulumi_dra.eks import EksKarpenter as EksKarpenter
    from pulumi_dra.eks import EksKarpenterPool as EksKarpenterPool
    from pulumi_dra.eks import EksNetwork as EksNetwork
    from pulumi_dra.gke import GkeCluster as GkeCluster
    from pulumi_dra.gke import GkeGpuPool as GkeGpuPool
    from pulumi_dra.gke import GkeNetwork as GkeNetwork
    from pulumi_dra.placement import PlacementPolicies as PlacementPolicies
    from pulumi_dra.placement import PlanGate as PlanGate
    from pulumi_dra.platform.platform import DraPlatform as DraPlatform

# Another distribution can add a cloud as a folder with this name, without an __init__.py.
__path__ += [
    folder
    for folder in extend_path(list[str](), __name__)
    if not exists(join(folder, "__init__.py"))
]

COMPONENTS = {
    "AdminAccessPolicy": "pulumi_dra.dra",
    "CapacityPlan": "pulumi_dra.capacity_plan",
    "DeviceClasses": "pulumi_dra.dra",
    "DeviceDriver": "pulumi_dra.dra",
    "DevicePlugin": "pulumi_dra.dra",
    "DraDriver": "pulumi_dra.dra",
    "DraPlatform": "pulumi_dra.platform.platform",
    "Dranet": "pulumi_dra.dra",
    "DriverInstaller": "pulumi_dra.dra",
    "GpuMetrics": "pulumi_dra.dra",
    "KubeRay": "pulumi_dra.dra",
    "Kueue": "pulumi_dra.dra",
    "PlacementPolicies": "pulumi_dra.placement",
    "PlanGate": "pulumi_dra.placement",
    "TenantAccess": "pulumi_dra.dra",
}
"""Component → its module. A cloud's components are in the cloud's folder, and their names begin
with the cloud's name.
"""


def __getattr__(name: str) -> object:
    if name in COMPONENTS:
        return getattr(import_module(COMPONENTS[name]), name)
    if name[:1].isupper():
        from pulumi_dra.cloud_folders import cloud_folders

        for cloud in cloud_folders():
            if name.lower().startswith(cloud):
                return getattr(import_module(f"{__name__}.{cloud}"), name)
    raise AttributeError(f"module 'pulumi_dra' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *COMPONENTS])

"""Pulumi components for GPUs under Kubernetes Dynamic Resource Allocation, on EKS and GKE.

Nothing is imported before it is asked for: a program for one cloud never loads the other's SDK.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulumi_dra.capacity_plan import CapacityPlan as CapacityPlan
    from pulumi_dra.dra import AdminAccessPolicy as AdminAccessPolicy
    from pulumi_dra.dra import DeviceClasses as DeviceClasses
    from pulumi_dra.dra import DevicePlugin as DevicePlugin
    from pulumi_dra.dra import DraDriver as DraDriver
    from pulumi_dra.dra import Dranet as Dranet
    from pulumi_dra.dra import DriverInstaller as DriverInstaller
    from pulumi_dra.dra import TenantAccess as TenantAccess
    from pulumi_dra.eks import EksCluster as EksCluster
    from pulumi_dra.eks import EksGpuPool as EksGpuPool
    from pulumi_dra.eks import EksNetwork as EksNetwork
    from pulumi_dra.gke import GkeCluster as GkeCluster
    from pulumi_dra.gke import GkeGpuPool as GkeGpuPool
    from pulumi_dra.gke import GkeNetwork as GkeNetwork
    from pulumi_dra.platform import DraPlatform as DraPlatform

COMPONENTS = {
    "AdminAccessPolicy": "pulumi_dra.dra",
    "CapacityPlan": "pulumi_dra.capacity_plan",
    "DeviceClasses": "pulumi_dra.dra",
    "DevicePlugin": "pulumi_dra.dra",
    "DraDriver": "pulumi_dra.dra",
    "DraPlatform": "pulumi_dra.platform",
    "Dranet": "pulumi_dra.dra",
    "DriverInstaller": "pulumi_dra.dra",
    "EksCluster": "pulumi_dra.eks",
    "EksGpuPool": "pulumi_dra.eks",
    "EksNetwork": "pulumi_dra.eks",
    "GkeCluster": "pulumi_dra.gke",
    "GkeGpuPool": "pulumi_dra.gke",
    "GkeNetwork": "pulumi_dra.gke",
    "TenantAccess": "pulumi_dra.dra",
}
"""Component → the module that has it."""

__all__ = [
    "AdminAccessPolicy",
    "CapacityPlan",
    "DeviceClasses",
    "DevicePlugin",
    "DraDriver",
    "DraPlatform",
    "Dranet",
    "DriverInstaller",
    "EksCluster",
    "EksGpuPool",
    "EksNetwork",
    "GkeCluster",
    "GkeGpuPool",
    "GkeNetwork",
    "TenantAccess",
]


def __getattr__(name: str) -> object:
    if name in COMPONENTS:
        return getattr(import_module(COMPONENTS[name]), name)
    raise AttributeError(f"module 'pulumi_dra' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *COMPONENTS])

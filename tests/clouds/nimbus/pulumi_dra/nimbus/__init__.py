"""Nimbus clusters and GPU pools for Dynamic Resource Allocation."""

from pulumi_dra.nimbus.cluster import NimbusCluster, NimbusClusterArgs
from pulumi_dra.nimbus.gpu_pool import NimbusGpuPool, NimbusGpuPoolArgs

__all__ = ["NimbusCluster", "NimbusClusterArgs", "NimbusGpuPool", "NimbusGpuPoolArgs"]

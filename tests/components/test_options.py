"""All that a component can do can be said of a platform: by an option, by the fleet, or it is set by what is built."""

from typing import NotRequired, TypedDict

import pulumi
import pytest
from pulumi.provider.experimental.analyzer import Analyzer

from pulumi_dra.aks.cluster_inputs import AksClusterArgs
from pulumi_dra.aks.gpu_pool_inputs import AksGpuPoolArgs
from pulumi_dra.cluster_options import ClusterOptions
from pulumi_dra.dra.driver_inputs import DraDriverArgs
from pulumi_dra.dra.driver_tolerations import DriverToleration
from pulumi_dra.eks.autoscaler_inputs import EksClusterAutoscalerArgs
from pulumi_dra.eks.cluster_inputs import EksClusterArgs
from pulumi_dra.eks.gpu_pool_inputs import EksGpuPoolArgs
from pulumi_dra.eks.karpenter_inputs import EksKarpenterArgs
from pulumi_dra.eks.karpenter_pool_inputs import EksKarpenterPoolArgs
from pulumi_dra.gke.cluster_inputs import GkeClusterArgs
from pulumi_dra.gke.gpu_pool_inputs import GkeGpuPoolArgs
from pulumi_dra.platform_inputs import AutoscalerOptions, DraPlatformArgs, DriverOptions
from pulumi_dra.pool_options import IN_THE_FLEET, PoolOptions

PLATFORM = {"kms_key_arn": "secrets_kms_key", "labels": "tags", "tags": "tags", "resource_labels": "tags"}
"""What the platform has under another name."""
FLEET = {
    "autoscaled": "autoscaler",
    "compute_domains": "drivers.nvidia.computeDomains",
    "consumable_shares": "drivers.nvidia.consumableShares",
    "feature_gates": "drivers.nvidia.featureGates",
    "kubernetes_version": "kubernetes",
    "network_devices": "drivers.dranet",
    "node_zones": "network.zones",
    "platform": "cloud",
    "prefix_delegation": "network.prefixDelegation",
    "public_access_cidrs": "endpoint.publicAccessCidrs",
    "region": "region",
    "reservation_id": "pools[].capacity.reservation",
    "reservation_name": "pools[].capacity.reservation",
    "reserved_cpu": "pools[].reserved.cpu",
    "reserved_memory": "pools[].reserved.memory",
    "subnet_ids": "network.subnetIds",
    "reservation_group_id": "pools[].capacity.reservation",
    "system_count": "systemPool.count",
    "system_machine": "systemPool.machine",
    "system_zones": "network.zones",
    "version": "drivers.nvidia.version",
    "zone": "pools[].zones",
    "zone_count": "network.zones",
    "zones": "network.zones",
}
"""What a plan must know, and where a fleet says it."""
BUILT = {
    "cluster": "the cluster that is made",
    "cluster_endpoint": "the cluster's",
    "cluster_name": "the cluster that is made",
    "cluster_principal_id": "the cluster's",
    "cluster_security_group_id": "the cluster's",
    "desired_nodes": "the plan",
    "instance_profile_name": "that of the nodes' role, which is made with Karpenter",
    "keep_subnets": "pools without zones stay where they are",
    "location": "the fleet's region",
    "max_nodes": "the plan",
    "min_nodes": "the plan",
    "node_role_arn": "the cluster's",
    "nodes": "the plan",
    "pool_name": "the fleet's name of the pool",
    "resource_group_name": "the cluster's",
    "service_account": "the cluster's",
    "subnet_id": "the network that is made",
    "volume_key_arns": "the disk_kms_key_arn of the pools",
    "vpc_id": "the cluster's",
}
ONE_VALUE = {
    "driver_installation": "disabled",
    "gpu_driver": "Install: the image brings it",
    "gpu_instance_profile": "refused with DRA",
    "gpu_sharing": "refused with DRA",
    "image": "al2023",
    "mig_partition": "refused with DRA",
    "zonal": "pools of a platform are regional",
}
"""Inputs that take one value with DRA, or none in a platform."""
COMPONENTS = {
    "EksCluster": (EksClusterArgs, {*ClusterOptions.__annotations__, *DraPlatformArgs.__annotations__}),
    "GkeCluster": (GkeClusterArgs, {*ClusterOptions.__annotations__, *DraPlatformArgs.__annotations__}),
    "AksCluster": (AksClusterArgs, {*ClusterOptions.__annotations__, *DraPlatformArgs.__annotations__}),
    "AksGpuPool": (AksGpuPoolArgs, {*PoolOptions.__annotations__, *IN_THE_FLEET}),
    "EksGpuPool": (EksGpuPoolArgs, {*PoolOptions.__annotations__, *IN_THE_FLEET}),
    "GkeGpuPool": (GkeGpuPoolArgs, {*PoolOptions.__annotations__, *IN_THE_FLEET}),
    "DraDriver": (DraDriverArgs, set(DriverOptions.__annotations__)),
    "EksKarpenterPool": (EksKarpenterPoolArgs, {*PoolOptions.__annotations__, *IN_THE_FLEET}),
    "EksKarpenter": (EksKarpenterArgs, {*AutoscalerOptions.__annotations__, *ClusterOptions.__annotations__}),
    "EksClusterAutoscaler": (
        EksClusterAutoscalerArgs,
        {*AutoscalerOptions.__annotations__, *ClusterOptions.__annotations__},
    ),
}


@pytest.mark.parametrize(("inputs", "options"), COMPONENTS.values(), ids=COMPONENTS)
def test_every_input_is_said(inputs: type, options: set[str]) -> None:
    said = options | PLATFORM.keys() | FLEET.keys() | BUILT.keys() | ONE_VALUE.keys()
    assert set(inputs.__annotations__) - said == set()


def test_what_the_table_names_is_there() -> None:
    every = {name for inputs, _ in COMPONENTS.values() for name in inputs.__annotations__}
    assert (PLATFORM.keys() | FLEET.keys() | BUILT.keys() | ONE_VALUE.keys()) - every == set()
    assert set(PLATFORM.values()) <= DraPlatformArgs.__annotations__.keys()


@pytest.mark.parametrize("options", [ClusterOptions, PoolOptions, DriverOptions, AutoscalerOptions])
def test_every_option_is_an_input_of_a_component(options: type) -> None:
    every = {name for inputs, _ in COMPONENTS.values() for name in inputs.__annotations__} | {"name", "install"}
    assert set(options.__annotations__) - every == set()


def test_options_of_the_driver_are_of_the_types_of_its_inputs() -> None:
    """Tolerations of a platform are plain values, since its plan is made of them."""
    inputs, options = DraDriverArgs.__annotations__, DriverOptions.__annotations__
    different = {name for name, hint in options.items() if inputs[name] != hint}
    assert different == {"tolerations"}
    assert options["tolerations"] == NotRequired[list[DriverToleration]]
    assert inputs["tolerations"] == NotRequired[list[pulumi.Input[DriverToleration]]]


class Shared(TypedDict):
    """Inputs of two components."""

    chart: NotRequired[str]
    """Chart to install."""


class Derived(Shared):
    """A component with these inputs and one more."""

    version: str
    """Version of the chart."""


def test_the_schema_has_no_sentences_of_inputs_that_are_inherited() -> None:
    """Why options repeat inputs: when this fails, `DraDriverArgs` can be `DriverOptions` and what the fleet says."""
    analyzer = Analyzer("probe")
    assert analyzer.get_docstring(Derived, "version") == "Version of the chart."
    assert analyzer.get_docstring(Derived, "chart") is None

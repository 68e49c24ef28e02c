"""Pools with allocation device-plugin: the requests to each cloud, and the configuration of the
plugin's chart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from dra_planner.fleet import read_fleet
from pulumi_dra.aks import AksGpuPool
from pulumi_dra.dra import DevicePlugin
from pulumi_dra.dra.from_fleet import plugin_args
from pulumi_dra.eks import EksGpuPool
from pulumi_dra.gke import GkeGpuPool
from pulumi_dra.platform.planned_pools import plugin_labels

GKE: dict[str, Any] = {
    "cluster_name": "c",
    "location": "us-central1",
    "zones": ["us-central1-a"],
    "machine": "a2-highgpu-1g",
    "service_account": "nodes@p.iam.gserviceaccount.com",
    "max_nodes": 4,
    "allocation": "device-plugin",
}
AKS: dict[str, Any] = {
    "cluster_name": "c",
    "resource_group_name": "g",
    "subnet_id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n",
    "location": "eastus",
    "machine": "Standard_NC24ads_A100_v4",
    "max_nodes": 4,
    "allocation": "device-plugin",
}
EKS: dict[str, Any] = {
    "cluster_name": "c",
    "node_role_arn": "arn:aws:iam::1:role/r",
    "subnet_ids": ["subnet-1"],
    "machine": "g6.12xlarge",
    "max_nodes": 4,
    "allocation": "device-plugin",
}
FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.36",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "devicePlugin": {"version": "0.20.0"},
}
SHARED = {
    "name": "shared",
    "machine": "g6.12xlarge",
    "count": {"max": 2},
    "allocation": "device-plugin",
    "sharing": {"strategy": "time-slicing", "replicas": 4},
}


def test_gke_installs_driver_and_plugin_and_shares_gpus(
    declare: Callable[..., Any],
) -> None:
    shared = {"mig_partition": "1g.5gb", "gpu_sharing": "time-slicing", "gpu_sharing_clients": 4}

    config = (
        declare(lambda: GkeGpuPool("a100", {**GKE, **shared})).one("NodePool").inputs["nodeConfig"]
    )

    assert config["guestAccelerators"] == [
        {
            "type": "nvidia-tesla-a100",
            "count": 1,
            "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"},
            "gpuPartitionSize": "1g.5gb",
            "gpuSharingConfig": {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4},
        }
    ]
    assert config["labels"] == {"nvidia.com/gpu.present": "true", "pulumi-dra/pool": "a100"}


def test_aks_partitions_the_gpus_of_a_plugin_pool(declare: Callable[..., Any]) -> None:
    inputs = (
        declare(lambda: AksGpuPool("a100", {**AKS, "gpu_instance_profile": "MIG1g"}))
        .one("AgentPool")
        .inputs
    )

    assert inputs["gpuInstanceProfile"] == "MIG1g"
    assert "nvidia.com/gpu.dra" not in inputs["nodeLabels"]


def test_eks_labels_its_nodes_for_the_plugin(declare: Callable[..., Any]) -> None:
    inputs = declare(lambda: EksGpuPool("l4", EKS)).one("NodeGroup").inputs

    assert inputs["labels"] == {"nvidia.com/gpu.present": "true", "pulumi-dra/pool": "l4"}
    assert [taint["key"] for taint in inputs["taints"]] == ["nvidia.com/gpu"]


def test_platform_configures_chart_and_node_labels_for_the_pools(
    declare: Callable[..., Any],
) -> None:
    fleet = read_fleet({**FLEET, "pools": [SHARED]})
    inputs: Any = type("Inputs", (), {"device_plugin_chart": ""})()

    values = (
        declare(lambda: DevicePlugin("plugin", plugin_args(inputs, fleet)))
        .one("Release")
        .inputs["values"]
    )

    assert values["config"]["default"] == "whole-gpus"
    assert set(values["config"]["map"]) == {"whole-gpus", "time-slicing-4"}
    assert plugin_labels(fleet, fleet.pools[0]) == {
        "nvidia.com/device-plugin.config": "time-slicing-4"
    }


def test_fleet_of_whole_gpus_uses_the_charts_defaults(declare: Callable[..., Any]) -> None:
    fleet = read_fleet({**FLEET, "pools": [{**SHARED, "sharing": None}]})
    inputs: Any = type("Inputs", (), {"device_plugin_chart": ""})()

    values = (
        declare(lambda: DevicePlugin("plugin", plugin_args(inputs, fleet)))
        .one("Release")
        .inputs["values"]
    )

    assert "config" not in values


@pytest.mark.parametrize(
    ("component", "args", "message"),
    [
        (GkeGpuPool, {**GKE, "allocation": "both"}, "allocation"),
        (GkeGpuPool, {**GKE, "gpu_sharing": "mps"}, "gpu_sharing_clients"),
        (GkeGpuPool, {**GKE, "gpu_sharing_clients": 4}, "applies only to gpu_sharing"),
        (GkeGpuPool, {**GKE, "mig_partition": "all-1g.5gb"}, "a partition size"),
        (AksGpuPool, {**AKS, "gpu_instance_profile": "MIG5g"}, "gpu_instance_profile"),
    ],
)
def test_wrong_inputs_are_rejected(
    declare: Callable[..., Any], component: Any, args: dict[str, Any], message: str
) -> None:
    with pytest.raises(pulumi.RunError, match=message):
        declare(lambda: component("pool", args))

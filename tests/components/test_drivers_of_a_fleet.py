"""The drivers and pools of a fleet, as inputs of the components in the cluster."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from dra_planner.drivers.dranet import DRIVER as DRANET
from dra_planner.fleet import Fleet, read_fleet
from pulumi_dra.dra import DeviceDriver, DraDriver, Dranet
from pulumi_dra.dra.dranet.from_fleet import dranet_args
from pulumi_dra.dra.node_terms import pool_tolerations
from pulumi_dra.dra.nvidia.from_fleet import driver_args

FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.36",
    "systemPool": {"machine": "m7i.large", "count": 2},
    "drivers": {"nvidia": {"version": "0.5.0"}},
    "devicePlugin": False,
    "pools": [{"name": "h100", "machine": "p5.48xlarge", "count": {"min": 0, "max": 8}}],
}


def fleet(nvidia: dict[str, Any] | None = None, **changes: Any) -> Fleet:
    document = {**FLEET, **changes}
    document["drivers"] = {**document["drivers"], "nvidia": {"version": "0.5.0", **(nvidia or {})}}
    return read_fleet(document)


def release_of(declare: Callable[..., Any], of: Fleet, **options: Any) -> dict[str, Any]:
    """Return the values of the driver's release for a fleet and the options of a platform."""
    plan: Any = SimpleNamespace(pools=[SimpleNamespace(nodes=SimpleNamespace(max=8))])
    inputs: Any = SimpleNamespace(driver=options)
    declared = declare(lambda: DraDriver("driver", driver_args(inputs, of, plan)))
    values: dict[str, Any] = declared.one("Release").inputs["values"]
    return values


def test_driver_options_are_read_from_the_fleet(declare: Any) -> None:
    nvidia = {
        "featureGates": {"ConsumableShares": True},
        "consumableShares": 4,
        "computeDomains": True,
    }
    values = release_of(declare, fleet(nvidia))
    assert values["featureGates"] == {"ConsumableShares": True}
    assert values["consumableShares"] == "4"
    assert values["resources"]["computeDomains"] == {"enabled": True}


def test_fleet_without_driver_options_uses_the_charts_defaults(declare: Any) -> None:
    values = release_of(declare, fleet())
    assert not {"featureGates", "consumableShares", "controller", "webhook"} & set(values)


def test_driver_tolerates_the_taints_of_pools_and_options(
    declare: Any,
) -> None:
    taints = [{"key": "team", "value": "vision"}, {"key": "batch", "effect": "NoExecute"}]
    pools = [{**FLEET["pools"][0], "taints": taints}]
    values = release_of(
        declare,
        fleet(pools=pools),
        tolerations=[{"key": "own", "value": "x", "effect": "NoSchedule"}],
    )
    assert values["kubeletPlugin"]["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "batch", "operator": "Exists"},
        {"key": "team", "operator": "Exists"},
        {"key": "own", "operator": "Equal", "value": "x", "effect": "NoSchedule"},
    ]


GKE_ARM = {
    "cloud": "gke",
    "region": "us-central1",
    "network": {"zones": ["us-central1-a"]},
    "pools": [
        {
            "name": "gb200",
            "machine": "a4x-highgpu-4g",
            "count": {"min": 0, "max": 8},
            "capacity": {"reservation": "gb200"},
        }
    ],
}
AKS_SPOT = {
    "cloud": "aks",
    "region": "eastus",
    "kubernetes": "1.35",
    "systemPool": {"machine": "Standard_D4s_v5"},
    "pools": [
        {
            "name": "t4",
            "machine": "Standard_NC4as_T4_v3",
            "count": {"min": 0, "max": 8},
            "capacity": "spot",
        }
    ],
}


@pytest.mark.parametrize(
    ("of", "key"),
    [(GKE_ARM, "kubernetes.io/arch"), (AKS_SPOT, "kubernetes.azure.com/scalesetpriority")],
    ids=["Arm nodes of GKE", "Spot nodes of AKS"],
)
def test_driver_tolerates_the_taints_that_a_cloud_adds(of: dict[str, Any], key: str) -> None:
    """Without the toleration, these nodes wouldn't publish slices."""
    assert [each["key"] for each in pool_tolerations(fleet(**of))] == [key]


def test_aks_driver_uses_the_node_images_gpu_driver(declare: Any) -> None:
    values = release_of(
        declare, fleet(**{**AKS_SPOT, "drivers": {"nvidia": {"version": "25.8.1"}}})
    )
    assert values["nvidiaDriverRoot"] == "/"
    assert values["resources"]["computeDomains"] == {"enabled": False}
    assert {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"} in values[
        "kubeletPlugin"
    ]["tolerations"]


@pytest.mark.parametrize(("dranet", "version"), [(True, "1.0.0"), ({"version": "1.1.0"}, "1.1.0")])
def test_dranet_is_installed_in_the_fleets_version(declare: Any, dranet: Any, version: str) -> None:
    pools = [{**FLEET["pools"][0], "taints": [{"key": "team"}]}]
    with_dranet = fleet(drivers={"dranet": dranet}, pools=pools)
    of_fleet = with_dranet.drivers.of(DRANET)
    assert of_fleet is not None
    release = (
        declare(lambda: Dranet("dranet", dranet_args(with_dranet, of_fleet))).one("Release").inputs
    )
    assert (release["chart"], release["version"], release["namespace"]) == (
        "aws-dranet",
        version,
        "kube-system",
    )
    assert release["repositoryOpts"] == {"repo": "https://aws.github.io/eks-charts"}
    assert release["skipAwait"] is True
    assert release["values"] == {
        "nodeSelector": {"nvidia.com/gpu.dra": "true"},
        "tolerations": [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "team", "operator": "Exists"},
        ],
    }


def test_dranet_image_can_come_from_another_region(declare: Any) -> None:
    repository = "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/dranet"
    release = (
        declare(lambda: Dranet("dranet", {"image_repository": repository})).one("Release").inputs
    )
    assert release["values"]["image"] == {"repository": repository}  # the chart sets the tag


def test_two_drivers_in_one_program_have_different_names(declare: Any) -> None:
    def make() -> None:
        for name in ("blue", "green"):
            cluster = pulumi.ProviderResource("kubernetes", name, {})
            args: Any = {"version": "0.4.1", "platform": "eks", "max_nodes": 4}
            DraDriver(name, args, opts=pulumi.ResourceOptions(providers={"kubernetes": cluster}))

    declared = declare(make)
    names = [(resource.type, resource.name) for resource in declared.resources]
    assert len(set(names)) == len(names)
    providers = {r.name: r.provider for r in declared.resources if r.type.startswith("kubernetes:")}
    assert {provider for name, provider in providers.items() if name.startswith("blue")} == {"blue"}
    assert {provider for name, provider in providers.items() if name.startswith("green")} == {
        "green"
    }


def test_example_driver_is_installed_from_its_chart(declare: Any) -> None:
    taints = [{"key": "team", "value": "vision"}]

    def make() -> DeviceDriver:
        return DeviceDriver(
            "example", {"driver": "example", "platform": "eks", "tolerations": taints}
        )

    release = declare(make).one("Release").inputs

    assert (release["chart"], release["version"], release["name"]) == (
        "oci://registry.k8s.io/dra-example-driver/charts/dra-example-driver",
        "0.4.0",
        "dra-example-driver",
    )
    (toleration,) = release["values"]["kubeletPlugin"]["tolerations"]
    assert (toleration["key"], toleration["value"]) == ("team", "vision")

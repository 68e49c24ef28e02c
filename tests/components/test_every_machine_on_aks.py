"""Every GPU machine type in Azure's table with every capacity type, and unusual but valid fleets,
checked with Azure's own API models and with the simulated Azure.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from azure.mgmt.containerservice import models
from azure_api import REQUESTS, refusals
from pulumi.runtime.proto import provider_pb2
from test_unusual_fleets import MANY, TAINTS, platform, pool

from dra_planner import catalog
from dra_sandbox.clouds.azure_native.provider import Azure
from dra_sandbox.clouds.azure_native.resource_types import ROWS
from dra_sandbox.clouds.wire_values import to_wire
from pulumi_dra.aks import AksGpuPool

pytestmark = pytest.mark.long

Declare = Callable[..., Any]
KINDS: Mapping[str, Mapping[str, Any]] = {
    "on-demand": {},
    "spot": {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1},
    "reservation": {},
}
GROUP = (
    "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/capacityReservationGroups/bought"
)
# learn.microsoft.com/azure/virtual-machines/sizes: Grace processors; all others are x64.
ARM = ("_GB200_", "_GB300_")


@pytest.fixture(scope="module")
def azure() -> Azure:
    cloud = Azure()
    cloud.Configure(provider_pb2.ConfigureRequest(args=to_wire({"location": "eastus"})), None)
    return cloud


@pytest.fixture(scope="module")
def machines() -> list[str]:
    found = [
        m.name
        for m in catalog.machines("aks")
        if m.accelerator and m.accelerator.vendor == "nvidia"
    ]
    assert len(found) > 40
    return found


@pytest.fixture(scope="module")
def pools(declare: Declare, machines: list[str]) -> list[Any]:
    """Return the declared agent pools: each machine type with each capacity type; Spot pools are
    autoscaled.
    """

    def make() -> None:
        for machine in machines:
            for kind in KINDS:
                args: dict[str, Any] = {
                    "cluster_name": "dev",
                    "resource_group_name": "group",
                    "subnet_id": "subnet",
                    "location": "eastus",
                    "pool_name": "gpus",
                    "machine": machine,
                    "max_nodes": 2,
                    "capacity": kind,
                    "autoscaled": kind == "spot",
                }
                if kind == "reservation" and not is_reserved(machine):
                    continue
                if kind == "reservation":
                    args |= {"reservation_group_id": GROUP, "cluster_principal_id": "p"}
                AksGpuPool(f"{machine}/{kind}", args)

    found: list[Any] = declare(make).all("AgentPool")
    reserved = [machine for machine in machines if is_reserved(machine)]
    assert len(found) == len(machines) * (len(KINDS) - 1) + len(reserved)
    assert {"Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4", "Standard_NV36ads_A10_v5"} <= set(
        reserved
    )
    return found


def is_reserved(machine: str) -> bool:
    """Return whether capacity reservations support the machine type:
    learn.microsoft.com/…/virtual-machines/capacity-reservation-overview.
    """
    return not machine.startswith("Standard_ND") and "H100_v5" not in machine


def errors_from_azure(azure: Azure, resources: list[Any]) -> set[tuple[str, str]]:
    """Return the errors that the simulated Azure returns to the engine for resources: schema,
    values, and rules.
    """
    errors = set()
    for each in resources:
        urn = f"urn:pulumi:dev::p::{each.type}::{each.name}"
        request = provider_pb2.CheckRequest(
            urn=urn, news=to_wire(dict(each.inputs)), randomSeed=b"s", name=each.name
        )
        errors |= {(each.name, failure.reason) for failure in azure.Check(request, None).failures}
    return errors


def errors_from_models(resources: list[Any]) -> set[tuple[str, str]]:
    return {
        (each.name, errors) for each in resources for errors in refusals(each.type, each.inputs)
    }


def test_every_aks_pool_is_a_valid_api_request(pools: list[Any]) -> None:
    assert errors_from_models(pools) == set()


def test_simulated_aks_accepts_every_pool(azure: Azure, pools: list[Any]) -> None:
    assert errors_from_azure(azure, pools) == set()


def test_aks_pools_have_the_expected_capacity_and_image(pools: list[Any]) -> None:
    for each in pools:
        machine, kind = each.parent.split("/")
        inputs = each.inputs
        assert inputs["vmSize"] == machine
        assert {key: inputs.get(key) for key in KINDS["spot"]} == {
            key: KINDS[kind].get(key) for key in KINDS["spot"]
        }
        assert inputs.get("capacityReservationGroupID") == (
            GROUP if kind == "reservation" else None
        )
        assert ("upgradeSettings" in inputs) == (kind != "spot")
        assert inputs["enableAutoScaling"] is (kind == "spot") is ("maxCount" in inputs)
        assert (inputs["osSKU"], inputs["gpuProfile"]) == ("Ubuntu", {"driver": "Install"})
        arch = "arm64" if any(word in machine for word in ARM) else "amd64"
        assert catalog.machine("aks", machine).arch == arch


AKS: dict[str, Any] = {
    "cloud": "aks",
    "region": "eastus",
    "kubernetes": "1.35",
    "systemPool": {"machine": "Standard_D4s_v5"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [pool("Standard_NC4as_T4_v3", "t4")],
}
T4 = "Standard_NC4as_T4_v3"
FLEETS: dict[str, dict[str, Any]] = {
    "zones by number": {"network": {"zones": 3}, "autoscaler": "cluster-autoscaler"},
    "zones by name": {"network": {"zones": ["eastus-1", "eastus-3"]}},
    "a pool in its own zone": {
        "network": {"zones": 2},
        "pools": [pool(T4, zones=["eastus-3"])],
    },
    "no zone": {"network": {"zones": 0}},
    "an existing subnet": {"network": {"subnetIds": ["/subscriptions/s/subnets/mine"]}},
    "only Spot": {"pools": [pool(T4, capacity="spot")]},
    "arm": {"pools": [pool("Standard_ND128isr_NDR_GB200_v6")]},
    "two pools of one machine": {"pools": [pool(T4), pool(T4, "more", labels={"a": "b"})]},
    "names of maximum length": {"pools": [pool(T4, "l" * 12)]},
    "many labels and taints": {"pools": [pool(T4, labels=MANY, taints=TAINTS)]},
    "kubelet settings": {"pools": [pool(T4, maxPods=250, diskGib=2048)]},
    "few pods": {"pools": [pool(T4, maxPods=10, diskGib=50)]},
    "a reservation": {"pools": [pool("Standard_NC24ads_A100_v4", capacity={"reservation": GROUP})]},
    "allowed ranges": {"endpoint": {"publicAccessCidrs": ["203.0.113.0/24", "198.51.100.7/32"]}},
}


@pytest.mark.parametrize("changes", FLEETS.values(), ids=FLEETS)
def test_azure_accepts_the_declared_resources(
    declare: Declare, azure: Azure, changes: dict[str, Any]
) -> None:
    tags = {f"{'t' * 500}{n}": "v" * 256 for n in range(40)}
    resources = declare(lambda: platform({**AKS, **changes}, tags=tags)).resources

    ours = [each for each in resources if each.type.startswith("azure-native:")]
    modelled = [each for each in ours if each.type in REQUESTS]

    assert errors_from_models(modelled) == set()
    assert errors_from_azure(azure, ours) == set()
    assert len(ours) > 8
    assert {each.type for each in modelled} == set(REQUESTS)


@pytest.mark.parametrize(
    "name", ["a-platform-for-training-in-production", "a-platform-of-many-words-" * 6], ids=len
)
def test_names_fit_with_a_long_platform_name(declare: Declare, azure: Azure, name: str) -> None:
    pools = [pool(T4, f"{'l' * 11}{letter}") for letter in "ab"]
    resources = declare(lambda: platform({**AKS, "pools": pools}, name=name)).resources

    ours = [each for each in resources if each.type.startswith("azure-native:")]

    assert errors_from_azure(azure, ours) == set()
    # names that become labels: learn.microsoft.com/azure/aks/azure-cni-overlay, "Limitations"
    for each in ours:
        if each.type.rpartition(":")[2] in ("ResourceGroup", "VirtualNetwork", "Subnet"):
            assert len(each.name) + 8 <= 63
    (cluster,) = (each for each in ours if each.type.endswith(":ManagedCluster"))
    assert len(cluster.inputs["nodeResourceGroup"]) <= 80
    assert cluster.inputs["nodeResourceGroup"].startswith("a-plat")
    assert len(cluster.inputs["dnsPrefix"]) <= 54


# Values of a newer API, in addition to the values in the SDK that the components use.
NEWER = {"OSSKU": {"Ubuntu2404"}, "UpgradeChannel": set[str](), "ScaleSetPriority": set[str]()}
WORDS = {
    "osSKU": "OSSKU",
    "osType": "OSType",
    "osDiskType": "OSDiskType",
    "kubeletDiskType": "KubeletDiskType",
    "scaleSetPriority": "ScaleSetPriority",
    "scaleSetEvictionPolicy": "ScaleSetEvictionPolicy",
    "gpuInstanceProfile": "GPUInstanceProfile",
    "gpuProfile.driver": "GPUDriver",
    "mode": "AgentPoolMode",
    "type": "AgentPoolType",
}
CLUSTER_WORDS = {
    "sku.name": "ManagedClusterSKUName",
    "sku.tier": "ManagedClusterSKUTier",
    "supportPlan": "KubernetesSupportPlan",
    "networkProfile.networkPlugin": "NetworkPlugin",
    "networkProfile.networkPolicy": "NetworkPolicy",
    "networkProfile.networkDataplane": "NetworkDataplane",
    "networkProfile.outboundType": "OutboundType",
    "autoUpgradeProfile.upgradeChannel": "UpgradeChannel",
    "autoUpgradeProfile.nodeOSUpgradeChannel": "NodeOSUpgradeChannel",
    "nodeResourceGroupProfile.restrictionLevel": "RestrictionLevel",
    "securityProfile.azureKeyVaultKms.keyVaultNetworkAccess": "KeyVaultNetworkAccessTypes",
}


@pytest.mark.parametrize(
    ("kind", "path", "enum"),
    [
        *(("AgentPool", *row) for row in WORDS.items()),
        *(("ManagedCluster", *row) for row in CLUSTER_WORDS.items()),
    ],
)
def test_allowed_values_match_azures_enums(kind: str, path: str, enum: str) -> None:
    ours = ROWS[f"azure-native:containerservice:{kind}"].allowed[path]
    assert ours == {each.value for each in getattr(models, enum)} - NEWER.get(enum, set())


def test_every_allowed_value_is_compared_with_an_enum() -> None:
    pool_rows = ROWS["azure-native:containerservice:AgentPool"].allowed
    cluster_rows = ROWS["azure-native:containerservice:ManagedCluster"].allowed
    assert set(pool_rows) == set(WORDS)
    assert {path for path in cluster_rows if not path.startswith("agentPoolProfiles")} == set(
        CLUSTER_WORDS
    )


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown property": ({"vmsize": "x"}, "vmsize: is not of AgentPool"),
    "an invalid enum value": ({"osSKU": "Debian"}, "is not one of OSSKU"),
    "a text for a number": ({"count": "2"}, "is not of type int"),
    "a number for a text": ({"nodeLabels": {"a": 1}}, "nodeLabels.a: 1 is not of type str"),
    "a disk that is too large": ({"osDiskSizeGB": 4096}, "is against maximum 2048"),
    "an invalid driver": ({"gpuProfile": {"driver": "none"}}, "is not one of GPUDriver"),
    "a pool's name": ({"agentPoolName": "gpu-a"}, "agentPoolName: gpu-a"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_azure_models_reject_invalid_requests(name: str) -> None:
    inputs, words = REFUSED[name]
    (errors,) = refusals(
        "azure-native:containerservice:AgentPool", {"resourceName": "dev", **inputs}
    )
    assert words in errors

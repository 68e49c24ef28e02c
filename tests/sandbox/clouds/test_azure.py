"""Which clusters and agent pools the simulated Azure refuses, and which outputs it returns."""

from __future__ import annotations

import base64
import json
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.azure_native.functions import DEPLOYER
from dra_sandbox.clouds.azure_native.lost_zones import LOST_ZONE
from dra_sandbox.clouds.azure_native.managed_clusters import LONG_TERM
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.wire_values import from_wire, to_wire

CLUSTER, POOL = (
    "azure-native:containerservice:ManagedCluster",
    "azure-native:containerservice:AgentPool",
)
SUBNET, ROLE = "azure-native:network:Subnet", "azure-native:authorization:RoleAssignment"
SYSTEM = {"name": "system", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5"}
PLAIN_CLUSTER: dict[str, Any] = {
    "resourceGroupName": "group",
    "resourceName": "dev",
    "dnsPrefix": "dev",
    "kubernetesVersion": "1.35",
    "agentPoolProfiles": [SYSTEM],
}
PLAIN_POOL: dict[str, Any] = {
    "resourceGroupName": "group",
    "resourceName": "dev",
    "agentPoolName": "t4",
    "vmSize": "Standard_NC4as_T4_v3",
    "count": 1,
}


POOLS: dict[str, tuple[dict[str, Any], str]] = {
    "plain": ({}, ""),
    "empty": ({"count": 0}, ""),
    "a hyphen": ({"agentPoolName": "gpu-a"}, "agentPoolProfile.name is invalid"),
    "an upper-case letter": ({"agentPoolName": "aksMigNode"}, "agentPoolProfile.name is invalid"),
    "a label of AKS": (
        {"nodeLabels": {"kubernetes.azure.com/a": "b"}},
        "is preserved by aks system labels",
    ),
    "a label of Kubernetes": (
        {"nodeLabels": {"kubernetes.io/a": "b"}},
        "must begin with an allowed prefix",
    ),
    "a value of two words": (
        {"nodeLabels": {"a": "b c"}},
        "Node label 'a: b c' does not meet syntax",
    ),
    "a key of two words": ({"nodeLabels": {"a b": "c"}}, "does not meet syntax"),
    "a value of 64 characters": ({"nodeLabels": {"a": "b" * 64}}, "does not meet syntax"),
    "an invalid version": (
        {"orchestratorVersion": "x"},
        "Version x is not supported in this region",
    ),
    "an invalid patch version": (
        {"orchestratorVersion": "1.35.99"},
        "Version 1.35.99 is not supported in this region",
    ),
    "labels that pass": (
        {"nodeLabels": {"node.kubernetes.io/a": "b", "nvidia.com/gpu.dra": "true"}},
        "",
    ),
    "an invalid taint": ({"nodeTaints": ["a"]}, "is not key=value:effect"),
    "a taint of two words": ({"nodeTaints": ["a b=c:NoSchedule"]}, "is not valid"),
    "an effect of another API": ({"nodeTaints": ["a=b:NO_SCHEDULE"]}, "is not key=value:effect"),
    "a fourth zone": ({"availabilityZones": ["4"]}, "is not supported"),
    "a duplicate zone": ({"availabilityZones": ["1", "1"]}, "names a zone twice"),
    "a zone with its region": ({"availabilityZones": ["eastus-1"]}, "is not supported"),
    "an unknown size": ({"vmSize": "Standard_NC4as_T4_v9"}, "is not allowed in your subscription"),
    "few pods": ({"maxPods": 9}, "must be from 10 to 250"),
    "a large disk": ({"osDiskSizeGB": 4096}, "must be from 0 to 2048"),
    "no count": ({"count": None}, "properties.count is missing"),
    "too many nodes": ({"count": 1001}, "less than or equal to maxCount:1000"),
    "limits without scaling": (
        {"minCount": 1, "maxCount": 2},
        "only be set when enableAutoScaling",
    ),
    "scaling without limits": ({"enableAutoScaling": True}, "are required when enableAutoScaling"),
    "a count outside its limits": (
        {"enableAutoScaling": True, "minCount": 2, "maxCount": 4},
        "agentPoolProfile.count was 1",
    ),
    "spot": (
        {"scaleSetPriority": "Spot", "spotMaxPrice": -1, "scaleSetEvictionPolicy": "Delete"},
        "",
    ),
    "a negative count": (
        {"enableAutoScaling": True, "minCount": -1, "maxCount": 2},
        "minCount was -1",
    ),
    "a Spot price of zero": (
        {"scaleSetPriority": "Spot", "spotMaxPrice": 0},
        "must be greater than zero, or -1",
    ),
    "spot with surge": (
        {"scaleSetPriority": "Spot", "upgradeSettings": {"maxSurge": "1"}},
        "can't set max surge",
    ),
    "Spot with unavailable nodes": (
        {"scaleSetPriority": "Spot", "upgradeSettings": {"maxUnavailable": "1"}},
        "Spot pools can't set maxUnavailable",
    ),
    "a Spot price on regular nodes": ({"spotMaxPrice": 2}, "only be set on Spot pools"),
    "an upgrade that replaces nothing": (
        {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "0"}},
        "cannot both be 0",
    ),
    "a surge that isn't a number": (
        {"upgradeSettings": {"maxSurge": "one"}},
        "upgrade.maxSurge is invalid",
    ),
    "a drain timeout of days": (
        {"upgradeSettings": {"drainTimeoutInMinutes": 2000}},
        "must be from 1 to 1440",
    ),
    "MIG on a T4": (
        {"gpuInstanceProfile": "MIG1g"},
        "is not supported for VM size Standard_NC4as_T4_v3",
    ),
    "MIG": ({"vmSize": "Standard_NC24ads_A100_v4", "gpuInstanceProfile": "MIG1g"}, ""),
    "reserved": ({"capacityReservationGroupID": "g"}, ""),
    "reserved Spot": (
        {"capacityReservationGroupID": "g", "scaleSetPriority": "Spot", "spotMaxPrice": -1},
        "do not support Spot VMs",
    ),
    "a reservation with other settings": (
        {"capacityReservationGroupID": "g", "proximityPlacementGroupID": "p"},
        "do not support proximity placement groups",
    ),
    "reserved ND": (
        {"capacityReservationGroupID": "g", "vmSize": "Standard_ND96isr_H100_v5"},
        "do not support the VM size Standard_ND96isr_H100_v5",
    ),
    "a subnet with a long name": (
        {"vnetSubnetID": f"/subscriptions/s/resourceGroups/r/virtualNetworks/n/subnets/{'n' * 64}"},
        "must be 63 characters or less",
    ),
    "an unknown profile": ({"gpuInstanceProfile": "1g.5gb"}, "is not one of MIG1g"),
    "an unknown image": ({"osSKU": "Debian"}, "is not one of AzureLinux"),
    "Azure Linux on Arm": (
        {"vmSize": "Standard_ND128isr_GB300_v6", "osSKU": "AzureLinux"},
        "supports only Ubuntu",
    ),
    "a misspelled property": ({"vmsize": "x"}, 'unknown property "vmsize"'),
    "GPUs that AKS manages": (
        {"gpuProfile": {"driver": "None", "nvidia": {"managementMode": "Managed"}}},
        'unknown property "nvidia"',
    ),
    "a count as text": ({"count": "one"}, "expected an integer"),
}


@pytest.mark.parametrize("name", POOLS)
def test_agent_pools_are_validated(azure: Any, name: str) -> None:
    changes, expected = POOLS[name]
    pool = {key: value for key, value in {**PLAIN_POOL, **changes}.items() if value is not None}
    error = azure.check_error(POOL, pool)
    assert expected in error
    assert bool(error) == bool(expected)


def kms(**settings: Any) -> dict[str, Any]:
    """Return the property of a cluster whose secrets are encrypted with a customer-managed key."""
    return {"securityProfile": {"azureKeyVaultKms": {"enabled": True, **settings}}}


CLUSTERS: dict[str, tuple[dict[str, Any], str]] = {
    "plain": ({}, ""),
    "no system pool": (
        {"agentPoolProfiles": [{**SYSTEM, "mode": "User"}]},
        "at least one system pool",
    ),
    "an empty system pool": (
        {"agentPoolProfiles": [{**SYSTEM, "count": 0}]},
        "agentPoolProfile.count was 0",
    ),
    "taints of system nodes": (
        {"agentPoolProfiles": [{**SYSTEM, "nodeTaints": ["a=b:NoSchedule"]}]},
        "SystemPoolHasRestrictedTaint",
    ),
    "the taint of system nodes": (
        {"agentPoolProfiles": [{**SYSTEM, "nodeTaints": ["CriticalAddonsOnly=true:NoSchedule"]}]},
        "",
    ),
    "spot system nodes": (
        {"agentPoolProfiles": [{**SYSTEM, "scaleSetPriority": "Spot"}]},
        "can't be system pools",
    ),
    "no accounts without Entra": (
        {"disableLocalAccounts": True},
        "integrate your cluster with AAD",
    ),
    "no accounts with Entra": ({"disableLocalAccounts": True, "aadProfile": {"managed": True}}, ""),
    "private, with ranges": (
        {
            "apiServerAccessProfile": {
                "enablePrivateCluster": True,
                "authorizedIPRanges": ["1.2.3.0/24"],
            }
        },
        "is not supported for private cluster",
    ),
    "too many ranges": (
        {
            "apiServerAccessProfile": {
                "authorizedIPRanges": [f"10.0.{each}.0/24" for each in range(201)]
            }
        },
        "at most 200",
    ),
    "no identity together with an identity": (
        {"apiServerAccessProfile": {"authorizedIPRanges": ["0.0.0.0/32", "1.2.3.0/24"]}},
        "Setting apiServerAuthorizedIPRange to 0.0.0.0/32 is not allowed with other IP ranges",
    ),
    "nobody": ({"apiServerAccessProfile": {"authorizedIPRanges": ["0.0.0.0/32"]}}, ""),
    "a version that is not offered": (
        {"kubernetesVersion": "1.21"},
        "is not supported in this region",
    ),
    "a partial version": ({"kubernetesVersion": "1"}, "is not supported in this region"),
    "an invalid tier": (
        {"sku": {"name": "Base", "tier": "Gold"}},
        "is not one of Free, Premium, Standard",
    ),
    "long-term support in another tier": (
        {"supportPlan": "AKSLongTermSupport", "sku": {"name": "Base", "tier": "Standard"}},
        "requires the Premium tier",
    ),
    "a duplicate pool": ({"agentPoolProfiles": [SYSTEM, SYSTEM]}, "is used by several agent pools"),
    "an invalid range": (
        {"apiServerAccessProfile": {"authorizedIPRanges": ["office"]}},
        "office is not a valid range",
    ),
    "an invalid pod range": (
        {"networkProfile": {"podCidr": "10.0.0.0/33"}},
        "podCidr is invalid",
    ),
    "a DNS service in the pod range": (
        {"networkProfile": {"serviceCidr": "10.1.0.0/16", "dnsServiceIP": "10.2.0.10"}},
        "must be within 10.1.0.0/16",
    ),
    "a DNS name with a dot": ({"dnsPrefix": "a.b"}, "dnsPrefix is invalid"),
    "no DNS name": ({"dnsPrefix": None}, "dnsPrefix is missing"),
    "a resource group name that is too long": (
        {"nodeResourceGroup": "g" * 81},
        "more than 80 characters",
    ),
    "policy without data plane": (
        {"networkProfile": {"networkPolicy": "cilium"}},
        "requires networkDataplane cilium",
    ),
    "a key for secrets": (kms(keyId="https://v.vault.azure.net/keys/k/1"), ""),
    "a key without a version": (
        kms(keyId="https://v.vault.azure.net/keys/k"),
        "is not a valid key identifier",
    ),
    "no key": (kms(), "is not a valid key identifier"),
    "a disabled key": (
        kms(enabled=False, keyId="https://v.vault.azure.net/keys/k/1"),
        "must be empty",
    ),
    "a private vault without its ID": (
        kms(keyId="https://v.vault.azure.net/keys/k/1", keyVaultNetworkAccess="Private"),
        "must have it",
    ),
    "a private vault": (
        kms(
            keyId="https://v.vault.azure.net/keys/k/1",
            keyVaultNetworkAccess="Private",
            keyVaultResourceId="v",
        ),
        "requires API Server VNet Integration",
    ),
    "an invalid vault access mode": (
        kms(keyId="https://v.vault.azure.net/keys/k/1", keyVaultNetworkAccess="Open"),
        "is not one of Private, Public",
    ),
    "an unknown channel": ({"autoUpgradeProfile": {"upgradeChannel": "fast"}}, "is not one of"),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters_are_validated(azure: Any, name: str) -> None:
    changes, expected = CLUSTERS[name]
    cluster = {
        key: value for key, value in {**PLAIN_CLUSTER, **changes}.items() if value is not None
    }
    error = azure.check_error(CLUSTER, cluster)
    assert expected in error
    assert bool(error) == bool(expected)


def refusal(call: Any) -> str:
    with pytest.raises(grpc.RpcError) as refused:
        call()
    return str(refused.value.details())


def test_a_pool_needs_its_cluster_and_a_unique_name(azure: Any) -> None:
    assert "ResourceNotFound" in refusal(lambda: azure.create(POOL, **PLAIN_POOL))
    azure.create(CLUSTER, **PLAIN_CLUSTER)
    pool = azure.create(POOL, **PLAIN_POOL)
    assert pool["id"].endswith(
        "/resourcegroups/group/providers/Microsoft.ContainerService/managedClusters/dev/agentPools/t4"
    )
    assert "cannot create already existing resource" in refusal(
        lambda: azure.create(POOL, **PLAIN_POOL)
    )


def test_a_pool_cannot_be_newer_than_its_cluster(azure: Any) -> None:
    azure.create(CLUSTER, **PLAIN_CLUSTER)
    newer = {**PLAIN_POOL, "orchestratorVersion": "1.36"}
    assert "NodePoolMcVersionIncompatible" in refusal(lambda: azure.create(POOL, **newer))
    assert (
        azure.create(POOL, **{**newer, "orchestratorVersion": "1.34"})["currentOrchestratorVersion"]
        == "1.34.3"
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("maxPods", 30),
        ("osDiskSizeGB", 100),
        ("availabilityZones", ["1"]),
        ("gpuProfile", {"driver": "None"}),
    ],
)
def test_changes_of_immutable_properties_fail_without_replacement(
    azure: Any, key: str, value: Any
) -> None:
    azure.create(CLUSTER, **PLAIN_CLUSTER)
    state = azure.create(POOL, **PLAIN_POOL)
    after = {**PLAIN_POOL, key: value}
    assert azure.replaces(POOL, PLAIN_POOL, after) == []
    error = refusal(lambda: azure.update(POOL, state, PLAIN_POOL, after))
    assert (
        error == f"PropertyChangeNotAllowed: Changing property 'properties.{key}' is not allowed."
    )


def test_counts_labels_and_taints_change_in_place(azure: Any) -> None:
    azure.create(CLUSTER, **PLAIN_CLUSTER)
    state = azure.create(POOL, **PLAIN_POOL)
    after = {**PLAIN_POOL, "count": 3, "nodeLabels": {"a": "b"}, "nodeTaints": ["a=b:NoSchedule"]}
    assert azure.replaces(POOL, PLAIN_POOL, after) == []
    assert azure.update(POOL, state, PLAIN_POOL, after)["count"] == 3


def test_a_zone_outage_prevents_new_nodes(memory: Memory, azure: Any) -> None:
    azure.create(CLUSTER, **PLAIN_CLUSTER)
    pools = {
        name: {**PLAIN_POOL, "agentPoolName": name, "availabilityZones": zones}
        for name, zones in {"one": ["1"], "both": ["1", "2"], "none": []}.items()
    }
    made = {name: azure.create(POOL, **pool) for name, pool in pools.items()}
    memory.put(LOST_ZONE, "1", {})

    grown = {name: {**pool, "count": 2} for name, pool in pools.items()}

    assert "ZonalAllocationFailed" in refusal(
        lambda: azure.update(POOL, made["one"], pools["one"], grown["one"])
    )
    for name in ("both", "none"):
        assert azure.update(POOL, made[name], pools[name], grown[name])["count"] == 2
    assert "ZonalAllocationFailed" in refusal(
        lambda: azure.create(POOL, **{**pools["one"], "agentPoolName": "new"})
    )
    assert azure.update(POOL, made["one"], pools["one"], {**pools["one"], "count": 0})["count"] == 0


@pytest.mark.parametrize(
    ("bound", "constraint"),
    [
        ({"proximityPlacementGroupID": "p"}, "Proximity Placement Group"),
        ({"osDiskType": "Ephemeral"}, "Differencing (Ephemeral) Disks"),
    ],
)
def test_a_zone_outage_with_a_constrained_pool_is_overconstrained(
    memory: Memory, azure: Any, bound: dict[str, str], constraint: str
) -> None:
    azure.create(CLUSTER, **PLAIN_CLUSTER)
    memory.put(LOST_ZONE, "1", {})
    error = refusal(
        lambda: azure.create(POOL, **{**PLAIN_POOL, **bound, "availabilityZones": ["1"]})
    )
    assert error.startswith(
        "OverconstrainedZonalAllocationRequest: Allocation failed. VM(s) with the following"
    )
    assert error.endswith(f"Constraints applied are: Availability Zone, {constraint}, VM Size")


@pytest.mark.parametrize(
    ("key", "value"), [("vmSize", "Standard_NC8as_T4_v3"), ("gpuInstanceProfile", "MIG2g")]
)
def test_changes_that_the_provider_replaces(azure: Any, key: str, value: str) -> None:
    assert azure.replaces(POOL, PLAIN_POOL, {**PLAIN_POOL, key: value}) == [key]


def test_a_minor_version_cannot_be_skipped(azure: Any) -> None:
    state = azure.create(CLUSTER, **{**PLAIN_CLUSTER, "kubernetesVersion": "1.34"})
    before = {**PLAIN_CLUSTER, "kubernetesVersion": "1.34"}
    assert "can't be skipped" in refusal(
        lambda: azure.update(CLUSTER, state, before, {**before, "kubernetesVersion": "1.36"})
    )
    assert (
        azure.update(CLUSTER, state, before, PLAIN_CLUSTER)["currentKubernetesVersion"] == "1.35.3"
    )


def test_an_old_minor_version_needs_long_term_support(memory: Memory, azure: Any) -> None:
    memory.put(LONG_TERM, "1.34", {})
    old = {**PLAIN_CLUSTER, "kubernetesVersion": "1.34"}
    error = refusal(lambda: azure.create(CLUSTER, **old))
    assert error.startswith(
        "K8sVersionNotSupported: Managed cluster dev is on version 1.34.3, which is only available "
        "for Long-Term "
        "Support (LTS)."
    )
    azure.create(
        CLUSTER, **old, supportPlan="AKSLongTermSupport", sku={"name": "Base", "tier": "Premium"}
    )
    azure.create(CLUSTER, **{**PLAIN_CLUSTER, "resourceName": "new"})


def test_an_automatic_patch_upgrade_is_an_update_in_place(azure: Any) -> None:
    """With the channel "patch", AKS returns 1.35.9 for the requested 1.35, and 1.35 is requested
    again.
    """
    moved = {**PLAIN_CLUSTER, "kubernetesVersion": "1.35.9"}
    state = {**azure.create(CLUSTER, **PLAIN_CLUSTER), **moved}
    assert azure.replaces(CLUSTER, moved, PLAIN_CLUSTER) == []
    assert azure.update(CLUSTER, state, moved, PLAIN_CLUSTER)["kubernetesVersion"] == "1.35"


def subnet(azure: Any, **changes: Any) -> str:
    inputs = {
        "resourceGroupName": "group",
        "virtualNetworkName": "net",
        "subnetName": "nodes",
        **changes,
    }
    return str(azure.create(SUBNET, **{"addressPrefix": "10.224.0.0/20", **inputs})["id"])


def role(azure: Any, scope: str, *, principal: str = "p", name: str = "n") -> None:
    definition = (
        "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/"
        "4d97b98b-1d4f-4787-a291-c67834d212e7"
    )
    azure.create(
        ROLE,
        scope=scope,
        principalId=principal,
        roleDefinitionId=definition,
        roleAssignmentName=name,
    )


def test_a_role_assignment_is_unique(azure: Any) -> None:
    role(azure, "/subscriptions/s/a")
    role(azure, "/subscriptions/s/a", principal="q", name="m")
    role(azure, "/subscriptions/s/b", name="o")
    assert "RoleAssignmentExists" in refusal(
        lambda: role(azure, "/subscriptions/S/A", name="another")
    )


def inside(place: str, **changes: Any) -> dict[str, Any]:
    return {**PLAIN_CLUSTER, "agentPoolProfiles": [{**SYSTEM, "vnetSubnetID": place}], **changes}


def test_a_cluster_needs_permission_to_join_its_subnet(azure: Any) -> None:
    place = subnet(azure)
    assert "does not have permission" in refusal(lambda: azure.create(CLUSTER, **inside(place)))
    role(azure, place)
    assert azure.create(CLUSTER, **inside(place))["provisioningState"] == "Succeeded"


def test_service_and_node_ranges_must_not_overlap(azure: Any) -> None:
    place = subnet(azure, addressPrefix="10.0.4.0/24")
    role(azure, place)
    assert "ServiceCidrOverlapExistingSubnetsCidr" in refusal(
        lambda: azure.create(CLUSTER, **inside(place))
    )


def test_the_subnet_needs_its_nat_gateway_first(azure: Any) -> None:
    place = subnet(azure)
    role(azure, place)
    out = {"networkProfile": {"outboundType": "userAssignedNATGateway"}}
    assert "requires a NAT gateway" in refusal(
        lambda: azure.create(CLUSTER, **inside(place, **out))
    )


def test_names_end_in_eight_digits_without_a_hyphen(azure: Any) -> None:
    name = azure.name("azure-native:resources:ResourceGroup", {})["resourceGroupName"]
    assert name.startswith("trial")
    assert len(name) == len("trial") + 8
    assert "-" not in name


def test_the_kubeconfig_contains_no_token(azure: Any) -> None:
    token = "azure-native:containerservice:listManagedClusterUserCredentials"
    answer = azure.invoke(token, resourceGroupName="group", resourceName="dev", format="exec")
    (found,) = from_wire(getattr(answer, "return"))["kubeconfigs"]
    document = json.loads(base64.b64decode(found["value"]))
    assert document["clusters"][0]["cluster"]["server"].startswith("https://dev-")
    assert document["users"][0]["user"]["exec"]["command"] == "kubelogin"
    static = azure.invoke(token, resourceGroupName="group", resourceName="dev")
    assert "Getting static credential is not allowed" in static.failures[0].reason


def test_the_deploying_identity_is_available(azure: Any) -> None:
    answer = azure.invoke("azure-native:authorization:getClientConfig")
    assert from_wire(getattr(answer, "return"))["objectId"] == DEPLOYER


def test_a_location_is_required(simulated: Any) -> None:
    bare = simulated("azure-native")
    request = provider_pb2.CheckRequest(
        urn=f"urn:pulumi:dev::p::{CLUSTER}::trial",
        news=to_wire(PLAIN_CLUSTER),
        randomSeed=b"s",
        name="trial",
    )
    assert [each.property for each in bare.Check(request).failures] == ["location"]


def test_a_gateway_cannot_be_moved(azure: Any) -> None:
    token = "azure-native:network:NatGateway"
    given = {"resourceGroupName": "g", "natGatewayName": "n", "location": "eastus"}
    made = azure.create(token, **given)
    azure.update(token, made, given, {**given, "location": "East US"})
    with pytest.raises(grpc.RpcError, match="InvalidResourceLocation"):
        azure.update(token, made, given, {**given, "location": "westus"})

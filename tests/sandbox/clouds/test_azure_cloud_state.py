"""Errors of AKS that depend on operations in progress, used quotas, and resources of others."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from dra_sandbox.clouds.azure_native.deletions import ADDRESS, BALANCER, DISK, INTERFACE, LOCK
from dra_sandbox.clouds.azure_native.operations import OPERATION, STAYING_POD
from dra_sandbox.clouds.azure_native.quotas import (
    CLUSTERS,
    ENCRYPTION,
    FEATURE,
    OFFER,
    QUOTA,
    REGION,
    RESERVATION,
    RESTRICTED,
)
from dra_sandbox.clouds.azure_native.resource_providers import NAMESPACE
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.wire_values import from_wire

CLUSTER, POOL = (
    "azure-native:containerservice:ManagedCluster",
    "azure-native:containerservice:AgentPool",
)
SUBNET, GROUP = "azure-native:network:Subnet", "azure-native:resources:ResourceGroup"
T4 = "Standard_NC4as_T4_v3"  # 4 cores
IN_GROUP = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/group"


def cluster(**change: Any) -> dict[str, Any]:
    system = {"name": "system", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5"}
    plain = {
        "resourceGroupName": "group",
        "resourceName": "dev",
        "location": "eastus",
        "dnsPrefix": "dev",
    }
    return {**plain, "kubernetesVersion": "1.34", "agentPoolProfiles": [system], **change}


def pool(**change: Any) -> dict[str, Any]:
    plain = {
        "resourceGroupName": "group",
        "resourceName": "dev",
        "agentPoolName": "t4",
        "vmSize": T4,
        "count": 1,
    }
    return {**plain, "orchestratorVersion": "1.34", **change}


@pytest.fixture
def dev(memory: Memory, azure: Any) -> Any:
    """Return a subscription with one cluster: two system nodes with four cores each."""
    azure.made = azure.create(CLUSTER, **cluster())
    return azure


def test_row_103_exceeding_the_core_quota_of_a_family_fails(dev: Any, memory: Memory) -> None:
    memory.put(QUOTA, "StandardNCASv3_T4Family", {"cores": 8, "sizes": [T4]})
    made = dev.create(POOL, **pool(count=2))
    message = (
        r"Insufficient vcpu quota requested 4, remaining 0 for family StandardNCASv3_T4Family "
        r"for region eastus\."
    )
    with pytest.raises(grpc.RpcError, match=message):
        dev.update(POOL, made, pool(count=2), pool(count=3))
    assert dev.update(POOL, made, pool(count=2), pool(count=1))["count"] == 1
    # in another VM family
    dev.create(POOL, **pool(agentPoolName="a100", vmSize="Standard_NC24ads_A100_v4"))
    # with its own quota
    dev.create(POOL, **pool(agentPoolName="spot", count=9, scaleSetPriority="Spot"))


@pytest.mark.parametrize(
    ("surge", "passes"), [("0", True), ("1", False), (None, False), ("100%", False)]
)
def test_row_103_surge_nodes_count_toward_the_core_quota(
    dev: Any, memory: Memory, surge: str | None, passes: bool
) -> None:
    memory.put(QUOTA, "StandardNCASv3_T4Family", {"cores": 8, "sizes": [T4]})
    settings = {"upgradeSettings": {"maxSurge": surge, "maxUnavailable": "1"}} if surge else {}
    made = dev.create(POOL, **pool(count=2, **settings))
    dev.update(CLUSTER, dev.made, cluster(), cluster(kubernetesVersion="1.35"))
    later = pool(count=2, orchestratorVersion="1.35", **settings)
    if passes:
        assert (
            dev.update(POOL, made, pool(count=2, **settings), later)["currentOrchestratorVersion"]
            == "1.35.3"
        )
        return
    with pytest.raises(grpc.RpcError, match="Surge nodes would also consume vcpu quota"):
        dev.update(POOL, made, pool(count=2, **settings), later)


def test_row_103_system_nodes_count_toward_the_regional_quota(dev: Any, memory: Memory) -> None:
    memory.put(QUOTA, REGION, {"cores": 11})
    message = (
        r"Total Regional Cores quota\. .* Current Limit: 11, Current Usage: 8, Additional "
        r"Required: 4, .*: 12\."
    )
    with pytest.raises(grpc.RpcError, match=message):
        dev.create(POOL, **pool())
    with pytest.raises(grpc.RpcError, match="Current Usage: 8, Additional Required: 8"):
        dev.create(CLUSTER, **cluster(resourceName="other"))


def test_row_104_a_size_is_available_only_in_some_zones(dev: Any, memory: Memory) -> None:
    memory.put(OFFER, T4, {"zones": ["1", "3"]})
    message = (
        r"The zone\(s\) 2 for resource t4 is not supported\. The supported zones for location "
        r"eastus are 1,3"
    )
    with pytest.raises(grpc.RpcError, match=message):
        dev.create(POOL, **pool(availabilityZones=["1", "2"]))
    dev.create(POOL, **pool(availabilityZones=["1", "3"]))
    dev.create(POOL, **pool(agentPoolName="nowhere"))


def test_row_105_a_group_without_a_matching_reservation_is_ignored(
    dev: Any, memory: Memory
) -> None:
    """AKS only warns: the pool that it creates is in no group, which a refresh shows."""
    group = f"{IN_GROUP}/providers/Microsoft.Compute/capacityReservationGroups/t4s"
    wanted = pool(capacityReservationGroupID=group)
    assert dev.create(POOL, **wanted)["capacityReservationGroupID"] == group, (
        "nothing is known of reservations"
    )
    memory.put(
        RESERVATION, f"{group}/capacityReservations/r", {"sku": {"name": "Standard_NC8as_T4_v3"}}
    )
    beside = dev.create(POOL, **{**wanted, "agentPoolName": "beside"})
    assert "capacityReservationGroupID" not in beside
    memory.put(RESERVATION, f"{group}/capacityReservations/s", {"sku": {"name": T4}})
    assert (
        dev.create(POOL, **{**wanted, "agentPoolName": "inside"})["capacityReservationGroupID"]
        == group
    )


def test_row_106_encryption_at_host_must_be_enabled_in_the_subscription(
    dev: Any, memory: Memory
) -> None:
    memory.put(FEATURE, ENCRYPTION, {"state": "NotRegistered"})
    message = f"'{ENCRYPTION}' feature is not enabled for this subscription"
    with pytest.raises(grpc.RpcError, match=message):
        dev.create(POOL, **pool(enableEncryptionAtHost=True))
    encrypted = {**cluster()["agentPoolProfiles"][0], "enableEncryptionAtHost": True}
    with pytest.raises(grpc.RpcError, match=message):
        dev.create(CLUSTER, **cluster(resourceName="other", agentPoolProfiles=[encrypted]))
    dev.create(POOL, **pool(enableEncryptionAtHost=False))
    memory.put(FEATURE, ENCRYPTION, {"state": "Registered"})
    dev.create(POOL, **pool(agentPoolName="later", enableEncryptionAtHost=True))


def test_a_new_subscription_must_register_resource_providers(memory: Memory, azure: Any) -> None:
    memory.put(NAMESPACE, "Microsoft.ContainerService", {"registrationState": "NotRegistered"})
    with pytest.raises(
        grpc.RpcError, match=r"not registered to use namespace 'Microsoft\.ContainerService'"
    ):
        azure.create(CLUSTER, **cluster())
    network = "azure-native:network:VirtualNetwork"
    azure.create(network, resourceGroupName="group", virtualNetworkName="net")
    memory.put(NAMESPACE, "Microsoft.Network", {"registrationState": "NotRegistered"})
    with pytest.raises(
        grpc.RpcError, match=r"MissingSubscriptionRegistration: .* 'Microsoft\.Network'"
    ):
        azure.create(network, resourceGroupName="group", virtualNetworkName="more")


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"maxUnavailable": 0}, "UnsatisfiablePDB: PDB team/train has maxunavailble == 0"),
        ({}, "Drain node failed when evicting pod team/train-0 .* blocked by pdb team/train"),
    ],
)
def test_row_107_a_blocking_pod_fails_an_upgrade(
    dev: Any, memory: Memory, budget: dict[str, int], message: str
) -> None:
    made = dev.create(POOL, **pool())
    memory.put(
        STAYING_POD, "team/train-0", {"agentPool": made["id"], "budget": "team/train", **budget}
    )
    dev.update(CLUSTER, dev.made, cluster(), cluster(kubernetesVersion="1.35"))
    dev.update(POOL, made, pool(), pool(nodeLabels={"team": "a"}))  # this replaces no node
    with pytest.raises(grpc.RpcError, match=message):
        dev.update(POOL, made, pool(), pool(orchestratorVersion="1.35"))


def test_row_118_a_subnet_has_a_limit_of_addresses(memory: Memory, azure: Any) -> None:
    place = azure.create(
        SUBNET,
        resourceGroupName="group",
        virtualNetworkName="net",
        subnetName="nodes",
        addressPrefix="10.9.0.0/28",
    )["id"]
    network = {"networkPlugin": "azure", "networkPluginMode": "overlay"}
    system = [{**cluster()["agentPoolProfiles"][0], "vnetSubnetID": place}]
    memory.put(
        "azure-native:authorization:RoleAssignment",
        "r",
        {"scope": place, "roleDefinitionId": f"/{JOINS}"},
    )
    made = azure.create(CLUSTER, **cluster(networkProfile=network, agentPoolProfiles=system))
    inside = {"vnetSubnetID": place, "upgradeSettings": {"maxSurge": "1"}}
    # the maximum for 16 addresses, together with two system nodes
    state = azure.create(POOL, **pool(count=9, **inside))
    message = (
        r"Pre-allocated IPs 12 exceeds IPs available 11 in Subnet Cidr 10\.9\.0\.0/28, Subnet "
        r"Name nodes\."
    )
    with pytest.raises(grpc.RpcError, match=message):
        azure.update(POOL, state, pool(count=9, **inside), pool(count=10, **inside))
    limits = {"enableAutoScaling": True, "minCount": 0, "maxCount": 10}
    with pytest.raises(grpc.RpcError, match=message):
        azure.update(POOL, state, pool(count=9, **inside), pool(count=9, **inside, **limits))
    azure.update(
        CLUSTER,
        made,
        cluster(networkProfile=network, agentPoolProfiles=system),
        cluster(networkProfile=network, agentPoolProfiles=system, kubernetesVersion="1.35"),
    )
    with pytest.raises(grpc.RpcError, match=message):  # one more node while the old ones exist
        azure.update(
            POOL,
            state,
            pool(count=9, **inside),
            pool(count=9, orchestratorVersion="1.35", **inside),
        )


JOINS = "4d97b98b-1d4f-4787-a291-c67834d212e7"


def test_row_118_pods_without_overlay_use_addresses_of_the_subnet(
    memory: Memory, azure: Any
) -> None:
    place = azure.create(
        SUBNET,
        resourceGroupName="group",
        virtualNetworkName="net",
        subnetName="nodes",
        addressPrefix="10.9.0.0/24",
    )["id"]
    azure.create(CLUSTER, **cluster(networkProfile={"networkPlugin": "azure"}))
    with pytest.raises(grpc.RpcError, match="Pre-allocated IPs 333 exceeds IPs available 251"):
        # rancher/rancher issue 20784
        azure.create(POOL, **pool(count=3, maxPods=110, vnetSubnetID=place))
    azure.create(
        POOL, **pool(count=3, maxPods=110, vnetSubnetID=place, podSubnetID=f"{place}-of-pods")
    )


def test_row_118_each_node_uses_256_addresses_of_the_pod_range(memory: Memory, azure: Any) -> None:
    network = {
        "networkPlugin": "azure",
        "networkPluginMode": "overlay",
        "podCidr": "10.240.100.0/22",
    }
    azure.create(CLUSTER, **cluster(networkProfile=network))
    message = (
        r"Pre-allocated IPs 1280 exceeds IPs available 1024 in Subnet Cidr .*, Subnet Name "
        r"networkProfile.podCIDR"
    )
    with pytest.raises(grpc.RpcError, match=message):  # Azure/AKS-Construction issue 701
        azure.create(POOL, **pool(count=3))
    azure.create(POOL, **pool(count=2))
    wide = {"networkPlugin": "azure", "networkPluginMode": "overlay"}
    azure.create(CLUSTER, **cluster(resourceName="wide", networkProfile=wide))
    with pytest.raises(grpc.RpcError, match="Pre-allocated IPs 65792 exceeds IPs available 65536"):
        azure.create(POOL, **pool(resourceName="wide", count=255))
    azure.create(POOL, **pool(resourceName="wide", count=254))


def test_an_upgrade_of_many_nodes_one_by_one_times_out(dev: Any) -> None:
    one = {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}}
    made = dev.create(POOL, **pool(count=30, **one))
    dev.update(CLUSTER, dev.made, cluster(), cluster(kubernetesVersion="1.35"))
    later = pool(count=30, orchestratorVersion="1.35", **one)
    with pytest.raises(grpc.RpcError, match="context deadline exceeded"):
        dev.update(POOL, made, pool(count=30, **one), later)
    dev.update(POOL, made, pool(count=30, **one), {**later, "upgradeSettings": {"maxSurge": "2"}})
    assert dev.update(POOL, made, pool(count=30, **one), later, hours=20)["count"] == 30


LIMITS = {"enableAutoScaling": True, "minCount": 0, "maxCount": 4}


def test_an_autoscaled_count_cannot_be_set(dev: Any) -> None:
    scaled = pool(count=2, **LIMITS)
    made = dev.create(POOL, **scaled)
    with pytest.raises(grpc.RpcError, match="Cannot scale cluster autoscaler enabled node pool"):
        dev.update(POOL, made, scaled, {**scaled, "count": 1, "nodeLabels": {"a": "b"}})
    assert dev.update(POOL, made, scaled, {**scaled, "nodeLabels": {"a": "b"}})["count"] == 2
    assert dev.update(POOL, made, scaled, {**scaled, "count": 3, "minCount": 3})["count"] == 3, (
        "outside the new limits"
    )


def test_a_count_cannot_change_while_the_autoscaler_is_enabled(dev: Any) -> None:
    made = dev.create(POOL, **pool())
    with pytest.raises(
        grpc.RpcError,
        match="Cannot manually scale and enable cluster autoscaler in the same update",
    ):
        dev.update(POOL, made, pool(), pool(count=2, **LIMITS))
    assert dev.update(POOL, made, pool(), pool(**LIMITS))["count"] == 1


def test_a_cluster_lists_all_of_its_pools(dev: Any) -> None:
    dev.create(POOL, **pool(count=2, **LIMITS))
    token = "azure-native:containerservice:getManagedCluster"
    answer = from_wire(
        getattr(dev.invoke(token, resourceGroupName="group", resourceName="dev"), "return")
    )
    found = {
        each["name"]: (each["count"], each.get("enableAutoScaling", False))
        for each in answer["agentPoolProfiles"]
    }
    assert found == {"system": (2, False), "t4": (2, True)}
    (failure,) = dev.invoke(token, resourceGroupName="group", resourceName="none").failures
    assert "was not found" in failure.reason


def test_row_119_one_operation_at_a_time(dev: Any, memory: Memory) -> None:
    made = dev.create(POOL, **pool())
    memory.put(OPERATION, made["id"], {"doing": "Scaling"})
    busy = r"Another agentpool operation \(Scaling\) is in progress, please wait for it to finish"
    with pytest.raises(grpc.RpcError, match=busy):
        dev.update(POOL, made, pool(), pool(count=2))
    with pytest.raises(grpc.RpcError, match=busy):
        dev.update(CLUSTER, dev.made, cluster(), cluster(tags={"a": "b"}))
    dev.create(POOL, **pool(agentPoolName="beside"))
    memory.put(OPERATION, made["id"], {"doing": "Deleting"})
    with pytest.raises(grpc.RpcError, match="since deletion was issued on 't4'"):
        dev.update(POOL, made, pool(), pool(count=2))
    memory.drop(OPERATION, made["id"])
    memory.put(OPERATION, dev.made["id"], {"doing": "Upgrading"})
    with pytest.raises(grpc.RpcError, match=r"Another managed cluster operation \(Upgrading\)"):
        dev.delete(POOL, made)


def test_row_125_inline_pools_are_not_upgraded_with_their_cluster(dev: Any, memory: Memory) -> None:
    """pulumi/pulumi-azure-native issue 2094: an upgrade of the cluster doesn't upgrade its own
    pools.
    """
    before = cluster()
    for minor in ("1.35", "1.36", "1.37"):
        dev.update(CLUSTER, dev.made, before, cluster(kubernetesVersion=minor))
        before = cluster(kubernetesVersion=minor)
    (nodes,) = memory.all("dra-sandbox:azure:NodesInside").values()
    assert nodes == {"currentOrchestratorVersion": "1.34.3"}
    memory.put(POOL, f"{dev.made['id']}/agentPools/old", {"currentOrchestratorVersion": "1.33.3"})
    with pytest.raises(
        grpc.RpcError,
        match=r"Node pool version 1\.33\.3 and control plane version 1\.37\.3 are incomp",
    ):
        dev.update(CLUSTER, dev.made, before, {**before, "tags": {"a": "b"}})


def test_row_125_an_inline_pool_version_cannot_change_with_others(dev: Any) -> None:
    """Azure/ARO-HCP pull request 662."""

    def at(version: str) -> dict[str, Any]:
        inside = {**cluster()["agentPoolProfiles"][0], "orchestratorVersion": version}
        return cluster(kubernetesVersion=version, agentPoolProfiles=[inside])

    dev.update(CLUSTER, dev.made, cluster(), at("1.34"))
    dev.update(CLUSTER, dev.made, at("1.34"), at("1.35"))
    dev.create(POOL, **pool(orchestratorVersion="1.35"))
    with pytest.raises(grpc.RpcError, match="must be all specified or all unspecified"):
        dev.update(CLUSTER, dev.made, at("1.35"), at("1.36"))
    dev.update(CLUSTER, dev.made, at("1.35"), {**at("1.35"), "tags": {"a": "b"}})


def test_row_126_an_external_interface_blocks_the_deletion_of_a_subnet(
    memory: Memory, azure: Any
) -> None:
    made = azure.create(
        SUBNET,
        resourceGroupName="group",
        virtualNetworkName="net",
        subnetName="nodes",
        addressPrefix="10.9.0.0/28",
    )
    left = f"{IN_GROUP}/providers/Microsoft.Network/networkInterfaces/theirs"
    memory.put(INTERFACE, left, {"subnet": made["id"]})
    with pytest.raises(
        grpc.RpcError, match=f"Subnet nodes is in use by {left} and cannot be deleted"
    ):
        azure.delete(SUBNET, made)
    memory.drop(INTERFACE, left)
    azure.delete(SUBNET, made)


def test_row_126_the_node_resource_group_is_deleted_with_the_cluster(
    dev: Any, memory: Memory
) -> None:
    nodes = f"/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/{dev.made['nodeResourceGroup']}"
    memory.put(BALANCER, f"{nodes}/providers/Microsoft.Network/loadBalancers/kubernetes", {})
    memory.put(DISK, f"{nodes}/providers/Microsoft.Compute/disks/pvc-1", {})
    memory.put(DISK, f"{IN_GROUP}/providers/Microsoft.Compute/disks/pvc-2", {})
    memory.put(
        ADDRESS,
        "/subscriptions/s/resourceGroups/theirs/providers/Microsoft.Network/publicIPAddresses/web",
        {},
    )
    dev.delete(CLUSTER, dev.made)
    assert memory.all(BALANCER) == {}
    assert list(memory.all(DISK)) == [f"{IN_GROUP}/providers/Microsoft.Compute/disks/pvc-2"]
    dev.delete(GROUP, dev.create(GROUP, resourceGroupName="group"))
    assert memory.all(DISK) == {}
    assert len(memory.all(ADDRESS)) == 1


def test_row_127_a_lock_applies_to_all_resources_below(dev: Any, memory: Memory) -> None:
    made, group = dev.create(POOL, **pool()), dev.create(GROUP, resourceGroupName="group")
    memory.put(LOCK, f"{dev.made['id']}/providers/Microsoft.Authorization/locks/keep", {})
    for token, state in ((POOL, made), (CLUSTER, dev.made), (GROUP, group)):
        with pytest.raises(
            grpc.RpcError, match=r"following scope\(s\) are locked: .*managedClusters/dev'"
        ):
            dev.delete(token, state)
    dev.update(POOL, made, pool(), pool(count=2))  # only deletions are refused


def test_row_128_the_last_system_pool_is_deleted_with_its_cluster(dev: Any, memory: Memory) -> None:
    second = dev.create(
        POOL, **pool(agentPoolName="second", mode="System", vmSize="Standard_D4s_v5")
    )
    dev.delete(POOL, second)
    memory.put(CLUSTER, dev.made["id"], {**dev.made, "agentPoolProfiles": []})
    last = dev.create(POOL, **pool(agentPoolName="last", mode="System", vmSize="Standard_D4s_v5"))
    with pytest.raises(grpc.RpcError, match="There has to be at least one system agent pool"):
        dev.delete(POOL, last)


def test_row_129_restricted_sizes_and_the_cluster_quota_are_enforced(
    dev: Any, memory: Memory
) -> None:
    memory.put(RESTRICTED, T4, {})
    with pytest.raises(grpc.RpcError, match=r"`AgentPoolProfile:t4` are restricted by AKS"):
        dev.create(POOL, **pool())
    memory.put(CLUSTERS, "eastus", {"clusters": 1})
    with pytest.raises(
        grpc.RpcError, match="Maximum allowed: 1, Current usage: 1, Additional requested: 1"
    ):
        dev.create(CLUSTER, **cluster(resourceName="other"))
    dev.create(CLUSTER, **cluster(resourceName="other", location="westus2"))
    dev.update(CLUSTER, dev.made, cluster(), cluster(tags={"team": "a"}))


def test_row_130_inline_pools_cannot_be_added_or_removed(dev: Any, memory: Memory) -> None:
    (system,) = cluster()["agentPoolProfiles"]
    more = cluster(agentPoolProfiles=[system, {**system, "name": "second"}])
    with pytest.raises(grpc.RpcError, match="A new agent pool was introduced"):
        dev.update(CLUSTER, dev.made, cluster(), more)
    two = dev.create(CLUSTER, **{**more, "resourceName": "two"})
    dev.update(CLUSTER, two, {**more, "resourceName": "two"}, cluster(resourceName="two"))
    assert [name.rpartition("/")[2] for name in memory.all(POOL)] == ["second"]


def test_row_123a_maintenance_windows_of_a_cluster_are_unique(dev: Any) -> None:
    kind, plain = "azure-native:containerservice:MaintenanceConfiguration", cluster()
    window = {name: plain[name] for name in ("resourceGroupName", "resourceName")}
    dev.create(kind, **window, configName="aksManagedAutoUpgradeSchedule")
    dev.create(kind, **window, configName="aksManagedNodeOSUpgradeSchedule")
    with pytest.raises(
        grpc.RpcError, match=r'cannot create already existing resource ".*AutoUpgradeSchedule"'
    ):
        dev.create(kind, **window, configName="aksManagedAutoUpgradeSchedule")
    dev.delete(CLUSTER, dev.made)
    dev.create(CLUSTER, **plain)
    dev.create(kind, **window, configName="aksManagedAutoUpgradeSchedule")


def test_row_123b_a_log_category_is_sent_to_a_workspace_only_once(dev: Any) -> None:
    def sends(name: str, *categories: str, to: str = "/w", enabled: bool = True) -> None:
        logs = [{"category": category, "enabled": enabled} for category in categories]
        dev.create(
            "azure-native:monitor:DiagnosticSetting",
            name=name,
            resourceUri="/c",
            workspaceId=to,
            logs=logs,
        )

    sends("theirs", "kube-audit")
    with pytest.raises(
        grpc.RpcError,
        match=r"Data sink '/w' is already used in diagnostic setting 'theirs' for categ",
    ):
        sends("ours", "guard", "kube-audit", to="/W")
    sends("other", "guard")
    sends("elsewhere", "kube-audit", to="/v")
    sends("silent", "kube-audit", enabled=False)

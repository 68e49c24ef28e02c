"""AKS: a cluster that is hardened by default, and pools that the DRA driver can run on."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import canonical_text
from pulumi_dra.aks import AksCluster, AksGpuPool
from pulumi_dra.aks.gpu_pool import FIXED
from pulumi_dra.inputs.reader import WrongInputs
from pulumi_dra.platform.platform import DraPlatform

CLUSTER: dict[str, Any] = {
    "kubernetes_version": "1.35",
    "location": "eastus",
    "public_access_cidrs": ["198.18.0.0/24"],
}
POOL: dict[str, Any] = {
    "cluster_name": "dev",
    "resource_group_name": "group",
    "subnet_id": "subnet",
    "location": "eastus",
    "machine": "Standard_NC4as_T4_v3",
    "max_nodes": 4,
}
GROUP = (
    "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/capacityReservationGroups/h100"
)
SOMEBODY = "0f0f0f0f-0f0f-0f0f-0f0f-0f0f0f0f0f0f"


@pytest.fixture
def cluster(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: AksCluster("dev", {**CLUSTER, **args}))


@pytest.fixture
def pool(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: AksGpuPool("t4", {**POOL, **args})).one("AgentPool")


# The baseline: the rule IDs are in bridgecrewio/checkov@03d5fdad, for ARM and Terraform.
BASELINE: dict[str, tuple[str, object]] = {
    "CKV_AZURE_5, roles": ("enableRBAC", True),
    "CKV_AZURE_141, no passwords": ("disableLocalAccounts", True),
    "CKV_AZURE_6, access to the API server": (
        "apiServerAccessProfile",
        {"authorizedIPRanges": ["198.18.0.0/24", "198.51.100.7/32"], "disableRunCommand": True},
    ),
    "CKV_AZURE_7, CKV2_AZURE_29, network": (
        "networkProfile",
        {
            "networkPlugin": "azure",
            "networkPluginMode": "overlay",
            "networkDataplane": "cilium",
            "networkPolicy": "cilium",
            "loadBalancerSku": "standard",
            "outboundType": "userAssignedNATGateway",
        },
    ),
    "CKV_AZURE_170, paid tier": ("sku", {"name": "Base", "tier": "Standard"}),
    "CKV_AZURE_171, upgrades within the minor version": (
        "autoUpgradeProfile",
        {"upgradeChannel": "patch", "nodeOSUpgradeChannel": "SecurityPatch"},
    ),
    "CKV_AZURE_116, CKV_AZURE_172, add-ons": (
        "addonProfiles",
        {
            "azurepolicy": {"enabled": True},
            "azureKeyvaultSecretsProvider": {
                "enabled": True,
                "config": {"enableSecretRotation": "true"},
            },
        },
    ),
    "Entra ID": (
        "aadProfile",
        {"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": []},
    ),
    "issuer": ("oidcIssuerProfile", {"enabled": True}),
    "AKS resources are locked": (
        "nodeResourceGroupProfile",
        {"restrictionLevel": "ReadOnly"},
    ),
    "no node auto-provisioning, which ignores claims": (
        "nodeProvisioningProfile",
        {"mode": "Manual"},
    ),
}


@pytest.fixture(scope="module")
def by_default(declare: Callable[..., Any]) -> Any:
    return declare(lambda: AksCluster("dev", CLUSTER)).one("ManagedCluster")


@pytest.mark.parametrize("name", BASELINE)
def test_cluster_defaults(by_default: Any, name: str) -> None:
    path, value = BASELINE[name]
    assert by_default.inputs[path] == value


def test_identity_and_defender(cluster: Any) -> None:
    declared = cluster()
    inputs = declared.one("ManagedCluster").inputs
    assert inputs["identity"] == {
        "type": "UserAssigned",
        "userAssignedIdentities": ["dev-identity-id"],
    }
    assert inputs["securityProfile"]["workloadIdentity"] == {"enabled": True}
    assert inputs["securityProfile"]["defender"]["logAnalyticsWorkspaceResourceId"] == "dev-logs-id"
    assert "defender" not in cluster(defender=False).one("ManagedCluster").inputs["securityProfile"]


def test_system_nodes(cluster: Any) -> None:
    """CKV_AZURE_227, 168, 169, 143: encryption at the host, enough pods, scale sets, no public
    addresses.
    """
    (nodes,) = (
        cluster(system_zones=["eastus-1", "eastus-3"])
        .one("ManagedCluster")
        .inputs["agentPoolProfiles"]
    )
    assert (nodes["name"], nodes["mode"], nodes["count"], nodes["vmSize"]) == (
        "system",
        "System",
        2,
        "Standard_D4s_v5",
    )
    assert (nodes["enableEncryptionAtHost"], nodes["enableNodePublicIP"], nodes["maxPods"]) == (
        True,
        False,
        110,
    )
    assert nodes["availabilityZones"] == ["1", "3"]
    assert nodes["vnetSubnetID"] == "dev-network-nodes-id"
    assert "nodeTaints" not in nodes  # pods without claims run here


def test_audit_log_is_enabled(cluster: Any) -> None:
    """CKV_AZURE_4: logs of the control plane."""
    declared = cluster()
    setting = declared.one("DiagnosticSetting")
    assert setting.inputs["resourceUri"] == "dev-cluster-id"
    assert {"category": "kube-audit-admin", "enabled": True} in setting.inputs["logs"]
    assert declared.one("Workspace").inputs["retentionInDays"] == 90
    assert cluster(log_workspace_id="w").all("Workspace") == []


def test_cluster_without_allowed_networks_is_private(cluster: Any) -> None:
    """CKV_AZURE_115; ranges and a private cluster exclude each other."""
    access = cluster(public_access_cidrs=[]).one("ManagedCluster").inputs["apiServerAccessProfile"]
    assert access == {
        "enablePrivateCluster": True,
        "privateDNSZone": "system",
        "disableRunCommand": True,
    }


def test_network_has_outbound_access_only(cluster: Any) -> None:
    declared = cluster()
    subnet = declared.one("Subnet").inputs
    assert (subnet["natGateway"], subnet["networkSecurityGroup"]) == (
        {"id": "dev-network-nat-id"},
        {"id": "dev-network-filters-id"},
    )
    assert subnet["defaultOutboundAccess"] is False
    assert "securityRules" not in declared.one("NetworkSecurityGroup").inputs


def test_pod_and_service_ranges_are_set(cluster: Any) -> None:
    network = (
        cluster(pods_cidr="192.168.0.0/16", service_cidr="172.16.4.0/22")
        .one("ManagedCluster")
        .inputs["networkProfile"]
    )
    assert (network["podCidr"], network["serviceCidr"], network["dnsServiceIP"]) == (
        "192.168.0.0/16",
        "172.16.4.0/22",
        "172.16.4.10",
    )
    assert (
        not {"podCidr", "serviceCidr", "dnsServiceIP"}
        & cluster().one("ManagedCluster").inputs["networkProfile"].keys()
    )


def test_imported_cluster_keeps_its_pools_and_identity(cluster: Any) -> None:
    identity = "/subscriptions/s/resourceGroups/r/providers/Microsoft.ManagedIdentity/userAssignedIdentities/theirs"
    declared = cluster(
        cluster_name="main",
        keep_pools=True,
        subnet_id="/subscriptions/s/subnets/theirs",
        outbound_type="userDefinedRouting",
        identity_id=identity,
        identity_principal_id=SOMEBODY,
        disk_encryption_set_id=DISK_SET,
    )
    made = declared.one("ManagedCluster")
    assert "agentPoolProfiles" not in made.inputs
    assert {"agentPoolProfiles", "linuxProfile", "windowsProfile"} <= set(made.ignore_changes)
    assert made.inputs["identity"]["userAssignedIdentities"] == [identity]
    assert made.inputs["networkProfile"]["outboundType"] == "userDefinedRouting"
    assert declared.all("UserAssignedIdentity") == []
    roles = {each.name: each.inputs["principalId"] for each in declared.all("RoleAssignment")}
    assert roles == {"dev-disks": SOMEBODY, "dev-admin": "me"}  # on the subnet it has one
    system = declared.one("AgentPool")
    assert (system.inputs["agentPoolName"], system.inputs["mode"], system.inputs["count"]) == (
        "system",
        "System",
        2,
    )
    assert system.inputs["orchestratorVersion"] == CLUSTER["kubernetes_version"]
    assert cluster().one("ManagedCluster").ignore_changes == ()


def test_existing_subnet_is_used_unchanged(cluster: Any) -> None:
    declared = cluster(subnet_id="/subscriptions/s/subnets/mine", resource_group_name="mine")
    assert declared.all("VirtualNetwork") == []
    assert declared.all("ResourceGroup") == []
    inputs = declared.one("ManagedCluster").inputs
    assert inputs["networkProfile"]["outboundType"] == "loadBalancer"
    assert inputs["apiServerAccessProfile"]["authorizedIPRanges"] == ["198.18.0.0/24"]
    assert inputs["nodeResourceGroup"] == "mine-dev-nodes"
    assert (
        declared.one("RoleAssignment", "dev-subnet").inputs["scope"]
        == "/subscriptions/s/subnets/mine"
    )


def test_identity_can_join_the_subnet_before_the_cluster_exists(cluster: Any) -> None:
    declared = cluster()
    role = declared.one("RoleAssignment", "dev-subnet")
    assert role.inputs["principalId"] == "dev-identity-principal"
    assert role.inputs["principalType"] == "ServicePrincipal"
    assert "dev-subnet" in declared.one("ManagedCluster").depends_on


@pytest.mark.parametrize("deployer", ["User", "ServicePrincipal"])
def test_creator_administers_a_cluster_without_admin_groups(cluster: Any, deployer: str) -> None:
    role = cluster(deployer_type=deployer).one("RoleAssignment", "dev-admin").inputs
    assert (role["principalId"], role["principalType"], role["scope"]) == (
        "me",
        deployer,
        "dev-cluster-id",
    )


def test_only_admin_groups_administer_the_cluster(cluster: Any) -> None:
    declared = cluster(admin_group_object_ids=[SOMEBODY])
    assert [each.name for each in declared.all("RoleAssignment")] == ["dev-subnet"]
    assert declared.one("ManagedCluster").inputs["aadProfile"]["adminGroupObjectIDs"] == [SOMEBODY]


def test_upgrades_have_maintenance_windows(cluster: Any) -> None:
    declared = cluster(maintenance_day="Tuesday", maintenance_start="01:30")
    windows = {
        each.inputs["configName"]: each.inputs["maintenanceWindow"]
        for each in declared.all("MaintenanceConfiguration")
    }
    assert set(windows) == {"aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"}
    for window in windows.values():
        assert (window["startTime"], window["schedule"]["weekly"]["dayOfWeek"]) == (
            "01:30",
            "Tuesday",
        )
    assert cluster(upgrade_channel="none").all("MaintenanceConfiguration") == []


def test_kubeconfig_contains_no_token(declare: Callable[..., Any]) -> None:
    found: list[Any] = []

    def make() -> None:
        made = AksCluster("dev", {**CLUSTER, "kubelogin": "spn"})
        made.kubeconfig_json.apply(lambda text: found.append(json.loads(text)))

    declare(make)
    (document,) = found
    assert document["clusters"][0]["cluster"]["server"] == "https://dev.example:443"
    command = document["users"][0]["user"]["exec"]
    assert (command["command"], command["args"][:3]) == (
        "kubelogin",
        ["get-token", "--login", "spn"],
    )
    assert "token" not in document["users"][0]["user"]


DISK_SET = "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/diskEncryptionSets/disks"


def test_protection_and_disk_encryption_are_configurable(cluster: Any) -> None:
    """CKV_AZURE_117: a customer-managed key for disks."""
    declared = cluster(deletion_protection=True, disk_encryption_set_id=DISK_SET)
    assert declared.one("ManagedCluster").protect
    assert declared.one("ManagedCluster").inputs["diskEncryptionSetID"] == DISK_SET
    assert not cluster().one("ManagedCluster").protect
    assert declared.all("ManagementLockByScope") == [], (
        "a lock would keep pools from being replaced"
    )


KEY = "https://secrets.vault.azure.net/keys/etcd/0a1b2c"
VAULT = "/subscriptions/s/resourceGroups/r/providers/Microsoft.KeyVault/vaults/secrets"


def test_secrets_are_encrypted_with_a_custom_key(cluster: Any) -> None:
    """CIS Kubernetes 1.2.27 and 1.2.28: encryption providers; the
    identity gets access to the key before the cluster is created.
    """
    assert "azureKeyVaultKms" not in cluster().one("ManagedCluster").inputs["securityProfile"]
    declared = cluster(secrets_kms_key=KEY, secrets_key_vault_id=VAULT)
    made = declared.one("ManagedCluster")
    assert made.inputs["securityProfile"]["azureKeyVaultKms"] == {
        "enabled": True,
        "keyId": KEY,
        "keyVaultNetworkAccess": "Public",
    }
    role = declared.one("RoleAssignment", "dev-key").inputs
    assert (role["scope"], role["principalId"]) == (VAULT, "dev-identity-principal")
    assert role["roleDefinitionId"].endswith(
        "/roleDefinitions/12338af0-0e69-4776-bea7-57ae8d297424"
    )
    assert "dev-key" in made.depends_on
    without = cluster(secrets_kms_key=KEY, grant_key_use=False)
    assert {each.name for each in without.all("RoleAssignment")} == {"dev-subnet", "dev-admin"}


def test_cpu_pool_has_no_gpu_driver(pool: Any) -> None:
    inputs = pool(machine="Standard_D16s_v5").inputs
    assert (inputs.get("gpuProfile"), inputs.get("nodeTaints")) == (None, [])
    assert inputs["nodeLabels"] == {"pulumi-dra/pool": "t4"}


def test_dra_pool_has_labels_taint_and_driver(pool: Any) -> None:
    declared = pool()
    inputs = declared.inputs
    assert inputs["agentPoolName"] == "t4"
    assert (inputs["vmSize"], inputs["count"], inputs["enableAutoScaling"]) == (
        "Standard_NC4as_T4_v3",
        0,
        False,
    )
    assert inputs["gpuProfile"] == {"driver": "Install"}
    assert inputs["nodeTaints"] == ["nvidia.com/gpu=present:NoSchedule"]
    assert inputs["nodeLabels"] == {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.dra": "true",
        "pulumi-dra/pool": "t4",
    }
    assert (inputs["maxPods"], inputs["osDiskSizeGB"], inputs["osSKU"]) == (110, 200, "Ubuntu")
    assert inputs["upgradeSettings"] == {
        "maxSurge": "0",
        "maxUnavailable": "1",
        "drainTimeoutInMinutes": 30,
    }
    assert (inputs["enableEncryptionAtHost"], inputs["enableNodePublicIP"]) == (True, False)
    assert set(declared.replace_on_changes) == set(FIXED)
    assert declared.delete_before_replace
    assert not {"minCount", "maxCount", "gpuInstanceProfile", "scaleSetPriority"} & inputs.keys()


@pytest.mark.parametrize(
    ("name", "limits", "count"),
    [
        pytest.param("t4", (1, 2, 4), 3, id="the autoscaler's count is kept"),
        pytest.param("t4", (4, 4, 4), 4, id="a higher minimum raises the count"),
        pytest.param("t4", (0, 1, 2), 2, id="a lower maximum lowers the count"),
        pytest.param("new", (1, 2, 4), 2, id="a new pool has the planned count"),
    ],
)
def test_autoscaled_pool_keeps_its_current_count_within_the_limits(
    pool: Any, name: str, limits: tuple[int, int, int], count: int
) -> None:
    least, wanted, most = limits
    declared = pool(
        pool_name=name, autoscaled=True, min_nodes=least, desired_nodes=wanted, max_nodes=most
    )
    inputs = declared.inputs
    assert (inputs["minCount"], inputs["count"], inputs["maxCount"]) == (least, count, most)
    assert "count" not in declared.ignore_changes, (
        "AKS takes the count with every change: an old one would scale back"
    )


def test_spot_pool_has_no_upgrade_settings(pool: Any) -> None:
    inputs = pool(capacity="spot").inputs
    assert (
        inputs["scaleSetPriority"],
        inputs["scaleSetEvictionPolicy"],
        inputs["spotMaxPrice"],
    ) == (
        "Spot",
        "Delete",
        -1,
    )
    assert "upgradeSettings" not in inputs


def test_reserved_machines_get_the_permission_to_use_them(declare: Callable[..., Any]) -> None:
    bought = {"capacity": "reservation", "reservation_group_id": GROUP, "cluster_principal_id": "p"}
    declared = declare(lambda: AksGpuPool("t4", {**POOL, **bought}))
    assert declared.one("AgentPool").inputs["capacityReservationGroupID"] == GROUP
    role = declared.one("RoleAssignment")
    assert (role.inputs["scope"], role.inputs["principalId"]) == (GROUP, "p")
    assert role.inputs["roleDefinitionId"].startswith(
        "/subscriptions/s/providers/Microsoft.Authorization/"
    )
    assert "t4-reservation" in declared.one("AgentPool").depends_on


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "an accidental private cluster": (
        AksCluster,
        {"public_access_cidrs": ["0.0.0.0/0"]},
        "to everyone",
    ),
    "IPv6": (
        AksCluster,
        {"public_access_cidrs": ["2001:db8::/32"]},
        "\" isn't an IPv4 network, and AKS supports only IPv4",
    ),
    "a zone of another region": (
        AksCluster,
        {"system_zones": ["westus2-1"]},
        "isn't in region eastus",
    ),
    "a duplicate zone": (AksCluster, {"system_zones": ["eastus-1", "eastus-1"]}, '" appears twice'),
    "a group by its name": (AksCluster, {"admin_group_object_ids": ["admins"]}, "is not a UUID"),
    "an old version": (AksCluster, {"kubernetes_version": "1.33"}, "isn't supported"),
    "a channel that upgrades the minor version": (
        AksCluster,
        {"upgrade_channel": "stable"},
        "must be patch, node-image, or none",
    ),
    "an invalid day": (AksCluster, {"maintenance_day": "today"}, "must be Monday"),
    "retention of an existing workspace": (
        AksCluster,
        {"log_workspace_id": "w", "log_retention_days": 30},
        "applies only to a new workspace",
    ),
    "a key without its version": (
        AksCluster,
        {"secrets_kms_key": "https://v.vault.azure.net/keys/etcd", "secrets_key_vault_id": VAULT},
        "is not a Key Vault key with its version",
    ),
    "a key without permissions": (
        AksCluster,
        {"secrets_kms_key": KEY},
        "secrets_key_vault_id: is required",
    ),
    "a vault without a key": (
        AksCluster,
        {"secrets_key_vault_id": VAULT},
        "has no effect without secrets_kms_key",
    ),
    "a vault by name": (
        AksCluster,
        {"secrets_kms_key": KEY, "secrets_key_vault_id": "secrets"},
        "is not the ID of a Key Vault",
    ),
    "a grant without a key": (
        AksCluster,
        {"grant_key_use": True},
        "has no effect without",
    ),
    "disks by name": (
        AksCluster,
        {"disk_encryption_set_id": "set"},
        "is not the ID of a disk encryption set",
    ),
    "pools of a cluster without a name": (
        AksCluster,
        {"keep_pools": True},
        "cluster, so also set cluster_name",
    ),
    "an invalid name": (AksCluster, {"cluster_name": "-main"}, "is not a name of at most 63"),
    "a prefix that is too long": (
        AksCluster,
        {"dns_prefix": "a" * 55},
        "is not a prefix of at most 54",
    ),
    "a group name that is too long": (
        AksCluster,
        {"node_resource_group": "g" * 81},
        "is not a resource group name of at most 80",
    ),
    "half an identity": (
        AksCluster,
        {"identity_principal_id": SOMEBODY},
        "identity_id: is required",
    ),
    "an identity by name": (
        AksCluster,
        {"identity_id": "theirs", "identity_principal_id": SOMEBODY},
        "is not the ID of a user-assigned identity",
    ),
    "an outbound type of a new network": (
        AksCluster,
        {"outbound_type": "none"},
        "applies only with subnet_id, because nodes in a new network use its NAT gateway",
    ),
    "an invalid outbound type": (
        AksCluster,
        {"subnet_id": "s", "outbound_type": "nat"},
        "must be loadBalancer",
    ),
    "pods in the nodes' range": (AksCluster, {"pods_cidr": "10.224.0.0/13"}, "of the new network"),
    "pods in the services' range": (
        AksCluster,
        {"pods_cidr": "10.0.0.0/14"},
        "overlaps 10.0.0.0/16 of the services",
    ),
    "few addresses for pods": (
        AksCluster,
        {"pods_cidr": "10.8.0.0/25"},
        '" is too small, because each node needs a /24',
    ),
    "many services": (
        AksCluster,
        {"service_cidr": "10.0.0.0/12"},
        '" is too large, because AKS allows at most a /13',
    ),
    "few services": (AksCluster, {"service_cidr": "10.0.0.0/29"}, "is too small"),
    "services in AKS's own range": (
        AksCluster,
        {"service_cidr": "172.30.4.0/24"},
        ", which AKS reserves",
    ),
    "services on IPv6": (AksCluster, {"service_cidr": "fd00::/108"}, "isn't an IPv4 range"),
    "services with an invalid range": (
        AksCluster,
        {"service_cidr": "many"},
        "isn't an address range",
    ),
    "a reserved ND": (
        AksGpuPool,
        {
            "machine": "Standard_ND96isr_H100_v5",
            "capacity": "reservation",
            "reservation_group_id": GROUP,
            "cluster_principal_id": "p",
        },
        "Azure capacity reservations don't support Standard_",
    ),
    "a tag of Azure": (
        AksCluster,
        {"tags": {"azure-x": "y"}},
        "because Azure reserves these prefixes",
    ),
    "a tag with a slash": (AksCluster, {"tags": {"a/b": "y"}}, "that doesn't contain < > %"),
    "a hyphen": (
        AksGpuPool,
        {"pool_name": "gpu-a"},
        'must be at most 12 lowercase letters and digits, beginning with a letter, not "',
    ),
    "a name that is too long": (AksGpuPool, {"pool_name": "thirteenchars"}, "must be at most 12"),
    "MIG": (AksGpuPool, {"gpu_instance_profile": "MIG1g"}, "AKS doesn't support MIG with DRA"),
    "no driver": (AksGpuPool, {"gpu_driver": "None"}, 'must be Install, not "None"'),
    "an unknown machine": (
        AksGpuPool,
        {"machine": "Standard_NC4as_T4_v4"},
        "did you mean Standard_NC4as_T4_v3",
    ),
    "surge of Spot nodes": (
        AksGpuPool,
        {"capacity": "spot", "max_surge": 1},
        "isn't supported with spot, because AKS doesn't surge or drain spot pools",
    ),
    "an upgrade that replaces nothing": (
        AksGpuPool,
        {"max_unavailable": 0},
        "must be 1 or more if max_surge is 0, because otherwise AKS can't replace nodes",
    ),
    "a reservation without an ID": (AksGpuPool, {"capacity": "reservation"}, "is required"),
    "a reservation by name": (
        AksGpuPool,
        {"capacity": "reservation", "reservation_group_id": "h100", "cluster_principal_id": "p"},
        "isn't the ID of a capacity reservation group",
    ),
    "a grant without a principal": (
        AksGpuPool,
        {"capacity": "reservation", "reservation_group_id": GROUP},
        "because the cluster's identity needs a role on the capacity reservation group",
    ),
    "a grant without a reservation": (
        AksGpuPool,
        {"grant_reservation_use": False},
        "has no effect without reservation_group_id",
    ),
    "few pods": (AksGpuPool, {"max_pods": 9}, "must be between 10 and 250"),
    "a label of AKS": (
        AksGpuPool,
        {"labels": {"kubernetes.azure.com/mode": "user"}},
        "AKS rejects labels with the prefix",
    ),
    "another image": (AksGpuPool, {"image": "Flatcar"}, "must be Ubuntu or AzureLinux"),
    "a misspelled input": (AksGpuPool, {"machin": "x"}, 'did you mean "machine"?'),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_inputs_are_rejected(declare: Callable[..., Any], name: str) -> None:
    component, changes, sentence = REFUSED[name]
    given = CLUSTER if component is AksCluster else POOL
    with pytest.raises(WrongInputs) as refused:
        declare(
            lambda: component(
                "x",
                {**given, "pool_name": "t4", **changes} if given is POOL else {**given, **changes},
            )
        )
    assert sentence in str(refused.value)


def platform(**fleet: Any) -> str:
    document = {
        "cloud": "aks",
        "region": "eastus",
        "kubernetes": "1.35",
        "endpoint": {"publicAccessCidrs": ["198.18.0.0/24"]},
        "systemPool": {"machine": "Standard_D4s_v5", "count": 3},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": [{"name": "t4", "machine": "Standard_NC4as_T4_v3", "count": 2}],
        **fleet,
    }
    return canonical_text(plan_file(make_plan(PlanRequest(sources=(), fleet=read_fleet(document)))))


def test_platform_is_built_from_its_plan(declare: Callable[..., Any]) -> None:
    pools = [
        {"name": "t4", "machine": "Standard_NC4as_T4_v3", "count": 2, "zones": ["eastus-2"]},
        {
            "name": "a100",
            "machine": "Standard_NC24ads_A100_v4",
            "count": 1,
            "capacity": {"reservation": GROUP},
        },
        {
            "name": "more",
            "machine": "Standard_NC48ads_A100_v4",
            "count": 1,
            "capacity": {"reservation": GROUP.upper()},
        },
    ]
    plan = platform(pools=pools, network={"zones": ["eastus-1", "eastus-2"]})
    options = {
        "pools": [{"name": "t4", "drain_timeout_minutes": 60}],
        "tags": {"team": "ml"},
        "cluster": {"defender": False},
    }
    declared = declare(lambda: DraPlatform("dra", {"plan": plan, **options}))
    t4, a100 = (declared.one("AgentPool", f"dra-{name}-nodes").inputs for name in ("t4", "a100"))
    assert (t4["count"], t4["availabilityZones"]) == (2, ["2"])
    assert t4["upgradeSettings"]["drainTimeoutInMinutes"] == 60
    assert (a100["capacityReservationGroupID"], a100["availabilityZones"]) == (GROUP, ["1", "2"])
    # Azure rejects a second assignment of the role, so the second pool waits for the first pool.
    on_groups = [
        each
        for each in declared.all("RoleAssignment")
        if "capacityReservationGroups" in each.inputs["scope"]
    ]
    assert [each.name for each in on_groups] == ["dra-a100-reservation"]
    assert "dra-a100-reservation" in declared.one("AgentPool", "dra-more-nodes").depends_on
    assert t4["tags"] == {"team": "ml"}
    cluster = declared.one("ManagedCluster").inputs
    assert cluster["agentPoolProfiles"][0]["availabilityZones"] == ["1", "2"]
    assert "defender" not in cluster["securityProfile"]
    driver = next(each for each in declared.all("Release") if each.name == "dra-driver-release")
    assert driver.inputs["values"]["nvidiaDriverRoot"] == "/"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"secrets_kms_key": "k"}, '"k" is not a Key Vault key'),
        ({"admin_principal_arns": ["a"]}, "isn't supported on AKS"),
        ({"autoscaler": {"version": "1.35.0"}}, "AKS runs the cluster autoscaler itself"),
        ({"cluster": {"release_channel": "RAPID"}}, "release_channel"),
        ({"pools": [{"name": "t4", "efa": True}]}, "efa"),
        ({"pools": [{"name": "t4", "max_surge": 101}]}, "must be between 0 and 100"),
    ],
)
def test_options_of_other_clouds_are_rejected(
    declare: Callable[..., Any], options: Any, sentence: str
) -> None:
    with pytest.raises(WrongInputs) as refused:
        declare(lambda: DraPlatform("dra", {"plan": platform(), **options}))
    assert sentence in str(refused.value)


NODE_IMAGE = "/subscriptions/0a/resourceGroups/gpu/providers/Microsoft.ContainerService/snapshots/with-driver-580"


def test_node_settings_are_declared(declare: Callable[..., Any]) -> None:
    settings = {
        "cpu_manager_policy": "static",
        "pod_max_pids": 4096,
        "sysctls": {"net.core.somaxconn": "2048"},
        "os_disk_type": "Ephemeral",
        "kubelet_disk_type": "Temporary",
        "fips": True,
        "node_soak_minutes": 5,
        "snapshot_id": NODE_IMAGE,
    }
    inputs = declare(lambda: AksGpuPool("t4", {**POOL, **settings})).one("AgentPool").inputs
    assert inputs["kubeletConfig"] == {"cpuManagerPolicy": "static", "podMaxPids": 4096}
    assert inputs["linuxOSConfig"] == {"sysctls": {"netCoreSomaxconn": 2048}}
    assert (inputs["osDiskType"], inputs["kubeletDiskType"], inputs["enableFIPS"]) == (
        "Ephemeral",
        "Temporary",
        True,
    )
    assert inputs["upgradeSettings"]["nodeSoakDurationInMinutes"] == 5
    assert inputs["creationData"] == {"sourceResourceId": NODE_IMAGE}
    usual = declare(lambda: AksGpuPool("t4", POOL)).one("AgentPool").inputs
    assert (
        not {"kubeletConfig", "linuxOSConfig", "kubeletDiskType", "enableFIPS", "creationData"}
        & usual.keys()
    )
    assert usual["osDiskType"] == "Managed"


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        pytest.param(
            {"machine": "Standard_ND128isr_NDR_GB200_v6", "image": "AzureLinux"},
            "use the Ubuntu image",
            id="GB200, Azure Linux",
        ),
        pytest.param(
            {"sysctls": {"net.ipv4.ip_forward": "1"}},
            "isn't a kernel parameter",
            id="sysctl",
        ),
        pytest.param({"node_soak_minutes": 31}, "must be between 0 and 30", id="soak time"),
    ],
)
def test_node_settings_that_azure_rejects_are_rejected(args: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongInputs, match=reason):
        AksGpuPool("t4", {**POOL, **args})


def test_cluster_autoscaler_profile_uses_aks_names(declare: Callable[..., Any]) -> None:
    profile = {"autoscaler_profile": {"expander": "least-waste", "scale-down-unneeded-time": "5m"}}
    inputs = declare(lambda: AksCluster("dev", {**CLUSTER, **profile})).one("ManagedCluster").inputs
    assert inputs["autoScalerProfile"] == {"expander": "least-waste", "scaleDownUnneededTime": "5m"}
    with pytest.raises(WrongInputs, match="isn't a setting of the cluster autoscaler"):
        AksCluster("dev", {**CLUSTER, "autoscaler_profile": {"speed": "fast"}})

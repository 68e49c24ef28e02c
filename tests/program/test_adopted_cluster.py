"""Existing clusters that are adopted with `pulumi import`: nothing is replaced or deleted."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import Struct

from dra_sandbox.clouds.existing_resources import VARIABLE
from dra_sandbox.engine import Engine

pytestmark = pytest.mark.engine

ROLE = "arn:aws:iam::123456789012:role/theirs"
CREATOR = "arn:aws:iam::123456789012:user/sandbox"
KEY = "arn:aws:kms:us-east-1:123456789012:key/theirs"
# As another tool would make it: with add-ons of EKS' own, an admin who is whoever made it, and both
# ways in.
ON_EKS = f"""
import pulumi, pulumi_aws as aws

cluster = aws.eks.Cluster(
    "cluster",
    name="main",
    role_arn="{ROLE}",
    version="1.35",
    vpc_config={{"subnet_ids": ["subnet-a", "subnet-b"], "endpoint_private_access": True}},
    access_config={{
        "authentication_mode": "API_AND_CONFIG_MAP", "bootstrap_cluster_creator_admin_permissions": True,
    }},
    encryption_config={{"provider": {{"key_arn": "{KEY}"}}, "resources": ["secrets"]}},
    enabled_cluster_log_types=["audit"],
)
addons = [
    aws.eks.Addon(name, cluster_name=cluster.name, addon_name=name) for name in ("vpc-cni", "kube-proxy", "coredns")
]
aws.eks.NodeGroup(
    "workers",
    cluster_name=cluster.name,
    node_group_name="workers",
    node_role_arn="arn:aws:iam::123456789012:role/workers",
    subnet_ids=["subnet-a", "subnet-b"],
    version="1.35",
    scaling_config={{"min_size": 1, "desired_size": 2, "max_size": 3}},
    opts=pulumi.ResourceOptions(depends_on=addons),
)
"""
NETWORK = "projects/my-project/global/networks/theirs"
SUBNETWORK = "projects/my-project/regions/us-central1/subnetworks/theirs"
# With GKE's first pool, on which something runs, and settings of their own that only its creation
# could say.
ON_GKE = f"""
import pulumi_gcp as gcp

cluster = gcp.container.Cluster(
    "cluster",
    name="main",
    location="us-central1",
    node_locations=["us-central1-a"],
    initial_node_count=2,
    default_max_pods_per_node=64,
    min_master_version="1.35",
    release_channel={{"channel": "STABLE"}},
    network="{NETWORK}",
    subnetwork="{SUBNETWORK}",
    networking_mode="VPC_NATIVE",
    ip_allocation_policy={{
        "cluster_secondary_range_name": "their-pods", "services_secondary_range_name": "their-services"
    }},
    datapath_provider="ADVANCED_DATAPATH",
    private_cluster_config={{"enable_private_nodes": True, "master_ipv4_cidr_block": "172.16.0.32/28"}},
    workload_identity_config={{"workload_pool": "my-project.svc.id.goog"}},
)
gcp.container.NodePool("workers", name="workers", cluster=cluster.id, location="us-central1", node_count=2)
"""

AKS_GROUP = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/theirs"
IDENTITY = f"{AKS_GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/theirs"
SUBNET = f"{AKS_GROUP}/providers/Microsoft.Network/virtualNetworks/theirs/subnets/nodes"
WINDOW = "aksManagedAutoUpgradeSchedule"
# As `az aks create` makes one: with a first pool, keys for SSH, and ranges of its own.
ON_AKS = f"""
import pulumi, pulumi_azure_native as azure

cluster = azure.containerservice.ManagedCluster(
    "cluster",
    resource_group_name="theirs",
    resource_name_="main",
    dns_prefix="main-theirs-000000",
    node_resource_group="MC_theirs_main_eastus",
    kubernetes_version="1.35",
    identity={{"type": "UserAssigned", "user_assigned_identities": ["{IDENTITY}"]}},
    agent_pool_profiles=[
        {{
            "name": "nodepool1", "mode": "System", "count": 3, "vm_size": "Standard_D4s_v5",
            "vnet_subnet_id": "{SUBNET}", "orchestrator_version": "1.35",
        }}
    ],
    linux_profile={{"admin_username": "azureuser", "ssh": {{"public_keys": [{{"key_data": "ssh-rsa AAAA"}}]}}}},
    network_profile={{
        "network_plugin": "azure",
        "network_plugin_mode": "overlay",
        "network_dataplane": "cilium",
        "network_policy": "cilium",
        "outbound_type": "userDefinedRouting",
        "pod_cidr": "192.168.0.0/16",
        "service_cidr": "172.16.0.0/16",
        "dns_service_ip": "172.16.0.10",
    }},
)
azure.containerservice.AgentPool(
    "workers",
    agent_pool_name="workers",
    resource_group_name="theirs",
    resource_name_="main",
    count=2,
    vm_size="Standard_D8s_v5",
    opts=pulumi.ResourceOptions(depends_on=[cluster]),
)
azure.containerservice.MaintenanceConfiguration(
    "window",
    config_name="{WINDOW}",
    resource_group_name="theirs",
    resource_name_="main",
    maintenance_window={{
        "duration_hours": 8, "start_time": "22:00",
        "schedule": {{"weekly": {{"interval_weeks": 2, "day_of_week": "Friday"}}}},
    }},
    opts=pulumi.ResourceOptions(depends_on=[cluster]),
)
"""


class Theirs(Struct, frozen=True):
    """A cluster that another tool created, and the settings with which a stack adopts it."""

    stack: str
    program: str
    settings: Mapping[str, str]
    network: Mapping[str, Any]
    cluster: Mapping[str, Any]
    ids: Mapping[str, str]
    cluster_type: str
    pool_type: str
    kept: frozenset[str]  # pools that exist before and after
    first_pool: str  # further options of the plan
    # a setting that differs from the cluster: the preview shows a replacement
    wrong: Mapping[str, Any]
    beside: Mapping[str, Any] = {}  # further options of the platform

    @property
    def platform(self) -> dict[str, Any]:
        return {"cluster": dict(self.cluster), **self.beside}


AKS_ID = (
    AKS_GROUP.replace("resourceGroups", "resourcegroups")
    + "/providers/Microsoft.ContainerService/managedClusters/main"
)
GKE_ID = "projects/my-project/locations/us-central1/clusters/main"
THEIRS = {
    "eks": Theirs(
        stack="eks-dev",
        program=ON_EKS,
        settings={"aws:region": "us-east-1"},
        network={"subnetIds": ["subnet-a", "subnet-b"]},
        cluster={"clusterName": "main", "clusterRoleArn": ROLE},
        ids={
            "dra-cluster-cluster": "main",
            "dra-cluster-vpc-cni": "main:vpc-cni",
            "dra-cluster-kube-proxy": "main:kube-proxy",
            "dra-cluster-coredns": "main:coredns",
            "dra-cluster-creator": f"main:{CREATOR}",
            # As the file calls what has the name of another: a key.
            "dra-cluster-logsLogGroup": "/aws/eks/main/cluster",
        },
        cluster_type="aws:eks/cluster:Cluster",
        pool_type="aws:eks/nodeGroup:NodeGroup",
        kept=frozenset({"main:workers"}),
        first_pool="l4",
        wrong={"clusterRoleArn": None},
        beside={"secretsKmsKey": KEY},
    ),
    "gke": Theirs(
        stack="gke-dev",
        program=ON_GKE,
        settings={"gcp:project": "my-project", "gcp:region": "us-central1"},
        network={"zones": ["us-central1-a"]},
        cluster={
            "clusterName": "main",
            "networkId": NETWORK,
            "subnetworkId": SUBNETWORK,
            "podsRangeName": "their-pods",
            "servicesRangeName": "their-services",
        },
        ids={"dra-cluster-cluster": GKE_ID},
        cluster_type="gcp:container/cluster:Cluster",
        pool_type="gcp:container/nodePool:NodePool",
        kept=frozenset({f"{GKE_ID}/nodePools/default-pool", f"{GKE_ID}/nodePools/workers"}),
        first_pool="l4",
        wrong={"podsRangeName": "another-range"},
    ),
    "aks": Theirs(
        stack="aks-dev",
        program=ON_AKS,
        settings={"azure-native:location": "eastus"},
        network={"subnetIds": [SUBNET]},
        cluster={
            "clusterName": "main",
            "resourceGroupName": "theirs",
            "keepPools": True,
            "dnsPrefix": "main-theirs-000000",
            "nodeResourceGroup": "MC_theirs_main_eastus",
            "identityId": IDENTITY,
            "identityPrincipalId": "0f0f0f0f-0f0f-0f0f-0f0f-0f0f0f0f0f0f",
            "outboundType": "userDefinedRouting",
            "podsCidr": "192.168.0.0/16",
            "serviceCidr": "172.16.0.0/16",
        },
        ids={
            "dra-cluster-cluster": AKS_ID,
            f"dra-cluster-{WINDOW}": f"{AKS_ID}/maintenanceConfigurations/{WINDOW}",
        },
        cluster_type="azure-native:containerservice:ManagedCluster",
        pool_type="azure-native:containerservice:AgentPool",
        kept=frozenset({f"{AKS_ID}/agentPools/workers"}),
        first_pool="t4",
        wrong={"dnsPrefix": "another"},
    ),
}


class Taken(Struct):
    """The stack that adopts the cluster."""

    theirs: Theirs
    journey: Any

    @property
    def pools(self) -> Mapping[str, Any]:
        pools: Mapping[str, Any] = self.journey.engine.cloud.all(self.theirs.pool_type)
        return pools

    @property
    def cluster(self) -> dict[str, Any]:
        (found,) = self.journey.engine.cloud.all(self.theirs.cluster_type).values()
        return dict(found)


def make_theirs(folder: Path, theirs: Theirs, cloud: Path) -> None:
    """Create the cluster with another program and a state that isn't used again."""
    project = folder / "source"
    project.mkdir(parents=True)
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
    (project / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "theirs", "runtime": runtime}))
    (project / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": dict(theirs.settings)}))
    (project / "__main__.py").write_text(theirs.program)
    engine = Engine(folder / "work", project, environment={VARIABLE: str(cloud)})
    engine.stack_init("dev")
    made = engine.up("dev", skip_preview=True)
    assert made.ok, made.output


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(each, marks=pytest.mark.xdist_group(name), id=name)
        for name, each in THEIRS.items()
    ],
)
def taken(
    request: pytest.FixtureRequest,
    journey: Callable[[str], Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Taken:
    """Return a stack for the network of an existing cluster, which is not in the state yet."""
    theirs: Theirs = request.param
    stack = journey(theirs.stack)
    make_theirs(tmp_path_factory.mktemp("theirs"), theirs, stack.engine.work_dir / "cloud.json")

    def over_theirs(fleet: dict[str, Any]) -> None:
        fleet["network"], fleet["pools"] = dict(theirs.network), fleet["pools"][:1]

    stack.config["pulumi-dra:platform"] = theirs.platform
    stack.write(nodes=1, change=over_theirs)
    return Taken(theirs, stack)


def adopt(stack: Any, ids: Mapping[str, str]) -> Any:
    """Import all resources that have an ID, from the engine's own list of resources to create."""
    file = stack.engine.work_dir / "adopt.json"
    listed = stack.engine.preview(stack.stack, options=["--import-file", str(file)])
    assert listed.ok, listed.output
    document = json.loads(file.read_text())
    document["resources"] = [
        {**each, **({"id": ids[each["name"]]} if each["name"] in ids else {})}
        for each in document["resources"]
        if each.get("component") or each["name"] in ids
    ]
    file.write_text(json.dumps(document))
    return stack.engine.import_resources(stack.stack, file)


PAGE = Path(__file__).parents[2] / "docs/operations/existing.md"


@pytest.mark.parametrize("theirs", THEIRS.values(), ids=THEIRS)
def test_page_lists_every_imported_resource(theirs: Theirs) -> None:
    page = PAGE.read_text()
    assert [name for name in theirs.ids if f"`{name}`" not in page] == []


def test_missing_resource_is_not_imported(taken: Taken) -> None:
    others = {"dra-cluster-cluster": taken.theirs.ids["dra-cluster-cluster"] + "-of-others"}
    refused = adopt(taken.journey, others)
    assert not refused.ok
    assert "does not exist" in refused.output


def test_cluster_is_imported_into_the_state(taken: Taken) -> None:
    done = adopt(taken.journey, taken.theirs.ids)
    assert done.ok, done.output
    resources = taken.journey.engine.resources(taken.journey.stack)
    assert set(taken.theirs.ids.values()) <= {each.get("id") for each in resources}


def test_preview_shows_which_wrong_options_would_replace_the_cluster(taken: Taken) -> None:
    options = {**taken.theirs.cluster, **taken.theirs.wrong}
    cluster = {name: value for name, value in options.items() if value is not None}
    preview = taken.journey.preview_of(
        lambda config: config["pulumi-dra:platform"].update(cluster=cluster), nodes=1
    )
    assert preview.ok, preview.output
    assert taken.journey.changed(preview)["dra-cluster-cluster"] in {
        "replace",
        "create-replacement",
        "delete-replaced",
    }


def test_platform_is_added_without_replacing_the_cluster(taken: Taken) -> None:
    before = {name: taken.pools[name] for name in taken.theirs.kept}
    changed = taken.journey.up()
    # The policy of an access entry, which has the name of the entry, is created again.
    imported = taken.theirs.ids.keys() & changed.keys() - {"dra-cluster-creator"}
    assert {changed[name] for name in imported} == {"update"}, changed
    assert set(changed.values()) == {"create", "update"}, changed
    assert (
        changed[f"dra-{taken.theirs.first_pool}-nodes"] == changed["dra-driver-release"] == "create"
    )
    assert {name: taken.pools.get(name) for name in taken.theirs.kept} == before, (
        "theirs stay as they are"
    )
    assert len(taken.pools) == len(before) + 2, "the system nodes and the GPU pool come beside them"
    if taken.theirs.stack == "eks-dev":
        assert (taken.cluster["roleArn"], taken.cluster["accessConfig"]["authenticationMode"]) == (
            ROLE,
            "API",
        )
        addons = taken.journey.engine.cloud.all("aws:eks/addon:Addon")
        assert len(addons) == 4, "three of theirs, and the agent of Pod Identity"


def test_second_up_changes_nothing(taken: Taken) -> None:
    assert taken.journey.up() == {}


NAMES = {  # options of the pool, by type: the property of the resource that is its name
    "aws:eks/nodeGroup:NodeGroup": ("nodeGroupName", "nodeGroupName"),
    "aws:ec2/launchTemplate:LaunchTemplate": ("launchTemplateName", "name"),
    "gcp:container/nodePool:NodePool": ("nodePoolName", "name"),
    "azure-native:containerservice:AgentPool": ("", ""),  # the name of the fleet's pool
}


def test_pool_is_imported_by_name(taken: Taken) -> None:
    """Its resources are in the cloud but not in the state, like those of another tool."""
    engine, stack = taken.journey.engine, taken.journey.stack
    component = f"::dra-{taken.theirs.first_pool}-nodes"
    found = [each for each in engine.resources(stack) if each["urn"].endswith(component)]
    ids, names = {}, {}
    for each in found:
        option, property_name = NAMES[each["type"]]
        names |= {option: each["outputs"][property_name]} if option else {}
        ids[each["type"]] = each["id"]
    for each in reversed(found):
        engine.forget(stack, each["urn"])
    pools = [{"name": taken.theirs.first_pool, **names}] if names else []
    taken.journey.config["pulumi-dra:platform"] = {**taken.theirs.platform, "pools": pools}
    taken.journey.write(nodes=1)

    done = adopt_by_type(taken.journey, ids)
    assert done.ok, done.output
    before = dict(taken.pools)
    preview = engine.preview(stack)
    assert preview.ok, preview.output
    assert {each.name: each.replace_keys for each in preview.steps if each.replace_keys} == {}

    taken.journey.up()
    assert taken.pools.keys() == before.keys(), "no pool is replaced"
    assert taken.journey.up() == {}


def adopt_by_type(stack: Any, ids: Mapping[str, str]) -> Any:
    """Import the resources of a pool, which share a name, by their types in the program."""
    file = stack.engine.work_dir / "adopt.json"
    listed = stack.engine.preview(stack.stack, options=["--import-file", str(file)])
    assert listed.ok, listed.output
    document = json.loads(file.read_text())
    document["resources"] = [
        {**each, "id": ids[each["type"]]}
        for each in document["resources"]
        if each["type"] in ids and not each.get("component")
    ]
    assert len(document["resources"]) == len(ids)
    file.write_text(json.dumps(document))
    return stack.engine.import_resources(stack.stack, file)

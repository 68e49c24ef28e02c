"""Settings that a platform team changes later: images, node replacement, maintenance, support, and
permissions boundaries.
"""

from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_aks import POOL as AKS_POOL

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import canonical_text
from pulumi_dra.aks import AksCluster, AksGpuPool
from pulumi_dra.eks import EksCluster, EksGpuPool, EksNetwork
from pulumi_dra.gke import GkeCluster, GkeGpuPool
from pulumi_dra.inputs.reader import WrongInputs
from pulumi_dra.platform.platform import DraPlatform
from pulumi_dra.platform.platform_options import ClusterOptions, PoolOptions

POOL: dict[str, Any] = {
    "cluster_name": "dev",
    "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
    "subnet_ids": ["subnet-a"],
    "machine": "g6.2xlarge",
    "max_nodes": 4,
}
GKE_POOL: dict[str, Any] = {
    "cluster_name": "dev",
    "location": "us-central1",
    "machine": "g2-standard-8",
    "zones": ["us-central1-a"],
    "service_account": "nodes@p.example",
    "max_nodes": 4,
}
AKS: dict[str, Any] = {"kubernetes_version": "1.35", "location": "eastus"}
GKE: dict[str, Any] = {
    "kubernetes_version": "1.34",
    "region": "us-central1",
    "security_group": "none",
}
BOUNDARY = "arn:aws:iam::111122223333:policy/boundary"
Declare = Callable[..., Any]


def eks_pool(declare: Declare, **args: Any) -> Any:
    return declare(lambda: EksGpuPool("l4", {**POOL, **args})).one("NodeGroup").inputs


def gke_pool(declare: Declare, **args: Any) -> Any:
    return declare(lambda: GkeGpuPool("l4", {**GKE_POOL, **args})).one("NodePool").inputs


def aks_pool(declare: Declare, **args: Any) -> Any:
    return declare(lambda: AksGpuPool("t4", {**AKS_POOL, **args})).one("AgentPool").inputs


def test_image_is_pinned_with_its_version(declare: Declare) -> None:
    pinned = eks_pool(declare, kubernetes_version="1.34", release_version="1.34.2-20260115")
    assert (pinned["version"], pinned["releaseVersion"]) == ("1.34", "1.34.2-20260115")
    assert "releaseVersion" not in eks_pool(declare)


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (
            {"kubernetes_version": "1.35", "release_version": "1.34.2-20260115"},
            "doesn't match Kubernetes 1.35",
        ),
        ({"release_version": "latest"}, '"latest" is not an image release'),
        ({"update_strategy": "SURGE"}, "must be MINIMAL or DEFAULT"),
        ({"max_unavailable": 0}, "max_unavailable"),
    ],
)
def test_invalid_eks_options_are_rejected(args: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongInputs, match=reason):
        EksGpuPool("l4", {**POOL, **args})


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"max_surge": 0, "max_unavailable": 0}, "must add up to 1 to 20, not 0"),
        ({"max_surge": 15, "max_unavailable": 6}, "must add up to 1 to 20, not 21"),
        (
            {"capacity": "queued", "autoscaled": True, "max_surge": 1},
            " capacity, because GKE replaces its nodes when they expire",
        ),
    ],
)
def test_invalid_gke_options_are_rejected(args: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongInputs, match=reason):
        GkeGpuPool("l4", {**GKE_POOL, **args})


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"max_surge": 0, "max_unavailable": 0}, "max_unavailable"),
        (
            {"capacity": "spot", "drain_timeout_minutes": 5},
            "isn't supported with spot, because AKS doesn't surge or drain spot pools",
        ),
        ({"kubernetes_version": "1.33"}, "isn't supported"),
        ({"drain_timeout_minutes": 1441}, "must be between 1 and 1440"),
    ],
)
def test_invalid_aks_options_are_rejected(args: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongInputs, match=reason):
        AksGpuPool("t4", {**AKS_POOL, **args})


def test_update_settings_are_declared(declare: Declare) -> None:
    inputs = eks_pool(declare, update_strategy="DEFAULT", max_unavailable=3, force_update=True)
    assert inputs["updateConfig"] == {"maxUnavailable": 3, "updateStrategy": "DEFAULT"}
    assert inputs["forceUpdateVersion"] is True
    assert "forceUpdateVersion" not in eks_pool(declare)
    surge = gke_pool(declare, max_surge=2)["upgradeSettings"]
    assert surge == {"strategy": "SURGE", "maxSurge": 2, "maxUnavailable": 0}
    of_aks = aks_pool(declare, max_surge=2, drain_timeout_minutes=90)["upgradeSettings"]
    assert of_aks == {"maxSurge": "2", "maxUnavailable": "0", "drainTimeoutInMinutes": 90}
    assert aks_pool(declare, kubernetes_version="1.35.2")["orchestratorVersion"] == "1.35.2"


def test_image_streaming_can_be_enabled(declare: Declare) -> None:
    assert gke_pool(declare, image_streaming=True)["nodeConfig"]["gcfsConfig"] == {"enabled": True}
    assert gke_pool(declare)["nodeConfig"]["gcfsConfig"] == {"enabled": False}


@pytest.mark.parametrize(
    ("start", "window"), [("", {"startTime": "03:00"}), ("22:30", {"startTime": "22:30"})]
)
def test_maintenance_start_can_be_set(declare: Declare, start: str, window: Any) -> None:
    args = {"maintenance_start": start} if start else {}
    inputs = declare(lambda: GkeCluster("dev", {**GKE, **args})).one("Cluster").inputs
    assert inputs.get("maintenancePolicy", {}).get("dailyMaintenanceWindow") == window


@pytest.mark.parametrize(
    ("channel", "of_images"),
    [("patch", "SecurityPatch"), ("node-image", "NodeImage"), ("none", "None")],
)
def test_aks_uses_the_configured_upgrade_channel(
    declare: Declare, channel: str, of_images: str
) -> None:
    declared = declare(
        lambda: AksCluster("dev", {**AKS, "upgrade_channel": channel, "maintenance_start": "22:30"})
    )
    profile = declared.one("ManagedCluster").inputs["autoUpgradeProfile"]
    assert profile == {"upgradeChannel": channel, "nodeOSUpgradeChannel": of_images}
    windows = [
        each.inputs["maintenanceWindow"]["startTime"]
        for each in declared.all("MaintenanceConfiguration")
    ]
    assert windows == ([] if channel == "none" else ["22:30", "22:30"])


def test_support_type_and_zonal_shift_can_be_set(declare: Declare) -> None:
    args: Any = {"kubernetes_version": "1.34"}
    usual = declare(lambda: EksCluster("dev", args)).one("Cluster").inputs
    assert not {"upgradePolicy", "zonalShiftConfig"} & usual.keys()
    declared = declare(
        lambda: EksCluster("dev", {**args, "support_type": "STANDARD", "zonal_shift": True})
    )
    inputs = declared.one("Cluster").inputs
    assert inputs["upgradePolicy"] == {"supportType": "STANDARD"}
    assert inputs["zonalShiftConfig"] == {"enabled": True}


def test_every_role_has_the_permissions_boundary(declare: Declare) -> None:
    args: Any = {"kubernetes_version": "1.34", "permissions_boundary_arn": BOUNDARY}
    roles = declare(lambda: EksCluster("dev", args)).all("Role")
    assert len(roles) == 4  # cluster, nodes, pod network, flow logs
    assert {role.inputs.get("permissionsBoundary") for role in roles} == {BOUNDARY}
    alone = declare(
        lambda: EksNetwork("net", {"zone_count": 2, "permissions_boundary_arn": BOUNDARY})
    )
    assert alone.one("Role").inputs["permissionsBoundary"] == BOUNDARY


EBS = {"cluster": {"storage_drivers": ["ebs"]}}


@pytest.mark.parametrize(
    ("machine", "options", "expected"),
    [
        ("g6.2xlarge", {}, None),
        ("g6.2xlarge", EBS, ("gp3", "ebs.csi.aws.com", {"type": "gp3", "encrypted": "true"}, True)),
        ("g6.2xlarge", {**EBS, "storage_class": False}, None),
        ("g2-standard-8", {}, None),
        (
            "a4-highgpu-8g",
            {},
            ("hyperdisk-balanced", "pd.csi.storage.gke.io", {"type": "hyperdisk-balanced"}, False),
        ),
        ("a4-highgpu-8g", {"storage_class": False}, None),
    ],
)
def test_gpu_nodes_can_attach_volumes_of_the_storage_class(
    declare: Declare,
    machine: str,
    options: dict[str, Any],
    expected: tuple[str, str, dict[str, str], bool] | None,
) -> None:
    fleet: dict[str, Any] = {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.34",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": [{"name": "gpus", "machine": machine, "count": {"min": 0, "max": 2}}],
    }
    if "highgpu" in machine or machine.startswith("g2-"):
        network = {
            "network": {"zones": ["us-central1-b"]},
            "systemPool": {"machine": "e2-standard-4"},
        }
        fleet |= {"cloud": "gke", "region": "us-central1", **network}
        options = {**options, "cluster": {"security_group": "none"}}
        fleet["pools"][0]["capacity"] = {"reservation": "bought"}
    plan = canonical_text(plan_file(make_plan(PlanRequest(sources=(), fleet=read_fleet(fleet)))))
    found = [
        each.inputs
        for each in declare(lambda: DraPlatform("dra", {"plan": plan, **options})).all(
            "StorageClass"
        )
    ]
    default = "storageclass.kubernetes.io/is-default-class"
    assert [
        (
            each["metadata"]["name"],
            each["provisioner"],
            each["parameters"],
            default in each["metadata"]["annotations"],
        )
        for each in found
    ] == ([expected] if expected else [])
    assert {each["volumeBindingMode"] for each in found} <= {"WaitForFirstConsumer"}


def test_platform_passes_custom_network_settings_to_its_nodes(declare: Declare) -> None:
    plan = (Path(__file__).parents[2] / "stacks/eks-dev.plan.json").read_text()
    script = "#!/bin/sh\ntrue\n"
    pools: list[PoolOptions] = [
        {"name": "l4", "security_group_ids": ["sg-database"], "boot_script": script}
    ]
    policy = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
    cluster: ClusterOptions = {
        "node_policy_arns": [policy],
        "subnet_tags": {"karpenter.sh/discovery": "main"},
    }
    declared = declare(
        lambda: DraPlatform("dra", {"plan": plan, "pools": pools, "cluster": cluster})
    )
    template = declared.one("LaunchTemplate", "dra-l4-nodes").inputs
    assert template["vpcSecurityGroupIds"] == ["sg-cluster", "sg-database"]
    assert script in b64decode(template["userData"]).decode()
    assert "userData" not in declared.one("LaunchTemplate", "dra-h100-nodes").inputs
    assert policy in {each.inputs["policyArn"] for each in declared.all("RolePolicyAttachment")}
    tagged = [
        each for each in declared.all("Subnet") if "karpenter.sh/discovery" in each.inputs["tags"]
    ]
    assert len(tagged) == 2

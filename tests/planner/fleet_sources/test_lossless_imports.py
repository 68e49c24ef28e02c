"""Facts of another tool's pools are in the fleet, or a note names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from cluster_descriptions import plan
from dra_planner.fleet_sources import ImportedFleet, read_imported_fleet

TAINTS = [
    {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"},
    {"key": "nvidia.com/gpu", "value": "", "effect": "NO_EXECUTE"},
    {"key": "example.com/team", "value": "train", "effect": "NO_SCHEDULE"},
    {"key": "example.com/odd", "value": "x", "effect": "SOMETIMES"},
]
AS_TEXT = [
    "nvidia.com/gpu=true:NoSchedule",
    "nvidia.com/gpu:NoExecute",
    "example.com/team=train:NoSchedule",
    "example.com/odd=x:SOMETIMES",
]


def imported(*documents: Any, kubernetes: str = "1.35", **options: str) -> ImportedFleet:
    found = read_imported_fleet(documents, file="a.json", kubernetes=kubernetes, **options)
    assert found is not None
    return found


def eks_plan(**pool: Any) -> dict[str, Any]:
    """The plan of terraform-aws-eks with a system group and a GPU group that has these values."""
    scaling = {"min_size": 1, "max_size": 4, "desired_size": 1}
    group = {"instance_types": ["g6.12xlarge"], "scaling_config": [scaling], **pool}
    system = {"min_size": 1, "max_size": 3, "desired_size": 2}
    names = {"gpu": group, "system": {"instance_types": ["m7i.large"], "scaling_config": [system]}}
    cluster: tuple[str, str, Mapping[str, Any]] = (
        "module.eks.aws_eks_cluster.this[0]",
        "aws_eks_cluster",
        {"name": "ml", "version": "1.35"},
    )
    address = 'module.eks.module.eks_managed_node_group["{}"].aws_eks_node_group.this[0]'
    groups = [
        (address.format(name), "aws_eks_node_group", {"node_group_name": name, **values})
        for name, values in names.items()
    ]
    return plan([cluster, *groups], {"aws": {"region": "us-west-2"}})


def gke_plan(cluster: Mapping[str, Any] | None = None, **config: Any) -> dict[str, Any]:
    cluster = {
        "name": "ml",
        "location": "us-central1",
        "remove_default_node_pool": True,
        **(cluster or {}),
    }
    settings = {"machine_type": "g2-standard-8", **config}
    pool = {"name": "gpu", "cluster": "ml", "node_count": 1, "node_config": [settings]}
    return plan(
        [
            ("google_container_cluster.a", "google_container_cluster", cluster),
            ("google_container_node_pool.a", "google_container_node_pool", pool),
        ]
    )


def aks_plan(system: Mapping[str, Any] | None = None, **values: Any) -> dict[str, Any]:
    default = {"name": "system", "vm_size": "Standard_D4s_v5", "node_count": 3, **(system or {})}
    cluster = {"name": "ml", "location": "East US", "default_node_pool": [default]}
    pool = {"name": "gpu", "vm_size": "Standard_NC24ads_A100_v4", "node_count": 1, **values}
    return plan(
        [
            ("azurerm_kubernetes_cluster.a", "azurerm_kubernetes_cluster", cluster),
            (
                "azurerm_kubernetes_cluster_node_pool.a",
                "azurerm_kubernetes_cluster_node_pool",
                pool,
            ),
        ]
    )


def eksctl(**group: Any) -> dict[str, Any]:
    return {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": {"name": "ml", "region": "us-east-1", "version": "1.35"},
        "managedNodeGroups": [
            {"name": "gpu", "instanceType": "g6.12xlarge", "minSize": 0, "maxSize": 4, **group}
        ],
    }


def karpenter(node_class: Mapping[str, Any] | None = None, **spec: Any) -> list[dict[str, Any]]:
    types = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g6.12xlarge"]}
    zones = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]}
    inner = {"nodeClassRef": {"name": "gpu"}, "requirements": [types, zones], **spec}
    pool = {"limits": {"nodes": 4}, "template": {"spec": inner}}
    return [
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "gpu"},
            "spec": pool,
        },
        {
            "apiVersion": "karpenter.k8s.aws/v1",
            "kind": "EC2NodeClass",
            "metadata": {"name": "gpu"},
            "spec": node_class or {},
        },
    ]


def cluster_api(prefix: str = "AWS", **spec: Any) -> list[dict[str, Any]]:
    name = f"{prefix}ManagedMachinePool"
    text = f"""
        apiVersion: cluster.x-k8s.io/v1beta2
        kind: MachinePool
        metadata: {{name: gpu}}
        spec: {{replicas: 1, template: {{spec: {{infrastructureRef: {{kind: {name}, name: gpu}}}}}}}}
        """
    pool = {"kind": name, "metadata": {"name": "gpu"}, "spec": spec}
    return [yaml.safe_load(text), pool]


def variables(**group: Any) -> dict[str, Any]:
    groups = {"gpu": {"instance_types": ["g6.12xlarge"], "min_size": 0, "max_size": 4, **group}}
    return {"name": "ml", "region": "us-east-1", "eks_managed_node_groups": groups}


@pytest.mark.parametrize(
    "documents",
    [
        [eks_plan(taint=TAINTS)],
        [gke_plan(taint=TAINTS)],
        [aks_plan(node_taints=AS_TEXT)],
        [eksctl(taints=TAINTS)],
        karpenter(taints=TAINTS),
        cluster_api(instanceType="g6.12xlarge", taints=TAINTS),
        [variables(taints={each["effect"] + each["key"]: each for each in TAINTS})],
    ],
    ids=["eks", "gke", "aks", "eksctl", "karpenter", "cluster-api", "variables"],
)
def test_every_taint_is_imported_or_reported(documents: list[Any]) -> None:
    region = "us-east-1" if len(documents) == 2 else ""

    found = imported(*documents, region=region)

    (pool,) = found.document["pools"]
    assert pool["taints"] == [{"key": "example.com/team", "value": "train", "effect": "NoSchedule"}]
    notes = [note for note in found.notes if "taint" in note]
    assert notes == [
        "pool gpu: its taint nvidia.com/gpu=true:NoSchedule isn't imported, because the nodes have "
        "nvidia.com/gpu=present:NoSchedule. A toleration for this key needs operator: Exists or "
        "the value present",
        "pool gpu: its taint nvidia.com/gpu:NoExecute isn't imported, because every GPU node "
        'already has the taint "nvidia.com/gpu"',
        "pool gpu: its taint example.com/odd=x:SOMETIMES isn't imported, because it's not a valid "
        "taint",
    ]


def test_a_taint_that_nodes_have_automatically_needs_no_note() -> None:
    present = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    spot = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"

    assert not [note for note in imported(eks_plan(taint=[present])).notes if "taint" in note]
    of_spot = imported(aks_plan(node_taints=[spot], priority="Spot"))
    assert not [note for note in of_spot.notes if f"taint {spot}" in note]
    of_others = imported(aks_plan(node_taints=[spot]))
    assert any("only AKS sets taints with this key" in note for note in of_others.notes)


@pytest.mark.parametrize(
    ("document", "has_note"),
    [(eks_plan(), True), (aks_plan(), True), (gke_plan(), False)],  # GKE adds the same taint
    ids=["eks", "aks", "gke"],
)
def test_taint_that_only_the_fleets_nodes_have_is_reported(
    document: dict[str, Any], has_note: bool
) -> None:
    note = (
        "pool gpu: the fleet adds the taint nvidia.com/gpu=present:NoSchedule, which these files "
        "don't contain, so pods without a toleration for nvidia.com/gpu can't run on new nodes"
    )

    assert (note in imported(document).notes) == has_note


_EKS_ACCESS = {"endpoint_public_access": True, "public_access_cidrs": ["198.51.100.0/24"]}
_GKE_ACCESS = {
    "master_authorized_networks_config": [{"cidr_blocks": [{"cidr_block": "198.51.100.0/24"}]}]
}
_AKS_ACCESS = {"api_server_access_profile": [{"authorized_ip_ranges": ["198.51.100.0/24"]}]}


def with_cluster_values(document: dict[str, Any], **values: Any) -> dict[str, Any]:
    """Return a Terraform plan whose cluster has more values."""
    modules = [document["planned_values"]["root_module"]]
    for module in modules:
        modules += module.get("child_modules", [])
        for each in module.get("resources", []):
            if each["type"].endswith("_cluster"):
                each["values"] = {**each["values"], **values}
    return document


@pytest.mark.parametrize(
    ("document", "values"),
    [
        (eks_plan(), {"vpc_config": [_EKS_ACCESS]}),
        (gke_plan(), _GKE_ACCESS),
        (aks_plan(), _AKS_ACCESS),
    ],
    ids=["eks", "gke", "aks"],
)
def test_networks_with_access_to_the_api_server_are_imported(
    document: dict[str, Any], values: dict[str, Any]
) -> None:
    found = imported(with_cluster_values(document, **values))

    assert found.document["endpoint"] == {"publicAccessCidrs": ["198.51.100.0/24"]}


def test_access_that_a_fleet_cannot_describe_is_reported() -> None:
    access = {"endpoint_public_access": True, "public_access_cidrs": ["0.0.0.0/0"]}
    closed = {"endpoint_public_access": False, "public_access_cidrs": ["0.0.0.0/0"]}

    opened = imported(with_cluster_values(eks_plan(), vpc_config=[access]))
    private = imported(with_cluster_values(eks_plan(), vpc_config=[closed]))

    assert "endpoint" not in opened.document
    assert (
        'public access to the API server isn\'t imported, because "0.0.0.0/0" opens the API '
        "server to everyone; allow only the networks that need access"
    ) in opened.notes
    assert not any("public access" in note for note in private.notes)


def test_taint_of_system_nodes_is_reported() -> None:
    found = imported(aks_plan({"only_critical_addons_enabled": True}))

    assert any("pool system: its taint CriticalAddonsOnly=true" in note for note in found.notes)


def test_machine_types_of_one_group_share_minimum_and_maximum() -> None:
    found = imported(eks_plan(instance_types=["g6.12xlarge", "g6e.12xlarge"]))

    pools = [
        (each["name"], each["machine"], each["count"], each["partOf"])
        for each in found.document["pools"]
    ]
    assert pools == [
        ("gpu-g6-12xlarge", "g6.12xlarge", {"min": 1, "max": 4}, "gpu"),
        ("gpu-g6e-12xlarge", "g6e.12xlarge", {"min": 0, "max": 4}, "gpu"),
    ]
    (limit,) = found.fleet.limits
    assert (limit.most, set(limit.takes)) == (4, {"gpu-g6-12xlarge", "gpu-g6e-12xlarge"})
    assert any("share the maximum of 4 nodes" in note for note in found.notes)


@pytest.mark.parametrize(
    "documents",
    [
        [eks_plan(disk_size=100)],
        [gke_plan(disk_size_gb=100)],
        [aks_plan(os_disk_size_gb=100)],
        [eksctl(volumeSize=100)],
        karpenter({"blockDeviceMappings": [{"ebs": {"volumeSize": "100Gi"}}]}),
        cluster_api(instanceType="g6.12xlarge", diskSize=100),
        [variables(disk_size=100)],
        [variables(block_device_mappings={"xvda": {"ebs": {"volume_size": 100}}})],
    ],
    ids=["eks", "gke", "aks", "eksctl", "karpenter", "cluster-api", "variables", "mappings"],
)
def test_boot_disk_size_is_imported(documents: list[Any]) -> None:
    found = imported(*documents, region="us-east-1" if len(documents) == 2 else "")

    assert found.document["pools"][0]["diskGib"] == 100
    assert not [note for note in found.notes if "disk" in note]


def test_missing_or_too_small_disk_size_is_reported() -> None:
    for size, planned, words in ((None, 200, "isn't set"), (20, 50, "has 20 GiB")):
        found = imported(eks_plan(disk_size=size))
        assert found.document["pools"][0]["diskGib"] == planned
        assert [note for note in found.notes if "boot disk" in note and words in note]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([eks_plan(ami_type="AL2023_x86_64_STANDARD")], "doesn't contain the NVIDIA driver"),
        ([eks_plan(ami_type="BOTTLEROCKET_x86_64_NVIDIA")], "assumes AL2023_x86_64_NVIDIA"),
        ([eks_plan(ami_type="AL2023_x86_64_NVIDIA")], ""),
        ([eks_plan(ami_type="CUSTOM")], "image CUSTOM isn't imported"),
        ([variables(ami_type="AL2023_x86_64_STANDARD")], "doesn't contain the NVIDIA driver"),
        (cluster_api(instanceType="g6.12xlarge", amiType="AL2_x86_64"), "doesn't contain"),
        ([gke_plan(image_type="UBUNTU_CONTAINERD")], "assumes COS_CONTAINERD"),
        (
            [
                gke_plan(
                    guest_accelerator=[
                        {
                            "type": "nvidia-l4",
                            "count": 1,
                            "gpu_driver_installation_config": [
                                {"gpu_driver_version": "INSTALLATION_DISABLED"}
                            ],
                        }
                    ]
                )
            ],
            "INSTALLATION_DISABLED turns off",
        ),
        ([aks_plan(gpu_driver="None")], "gpu_driver None turns off"),
        ([aks_plan(os_sku="Ubuntu")], ""),
        ([eksctl(amiFamily="Bottlerocket")], "image Bottlerocket isn't imported"),
        ([eksctl(amiFamily="AmazonLinux2023")], ""),
        (karpenter({"amiSelectorTerms": [{"alias": "al2023@latest"}]}), ""),
        (karpenter({"amiSelectorTerms": [{"id": "ami-0123"}]}), "image id: ami-0123 isn't"),
    ],
)
def test_unsupported_image_is_reported(documents: list[Any], message: str) -> None:
    found = imported(*documents, region="us-east-1" if len(documents) == 2 else "")

    notes = [note for note in found.notes if "image" in note or "NVIDIA driver" in note]
    assert [note for note in notes if message in note] if message else notes == []


@pytest.mark.parametrize(
    ("scaling", "count", "which"),
    [
        ({"min_size": 1, "max_size": 3, "desired_size": 2}, 2, "desired"),
        ({"min_size": 1, "max_size": 3}, 1, "minimum"),
        ({"min_size": 0, "max_size": 3}, 2, "default"),
        ({"min_size": 3, "max_size": 3, "desired_size": 3}, 3, ""),
    ],
)
def test_system_pool_has_the_desired_node_count(
    scaling: Mapping[str, int], count: int, which: str
) -> None:
    data = eks_plan()
    modules = data["planned_values"]["root_module"]["child_modules"]
    modules[2]["resources"][0]["values"]["scaling_config"] = [scaling]

    found = imported(data)

    assert found.document["systemPool"] == {"machine": "m7i.large", "count": count}
    notes = [note for note in found.notes if "the system pool has" in note]
    assert [which in note for note in notes] == ([True] if which else [])


def test_zone_gets_its_full_name_or_is_reported() -> None:
    found = imported(aks_plan(zones=["1", "9x"]))

    assert found.document["pools"][0]["zones"] == ["eastus-1"]
    assert any("zones 9x aren't imported" in note for note in found.notes)


def test_label_that_a_fleet_cannot_set_is_reported() -> None:
    labels = {"team": "a", "nvidia.com/gpu.product": "L4", "nvidia.com/gpu.present": "true"}

    found = imported(eks_plan(labels=labels))

    assert found.document["pools"][0]["labels"] == {"team": "a"}
    (note,) = [note for note in found.notes if "labels" in note]
    assert "its labels nvidia.com/gpu.product=L4 aren't imported" in note


EKSCTL = {
    "apiVersion": "eksctl.io/v1alpha5",
    "kind": "ClusterConfig",
    "metadata": {"name": "ml", "region": "us-west-2", "version": "1.35"},
    "managedNodeGroups": [{"name": "gpu", "instanceType": "g6.12xlarge", "maxSize": 4}],
}
SUBNETS = ["subnet-0a", "subnet-0b"]
TWO_SUBNETS = {"private": {"us-west-2a": {"id": "subnet-0a"}, "us-west-2b": {"id": "subnet-0b"}}}
AKS_SUBNET = (
    "/subscriptions/0/resourceGroups/a/providers/Microsoft.Network/virtualNetworks/v/subnets/s"
)


def aks_plan_in(*subnets: str) -> dict[str, Any]:
    return aks_plan({"vnet_subnet_id": subnets[0]}, vnet_subnet_id=subnets[-1])


@pytest.mark.parametrize(
    ("document", "subnets"),
    [
        ({**EKSCTL, "vpc": {"id": "vpc-1", "subnets": TWO_SUBNETS}}, SUBNETS),
        (eks_plan(subnet_ids=SUBNETS), SUBNETS),
        (aks_plan_in(AKS_SUBNET), [AKS_SUBNET]),
    ],
    ids=["eksctl", "Terraform on EKS", "Terraform on AKS"],
)
def test_existing_subnets_are_imported(document: Mapping[str, Any], subnets: list[str]) -> None:
    found = imported(document)
    assert found.document["network"] == {"subnetIds": subnets}
    assert any(f"the existing subnets {', '.join(subnets)}" in note for note in found.notes)


@pytest.mark.parametrize(
    ("document", "note"),
    [
        ({**EKSCTL, "vpc": {"id": "vpc-1"}}, "the VPC vpc-1 isn't imported"),
        (
            eks_plan(subnet_ids=SUBNETS[:1]),
            "the subnets subnet-0a aren't imported, because network.subnetIds must contain",
        ),
        (
            aks_plan_in(AKS_SUBNET, f"{AKS_SUBNET}2"),
            f"the subnets {AKS_SUBNET}, {AKS_SUBNET}2 aren't imported",
        ),
        (gke_plan(cluster={"subnetwork": "gpus"}), "the network gpus isn't imported"),
        (
            {
                **EKSCTL,
                "managedNodeGroups": [
                    {"name": "gpu", "instanceType": "p5.48xlarge", "efaEnabled": True}
                ],
            },
            "pool gpu: efaEnabled isn't imported",
        ),
    ],
    ids=["VPC without subnets", "one subnet on EKS", "two subnets on AKS", "network of GKE", "EFA"],
)
def test_unusable_network_is_reported(document: Mapping[str, Any], note: str) -> None:
    found = imported(document)
    assert any(note in each for each in found.notes), found.notes
    assert "network" not in found.document


def test_cluster_name_is_imported() -> None:
    assert imported(EKSCTL).cluster == imported(eks_plan()).cluster == "ml"

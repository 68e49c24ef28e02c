"""Fleets of Terraform and OpenTofu: plans and states, of raw resources and of modules."""

from __future__ import annotations

from typing import Any

import pytest

from cluster_descriptions import AKS, EKS, GKE, plan
from dra_planner.errors import FleetError
from dra_planner.fleet_sources import ImportedFleet, read_imported_fleet


def imported(data: Any, **options: str) -> ImportedFleet:
    found = read_imported_fleet([data], file="plan.json", **options)
    assert found is not None
    return found


def test_node_groups_of_an_eks_module_are_imported() -> None:
    found = imported(plan(EKS, {"aws": {"region": "us-east-1"}}))

    assert found.document["cloud"] == "eks"
    assert found.document["region"] == "us-east-1"
    assert found.document["systemPool"] == {"machine": "m7i.large", "count": 2}
    assert found.document["pools"] == [
        {
            "name": "h100",
            "machine": "p5.48xlarge",
            "count": {"min": 2, "max": 2},
            "capacity": {"capacityBlock": "cr-0123456789abcdef0"},
            "diskGib": 200,
            "labels": {"team": "train"},
            "taints": [{"key": "example.com/team", "value": "train", "effect": "NoSchedule"}],
        }
    ]


def test_gke_pool_counts_nodes_of_all_zones_and_attached_gpus() -> None:
    found = imported(plan(GKE))

    assert found.document["kubernetes"] == "1.35"
    l4, t4 = found.document["pools"]
    assert (l4["machine"], l4["count"], l4["capacity"]) == (
        "g2-standard-8",
        {"min": 0, "max": 6},
        "spot",
    )
    assert (t4["machine"], t4["count"]) == ("n1-standard-8+nvidia-tesla-t4:2", {"min": 2, "max": 2})
    assert found.document["autoscaler"] == "gke"


def test_aks_pool_keeps_its_taint() -> None:
    found = imported(plan(AKS))

    assert found.document["region"] == "eastus"
    (pool,) = found.document["pools"]
    assert pool["count"] == {"min": 0, "max": 4}
    assert found.document["autoscaler"] == "cluster-autoscaler"
    assert pool["taints"] == [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]


def test_state_equals_its_plan() -> None:
    written = plan(AKS)
    state = {"format_version": "1.0", "values": written["planned_values"]}

    assert imported(state).document == imported(written).document


def test_the_machine_type_of_a_launch_template_is_found_by_reference() -> None:
    resources = [
        ("aws_eks_cluster.ml", "aws_eks_cluster", {"name": "ml", "version": "1.35"}),
        ("aws_launch_template.gpu", "aws_launch_template", {"instance_type": "g6.2xlarge"}),
        (
            "aws_eks_node_group.gpu",
            "aws_eks_node_group",
            {
                "node_group_name": "gpu",
                "scaling_config": [{"min_size": 0, "max_size": 4}],
                "launch_template": [{}],
            },
        ),
    ]
    data = plan(resources, {"aws": {"region": "us-east-1"}})
    data["configuration"]["root_module"] = {
        "resources": [
            {
                "address": "aws_eks_node_group.gpu",
                "expressions": {
                    "launch_template": [{"id": {"references": ["aws_launch_template.gpu.id"]}}]
                },
            }
        ]
    }

    assert imported(data).document["pools"][0]["machine"] == "g6.2xlarge"


def test_missing_region_is_requested() -> None:
    with pytest.raises(FleetError, match="region isn't set") as error:
        imported(plan(EKS))
    assert "--region" in str(error.value)

    assert imported(plan(EKS), region="us-east-1").document["region"] == "us-east-1"


def test_cluster_without_gpus_is_an_error_that_lists_skipped_pools() -> None:
    resources = [
        *EKS[:2],
        (
            "aws_eks_node_group.odd",
            "aws_eks_node_group",
            {"node_group_name": "odd", "instance_types": ["p99.large"]},
        ),
    ]

    with pytest.raises(
        FleetError, match="none of the pools in these files has accelerators"
    ) as error:
        imported(plan(resources), region="us-east-1")
    assert "p99.large" in str(error.value)


def test_several_clusters_need_a_choice() -> None:
    both = plan([*GKE, *AKS])

    with pytest.raises(FleetError, match="2 clusters"):
        imported(both)


def test_other_data_is_not_imported() -> None:
    assert read_imported_fleet([{"cloud": "eks"}], file="fleet.yaml") is None


def test_version_of_the_installed_driver_is_imported() -> None:
    chart = (
        "helm_release.driver",
        "helm_release",
        {"chart": "nvidia/nvidia-dra-driver-gpu", "version": "25.8.1"},
    )

    found = imported(plan([*AKS, chart]))

    assert found.document["drivers"] == {"nvidia": {"version": "25.8.1"}}
    assert not any("driver" in note for note in found.notes)


def test_pool_name_that_starts_with_a_digit_is_changed() -> None:
    pool = (
        "azurerm_kubernetes_cluster_node_pool.odd",
        "azurerm_kubernetes_cluster_node_pool",
        {"name": "100gpus", "vm_size": "Standard_NC24ads_A100_v4", "node_count": 1},
    )

    found = imported(plan([AKS[0], pool]))

    assert found.document["pools"][0]["name"][0].isalpha()


def test_zones_of_a_cluster_are_imported_as_its_network() -> None:
    assert imported(plan(GKE)).document["network"] == {"zones": ["us-central1-a", "us-central1-c"]}


def state_file(*resources: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the content of a state file, as in `terraform.tfstate`."""
    return {"version": 4, "serial": 1, "lineage": "x", "resources": list(resources), **fields}


def stated(kind: str, *instances: dict[str, Any], name: str = "n", **fields: Any) -> dict[str, Any]:
    return {"mode": "managed", "type": kind, "name": name, "instances": list(instances), **fields}


def group(name: str, machines: list[str], most: int) -> dict[str, Any]:
    scaling = [{"min_size": 0, "max_size": most}]
    return {"node_group_name": name, "instance_types": machines, "scaling_config": scaling}


CLUSTER = stated(
    "aws_eks_cluster",
    {
        "attributes": {
            "name": "prod",
            "version": "1.34",
            "arn": "arn:aws:eks:us-east-1:1:cluster/prod",
        }
    },
    module="module.eks",
)


def test_state_file_has_a_pool_per_resource_instance() -> None:
    groups = stated(
        "aws_eks_node_group",
        {"index_key": "h100", "attributes": group("h100", ["p5.48xlarge"], 2)},
        {"index_key": "l4", "attributes": group("l4", ["g6.2xlarge"], 4)},
        {"index_key": "l4", "deposed": "0a1b2c3d", "attributes": group("old", ["g5.2xlarge"], 9)},
    )

    document = imported(state_file(CLUSTER, groups)).document

    assert (document["region"], document["kubernetes"]) == ("us-east-1", "1.34")
    pools = [(each["name"], each["machine"], each["count"]["max"]) for each in document["pools"]]
    assert pools == [("h100", "p5.48xlarge", 2), ("l4", "g6.2xlarge", 4)]


def test_state_file_equals_its_json_output() -> None:
    resources = plan(GKE)["planned_values"]["root_module"]["resources"]
    written = [
        stated(each["type"], {"attributes": each["values"]}, name=each["address"].split(".")[1])
        for each in resources
    ]

    assert imported(state_file(*written)).document == imported(plan(GKE)).document


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (state_file(version=3, modules=[]), "Terraform state version 3"),
        (
            {"serial": 1, "lineage": "x", "encrypted_data": "y"},
            "encrypted OpenTofu state",
        ),
        (state_file(), "these files don't describe a cluster on a supported cloud"),
        (
            state_file(CLUSTER, stated("aws_eks_node_group", name="odd"), 7),
            "none of the pools in these files has",
        ),
    ],
    ids=["old", "encrypted", "empty", "odd"],
)
def test_state_without_pools_is_an_error(data: Any, message: str) -> None:
    with pytest.raises(FleetError, match=message):
        imported(data)


SITE = {"region": "us-west-2"}


@pytest.mark.parametrize(
    ("references", "variables", "defaults"),
    [
        (["var.region"], {"region": {"value": "us-west-2"}}, {}),
        (["var.region"], {}, {"region": {"default": "us-west-2"}}),
        (["var.site.region", "var.site"], {"site": {"value": SITE}}, {}),
    ],
    ids=["value", "default", "attribute"],
)
def test_region_of_a_provider_is_resolved_from_variables(
    references: list[str], variables: dict[str, Any], defaults: dict[str, Any]
) -> None:
    data = plan(EKS)
    data["variables"] = variables
    data["configuration"] = {
        "provider_config": {
            "aws": {"name": "aws", "expressions": {"region": {"references": references}}},
            "aws.b": {
                "name": "aws",
                "alias": "b",
                "expressions": {"region": {"constant_value": "eu-west-1"}},
            },
        },
        "root_module": {"variables": defaults},
    }

    assert imported(data).document["region"] == "us-west-2"


def test_region_of_a_modules_provider_is_resolved_from_its_call() -> None:
    data = plan(EKS)
    data["variables"] = {"where": {"value": "us-west-2"}}
    data["configuration"] = {
        "provider_config": {
            "module.a:aws": {
                "name": "aws",
                "module_address": "module.a",
                "expressions": {"region": {"references": ["var.region"]}},
            }
        },
        "root_module": {
            "module_calls": {
                "a": {"expressions": {"region": {"references": ["var.where"]}}, "module": {}}
            }
        },
    }

    assert imported(data).document["region"] == "us-west-2"


@pytest.mark.parametrize("references", [["local.region"], ["var.a", "var.b"], ["var.missing"], []])
def test_expression_without_a_known_value_sets_no_region(references: list[str]) -> None:
    data = plan(EKS)
    data["variables"] = {"a": {"value": "us-west-2"}, "b": {"value": "x"}}
    data["configuration"]["provider_config"] = {
        "aws": {"name": "aws", "expressions": {"region": {"references": references}}}
    }

    with pytest.raises(FleetError, match="region isn't set"):
        imported(data)


@pytest.mark.parametrize(
    ("resources", "cluster", "options"),
    [
        (EKS, "aws_eks_cluster", {"region": "us-east-1"}),
        (GKE, "google_container_cluster", {"region": "us-central1"}),
        (AKS, "azurerm_kubernetes_cluster", {"region": "eastus"}),
    ],
    ids=["eks", "gke", "aks"],
)
def test_pools_of_an_external_cluster_are_imported(
    resources: list[Any], cluster: str, options: dict[str, str]
) -> None:
    with_cluster = imported(plan(resources), **options).document

    found = imported(plan([each for each in resources if each[1] != cluster]), **options).document

    assert [(pool["name"], pool["machine"]) for pool in found["pools"]] == [
        (pool["name"], pool["machine"]) for pool in with_cluster["pools"]
    ]


def node_group(address: str, cluster: str) -> tuple[str, str, dict[str, Any]]:
    values = {**group("g6", ["g6.2xlarge"], 4), "cluster_name": cluster, "version": "1.34"}
    return address, "aws_eks_node_group", values


def test_pools_of_several_external_clusters_are_separated() -> None:
    both = plan([node_group("aws_eks_node_group.a", "a"), node_group("aws_eks_node_group.b", "b")])

    with pytest.raises(FleetError, match="these files describe 2 clusters: a, b"):
        imported(both, region="us-east-1")
    found = imported(both, region="us-east-1", cluster="b").document
    assert (found["kubernetes"], len(found["pools"])) == ("1.34", 1)


def test_clusters_with_equal_names_are_selected_by_address() -> None:
    both = plan(
        [
            (f"module.{each}.{address}", kind, values)
            for each in ("a", "b")
            for address, kind, values in GKE
        ]
    )

    with pytest.raises(FleetError, match=r"module\.a\.google_container_cluster\.main, module\.b"):
        imported(both)
    chosen = imported(both, cluster="module.b.google_container_cluster.main").document
    assert chosen["region"] == "us-central1"
    assert len(chosen["pools"]) == 2

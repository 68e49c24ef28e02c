"""The security baseline: properties of every node and volume, and existing tests for each row of
the table.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from checkov_rules import LINK_RULES, RULES, Rule, findings
from msgspec.structs import replace

from pulumi_dra.aks import AksCluster, AksGpuPool
from pulumi_dra.eks import EksCluster, EksGpuPool, EksNetwork
from pulumi_dra.gke import GkeCluster, GkeGpuPool

PROJECT = Path(__file__).parents[2]
GROUP = "gke-security-groups@example.com"
ROWS = [
    [cell.strip() for cell in line.strip("|\n ").split("|")]
    for line in (PROJECT / "docs/security.md").read_text().split("\n")
    if line.startswith("|") and not line.startswith(("|---", "| Control |"))
]


def eks_nodes() -> None:
    cluster = EksCluster("dev", {"kubernetes_version": "1.34"})
    EksGpuPool(
        "l4",
        {
            "cluster_name": cluster.name,
            "node_role_arn": cluster.node_role_arn,
            "subnet_ids": ["subnet-a"],
            "machine": "g6.2xlarge",
            "max_nodes": 4,
        },
    )


def gke_nodes() -> None:
    cluster = GkeCluster(
        "dev", {"kubernetes_version": "1.34", "region": "us-central1", "security_group": GROUP}
    )
    GkeGpuPool(
        "l4",
        {
            "cluster_name": cluster.cluster_id,
            "location": "us-central1",
            "machine": "g2-standard-8",
            "zones": ["us-central1-a"],
            "service_account": cluster.node_service_account,
            "max_nodes": 4,
        },
    )


def aks_nodes() -> None:
    cluster = AksCluster("dev", {"kubernetes_version": "1.35", "location": "eastus"})
    AksGpuPool(
        "t4",
        {
            "cluster_name": cluster.name,
            "resource_group_name": cluster.resource_group_name,
            "subnet_id": cluster.subnet_id,
            "location": "eastus",
            "machine": "Standard_NC4as_T4_v3",
            "max_nodes": 4,
        },
    )


def test_every_eks_node_has_a_template_that_hides_credentials(
    declare: Callable[..., Any],
) -> None:
    declared = declare(eks_nodes)
    templates = declared.all("LaunchTemplate")
    assert len(templates) == len(declared.all("NodeGroup")) == 2
    for template in templates:
        options = template.inputs["metadataOptions"]
        assert (options["httpTokens"], options["httpPutResponseHopLimit"]) == ("required", 1)
        assert "keyName" not in template.inputs
    assert all("remoteAccess" not in group.inputs for group in declared.all("NodeGroup"))
    assert all("launchTemplate" in group.inputs for group in declared.all("NodeGroup"))


def test_every_eks_volume_is_encrypted(declare: Callable[..., Any]) -> None:
    volumes = [
        device["ebs"]
        for template in declare(eks_nodes).all("LaunchTemplate")
        for device in template.inputs["blockDeviceMappings"]
    ]
    assert len(volumes) == 2
    assert {(volume["encrypted"], volume["volumeType"]) for volume in volumes} == {("true", "gp3")}


def test_gke_nodes_are_repaired_and_upgraded(declare: Callable[..., Any]) -> None:
    pools = declare(gke_nodes).all("NodePool")
    assert len(pools) == 2
    assert all(
        pool.inputs["management"] == {"autoRepair": True, "autoUpgrade": True} for pool in pools
    )


def test_protection_applies_to_the_cluster(declare: Callable[..., Any]) -> None:
    def make() -> None:
        EksCluster("dev", {"kubernetes_version": "1.34"}, opts=pulumi.ResourceOptions(protect=True))

    assert declare(make).one("Cluster").protect


@pytest.fixture(scope="module")
def defaults(declare: Callable[..., Any]) -> list[Any]:
    """Return all resources that a cluster with a pool declares on every cloud if only required
    inputs are set.

    The Google group is a required input, because only the user knows its name.
    """
    return [
        *declare(eks_nodes).resources,
        *declare(gke_nodes).resources,
        *declare(aks_nodes).resources,
    ]


def test_scanner_finds_nothing_in_the_defaults(defaults: list[Any]) -> None:
    assert findings(defaults) == set()


def test_scanner_finds_a_missing_security_group(declare: Callable[..., Any]) -> None:
    def make() -> None:
        GkeCluster(
            "dev", {"kubernetes_version": "1.34", "region": "us-central1", "security_group": "none"}
        )

    assert findings(declare(make).resources) == {("CKV_GCP_65", "dev-cluster")}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_matches_resources_and_can_fail(rule: Rule, defaults: list[Any]) -> None:
    assert [each for each in defaults if each.type in rule.kinds]
    assert not rule.holds(rule.broken_by)


def test_a_network_without_flow_logs_is_found(declare: Callable[..., Any]) -> None:
    resources = declare(lambda: EksNetwork("net", {"flow_logs": False})).resources
    assert findings(resources) == {("CKV2_AWS_11", "net-vpc")}


def test_an_open_default_security_group_is_found(declare: Callable[..., Any]) -> None:
    resources = [
        replace(each, inputs={**each.inputs, "ingress": [{"protocol": "-1"}]})
        if "Default" in each.type
        else each
        for each in declare(lambda: EksNetwork("net", {})).resources
    ]
    assert findings(resources) == {("CKV2_AWS_12", "net-vpc")}


def test_table_and_rules_have_the_same_ids() -> None:
    in_table = set(re.findall(r"CKV2?_[A-Z]+_[0-9]+", " ".join(row[0] for row in ROWS)))
    assert in_table == {rule.id for rule in (*RULES, *LINK_RULES)}


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:60] for row in ROWS])
def test_every_row_names_an_existing_test(row: list[str]) -> None:
    assert len(row) == 4
    file, name = re.fullmatch(r"`(.+)::(.+)`", row[3]).groups()  # type: ignore[union-attr]  # a failure here says enough
    assert f"def {name}(" in (PROJECT / "tests" / file).read_text()

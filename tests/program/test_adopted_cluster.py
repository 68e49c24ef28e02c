"""An EKS cluster that somebody else made, taken over by `pulumi import`: nothing is replaced."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_sandbox.clouds.memory import VARIABLE
from dra_sandbox.engine import Engine

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("eks")]

CLUSTER, NODE_GROUP, ADDON = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon"
ROLE = "arn:aws:iam::123456789012:role/theirs"
KEY = "arn:aws:kms:us-east-1:123456789012:key/theirs"
# As another tool would make it: with add-ons of EKS' own, an admin who is whoever made it, and both ways in.
THEIRS = f"""
import pulumi, pulumi_aws as aws

cluster = aws.eks.Cluster(
    "cluster",
    name="main",
    role_arn="{ROLE}",
    version="1.34",
    vpc_config={{"subnet_ids": ["subnet-a", "subnet-b"], "endpoint_private_access": True}},
    access_config={{
        "authentication_mode": "API_AND_CONFIG_MAP", "bootstrap_cluster_creator_admin_permissions": True,
    }},
    encryption_config={{"provider": {{"key_arn": "{KEY}"}}, "resources": ["secrets"]}},
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
    version="1.34",
    scaling_config={{"min_size": 1, "desired_size": 2, "max_size": 3}},
    opts=pulumi.ResourceOptions(depends_on=addons),
)
"""
IDS = {
    "dra-cluster-cluster": "main",
    "dra-cluster-vpc-cni": "main:vpc-cni",
    "dra-cluster-kube-proxy": "main:kube-proxy",
    "dra-cluster-coredns": "main:coredns",
}
PLATFORM = {"cluster": {"clusterName": "main", "clusterRoleArn": ROLE}, "secretsKmsKey": KEY}


def make_theirs(folder: Path, cloud: Path) -> None:
    """Make the cluster with a program and a state that nobody looks at again."""
    project = folder / "source"
    project.mkdir(parents=True)
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
    (project / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "theirs", "runtime": runtime}))
    (project / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": {"aws:region": "us-east-1"}}))
    (project / "__main__.py").write_text(THEIRS)
    engine = Engine(folder / "work", project, environment={VARIABLE: str(cloud)})
    engine.stack_init("dev")
    made = engine.up("dev", skip_preview=True)
    assert made.ok, made.output


@pytest.fixture(scope="module")
def stack(journey: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The stack eks-dev over the subnets of a cluster that is there; nothing of it is in the state."""
    stack = journey("eks-dev")
    make_theirs(tmp_path_factory.mktemp("theirs"), stack.engine.work_dir / "cloud.json")

    def over_theirs(fleet: dict[str, Any]) -> None:
        fleet["network"], fleet["pools"] = {"subnetIds": ["subnet-a", "subnet-b"]}, fleet["pools"][:1]

    stack.config["pulumi-dra:platform"] = PLATFORM
    stack.write(nodes=1, change=over_theirs)
    return stack


def adopt(stack: Any, ids: dict[str, str]) -> Any:
    """Import what has an id: the list is the engine's own, of all that the program would create."""
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


def operations(stack: Any, result: Any) -> dict[str, str]:
    assert result.ok, result.output
    changed: dict[str, str] = stack.changed(result)
    return changed


def test_what_is_not_there_is_not_taken_over(stack: Any) -> None:
    refused = adopt(stack, {"dra-cluster-cluster": "another"})
    assert not refused.ok
    assert "does not exist" in refused.output


def test_cluster_and_addons_are_taken_into_the_state(stack: Any) -> None:
    taken = adopt(stack, IDS)
    assert taken.ok, taken.output
    there = {each["urn"].rpartition("::")[2]: each.get("id") for each in stack.engine.resources(stack.stack)}
    assert IDS.items() <= there.items()


def test_with_a_role_of_its_own_it_would_be_replaced_and_the_preview_says_so(stack: Any) -> None:
    stack.config["pulumi-dra:platform"] = {**PLATFORM, "cluster": {"clusterName": "main"}}
    stack.write(nodes=1)
    changed = operations(stack, stack.engine.preview(stack.stack))
    assert changed["dra-cluster-cluster"] in {"replace", "create-replacement", "delete-replaced"}
    stack.config["pulumi-dra:platform"] = PLATFORM
    stack.write(nodes=1)


def test_the_platform_grows_in_it_and_nothing_is_replaced(stack: Any) -> None:
    changed = operations(stack, stack.engine.up(stack.stack, skip_preview=True))
    assert {changed[name] for name in IDS if name in changed} == {"update"}, changed
    assert set(changed.values()) == {"create", "update"}, changed
    assert changed["dra-l4-nodes"] == changed["dra-driver-release"] == "create"
    (cluster,) = stack.engine.cloud.all(CLUSTER).values()
    assert (cluster["roleArn"], cluster["accessConfig"]["authenticationMode"]) == (ROLE, "API")
    assert len(stack.engine.cloud.all(ADDON)) == 4, "three of theirs, and the agent of Pod Identity"
    groups = stack.engine.cloud.all(NODE_GROUP)
    assert groups["main:workers"]["scalingConfig"]["desiredSize"] == 2, "theirs stays as it is"
    assert len(groups) == 3


def test_a_second_up_changes_nothing(stack: Any) -> None:
    assert operations(stack, stack.engine.up(stack.stack, skip_preview=True)) == {}

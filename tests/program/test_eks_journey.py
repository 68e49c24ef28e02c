"""The stack eks-dev through the real engine, from nothing to nothing, on a simulated cloud."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("eks")]


@dataclass(frozen=True)
class Run:
    """What each step of the journey said."""

    first: Any
    resources: list[dict[str, Any]]
    outputs: dict[str, Any]
    again: Any
    resized: Any
    resized_steps: dict[str, str]
    resized_resources: list[dict[str, Any]]
    remachined: Any
    grown: Any
    moved: Any
    destroyed: Any
    left: list[dict[str, Any]]


def _other_driver_and_labels(fleet: dict[str, Any]) -> None:
    fleet["drivers"]["nvidia"]["version"] = "25.12.0"
    for pool in fleet["pools"]:
        pool["labels"] = {"example.com/team": "vision"}


def _one_zone_more(fleet: dict[str, Any]) -> None:
    fleet["network"] = {"zones": 3}


def _a_network_of_ones_own(fleet: dict[str, Any]) -> None:
    fleet["network"] = {"subnetIds": ["subnet-01", "subnet-02"]}
    fleet["pools"][1]["zones"] = []


def _other_machine_and_zone(fleet: dict[str, Any]) -> None:
    fleet["pools"][0]["machine"] = "g6.4xlarge"
    fleet["pools"][1]["zones"] = ["us-east-1b"]  # which the network spans anyway


@pytest.fixture(scope="module")
def run(journey: Callable[[str], Any]) -> Run:
    stack = journey("eks-dev")
    engine = stack.engine
    first = engine.up("eks-dev", skip_preview=True)
    assert first.ok, first.output
    resources, outputs = engine.resources("eks-dev"), engine.outputs("eks-dev")
    again = engine.preview("eks-dev")
    stack.write(nodes={"l4": 3, "h100": 0}, change=_other_driver_and_labels)
    resized = engine.up("eks-dev", skip_preview=True)
    resized_resources = engine.resources("eks-dev")
    stack.write(nodes={"l4": 3, "h100": 0}, change=_one_zone_more)
    grown = engine.preview("eks-dev")
    stack.write(nodes={"l4": 3, "h100": 0}, change=_other_machine_and_zone)
    remachined = engine.preview("eks-dev")
    stack.write(nodes={"l4": 3, "h100": 0}, change=_a_network_of_ones_own)
    moved = engine.preview("eks-dev")
    destroyed = engine.destroy("eks-dev")
    return Run(
        first, resources, outputs, again, resized, stack.changed(resized), resized_resources, remachined, grown, moved,
        destroyed, engine.resources("eks-dev"),
    )  # fmt: skip


def test_the_record_comes_first(run: Run) -> None:
    kinds = [resource["type"] for resource in run.resources]
    cloud = [index for index, kind in enumerate(kinds) if kind.split(":")[0] not in ("pulumi", "pulumi-dra")]
    providers = [index for index, kind in enumerate(kinds) if kind.startswith("pulumi:providers:")]
    assert kinds.index("pulumi-dra:index:CapacityPlan") < min(cloud + providers)


def test_everything_of_a_cloud_waits_for_the_record(run: Run) -> None:
    record = next(r["urn"] for r in run.resources if r["type"] == "pulumi-dra:index:CapacityPlan")
    without = [
        resource["urn"]
        for resource in run.resources
        if resource.get("custom")
        and not resource["type"].startswith("pulumi:providers:aws")
        and resource["type"] != "pulumi:pulumi:Stack"
        and record not in resource.get("dependencies", [])
    ]
    assert without == []


def test_the_graph_is_the_one_that_was_reviewed(run: Run, check_graph: Callable[..., None]) -> None:
    check_graph("eks-dev", run.resources)


def test_a_second_up_would_change_nothing(run: Run) -> None:
    assert run.again.ok
    assert set(run.again.change_counts) == {"same"}


def test_new_sizes_a_new_driver_and_new_labels_replace_nothing(run: Run) -> None:
    assert run.resized.ok, run.resized.output
    assert run.resized_steps == {
        "dra-plan": "update",
        "dra-l4-nodes": "update",
        "dra-h100-nodes": "update",
        "dra-driver-release": "update",
    }
    inputs = {resource["urn"].rpartition("::")[2]: resource.get("inputs") or {} for resource in run.resized_resources}
    assert inputs["dra-l4-nodes"]["scalingConfig"]["desiredSize"] == 3
    assert inputs["dra-h100-nodes"]["scalingConfig"]["desiredSize"] == 0
    assert inputs["dra-h100-nodes"]["labels"]["example.com/team"] == "vision"
    assert inputs["dra-driver-release"]["version"] == "25.12.0"


def test_a_zone_more_only_adds(run: Run) -> None:
    assert run.grown.ok, run.grown.output
    operations = {step.op for step in run.grown.steps if step.op not in ("same", "read")}
    assert operations == {"create", "update"}
    assert {step.name for step in run.grown.steps if step.op == "update"} == {"dra-plan", "dra-cluster-network-s3"}


def test_a_network_of_ones_own_replaces_the_cluster_and_says_so(run: Run) -> None:
    assert run.moved.ok, run.moved.output
    replaced = {step.name for step in run.moved.steps if "replace" in step.op}
    assert {"dra-cluster-cluster", "dra-cluster-system", "dra-l4-nodes", "dra-h100-nodes"} <= replaced


def test_another_machine_and_another_zone_replace_those_pools_alone_and_say_so(run: Run) -> None:
    replaced = {step.name for step in run.remachined.steps if "replace" in step.op}
    assert replaced == {"dra-l4-nodes", "dra-h100-nodes"}


def test_destroy_leaves_nothing(run: Run) -> None:
    assert run.destroyed.ok
    assert run.left == []


def test_releases_go_before_nodes_and_nodes_before_the_cluster(run: Run) -> None:
    gone = [(step.type.rpartition(":")[2], step.name) for step in run.destroyed.steps if step.op == "delete"]
    last_release = max(index for index, (kind, _) in enumerate(gone) if kind == "Release")
    nodes = [index for index, (kind, _) in enumerate(gone) if kind == "NodeGroup"]
    cluster, network = gone.index(("Cluster", "dra-cluster-cluster")), gone.index(("Vpc", "dra-cluster-network-vpc"))
    assert last_release < gone.index(("NodeGroup", "dra-l4-nodes"))
    assert last_release < gone.index(("NodeGroup", "dra-h100-nodes"))
    assert max(nodes) < cluster < network


def test_the_kubeconfig_is_secret_and_holds_no_token(run: Run) -> None:
    stack = next(resource for resource in run.resources if resource["type"] == "pulumi:pulumi:Stack")
    assert "ciphertext" in stack["outputs"]["kubeconfig"]
    assert "get-token" in run.outputs["kubeconfig"]
    assert '"token"' not in run.outputs["kubeconfig"]

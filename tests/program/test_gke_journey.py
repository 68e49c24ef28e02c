"""The stack gke-dev through the real engine, from nothing to nothing, on a simulated cloud."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("gke")]


@dataclass(frozen=True)
class Run:
    """What each step of the journey said."""

    resources: list[dict[str, Any]]
    again: Any
    resized: Any
    resized_steps: dict[str, str]
    moved: Any
    spotted: Any
    destroyed: Any
    left: list[dict[str, Any]]


def _other_driver_and_labels(fleet: dict[str, Any]) -> None:
    fleet["drivers"]["nvidia"]["version"] = "25.12.0"
    for pool in fleet["pools"]:
        pool["labels"] = {"example.com/team": "vision"}


def _spot(fleet: dict[str, Any]) -> None:
    fleet["pools"][0]["capacity"] = "spot"


def _move(fleet: dict[str, Any]) -> None:
    fleet["region"] = "europe-west4"
    fleet["network"]["zones"] = fleet["pools"][1]["zones"] = ["europe-west4-b"]


@pytest.fixture(scope="module")
def run(journey: Callable[[str], Any]) -> Run:
    stack = journey("gke-dev")
    engine = stack.engine
    first = engine.up("gke-dev", skip_preview=True)
    assert first.ok, first.output
    resources = engine.resources("gke-dev")
    again = engine.preview("gke-dev")
    stack.write(nodes={"l4": 3, "h100": 0}, change=_other_driver_and_labels)
    resized = engine.up("gke-dev", skip_preview=True)
    stack.write(nodes={"l4": 3, "h100": 0}, change=_spot)
    spotted = engine.preview("gke-dev")
    stack.config["gcp:region"] = "europe-west4"
    stack.write(nodes={"l4": 3, "h100": 0}, change=_move)
    moved = engine.preview("gke-dev")
    destroyed = engine.destroy("gke-dev")
    left = engine.resources("gke-dev")
    return Run(resources, again, resized, stack.changed(resized), moved, spotted, destroyed, left)


def test_everything_of_a_cloud_waits_for_the_record(run: Run) -> None:
    kinds = [resource["type"] for resource in run.resources]
    record = next(r["urn"] for r in run.resources if r["type"] == "pulumi-dra:index:CapacityPlan")
    others = [index for index, kind in enumerate(kinds) if kind.split(":")[0] in ("gcp", "kubernetes")]
    assert kinds.index("pulumi-dra:index:CapacityPlan") < min(others)
    assert all(record in run.resources[index]["dependencies"] for index in others)


def test_the_graph_is_the_one_that_was_reviewed(run: Run, check_graph: Callable[..., None]) -> None:
    check_graph("gke-dev", run.resources)


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


def test_a_pool_that_becomes_spot_is_replaced_alone_and_says_so(run: Run) -> None:
    assert run.spotted.ok, run.spotted.output
    assert {step.name for step in run.spotted.steps if "replace" in step.op} == {"dra-l4-nodes"}


def test_another_region_replaces_cluster_and_pools_and_says_so(run: Run) -> None:
    assert run.moved.ok, run.moved.output
    replaced = {step.name for step in run.moved.steps if "replace" in step.op}
    assert {"dra-cluster-cluster", "dra-l4-nodes", "dra-h100-nodes"} <= replaced


def test_the_driver_is_installed_and_may_run_on_every_node(run: Run) -> None:
    inputs = {resource["urn"].rpartition("::")[2]: resource.get("inputs") or {} for resource in run.resources}
    assert inputs["dra-driver-critical-pods"]["spec"]["hard"]["pods"] == "12"  # 4 + 8 nodes, no controller
    assert "dra-driver-installer-installer" in inputs
    release = inputs["dra-driver-release"]
    assert release["values"]["nvidiaDriverRoot"] == "/home/kubernetes/bin/nvidia"


def test_destroy_leaves_nothing(run: Run) -> None:
    assert run.destroyed.ok
    assert run.left == []


def test_releases_go_before_nodes_and_nodes_before_the_cluster(run: Run) -> None:
    gone = [(step.type.rpartition(":")[2], step.name) for step in run.destroyed.steps if step.op == "delete"]
    in_cluster = [index for index, (kind, _) in enumerate(gone) if kind in ("Release", "DaemonSet")]
    pools = [gone.index(("NodePool", f"dra-{name}-nodes")) for name in ("l4", "h100")]
    nodes = [index for index, (kind, _) in enumerate(gone) if kind == "NodePool"]
    cluster, network = (
        gone.index(("Cluster", "dra-cluster-cluster")),
        gone.index(("Network", "dra-cluster-network-network")),
    )
    assert max(in_cluster) < min(pools)
    assert max(nodes) < cluster < network

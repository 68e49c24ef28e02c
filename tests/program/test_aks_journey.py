"""The stack aks-dev through the real engine, from nothing to nothing, on a simulated cloud."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("aks")]


@dataclass(frozen=True)
class Run:
    """What each step of the journey said."""

    resources: list[dict[str, Any]]
    again: Any
    resized: Any
    resized_steps: dict[str, str]
    spotted: Any
    destroyed: Any
    left: list[dict[str, Any]]


def _other_driver_and_labels(fleet: dict[str, Any]) -> None:
    fleet["drivers"]["nvidia"]["version"] = "25.12.0"
    for pool in fleet["pools"]:
        pool["labels"] = {"example.com/team": "vision"}


def _spot(fleet: dict[str, Any]) -> None:
    fleet["pools"][0]["capacity"] = "spot"


@pytest.fixture(scope="module")
def run(journey: Callable[[str], Any]) -> Run:
    stack = journey("aks-dev")
    engine = stack.engine
    first = engine.up("aks-dev", skip_preview=True)
    assert first.ok, first.output
    resources = engine.resources("aks-dev")
    again = engine.preview("aks-dev")
    stack.write(nodes={"t4": 3, "a100": 0}, change=_other_driver_and_labels)
    resized = engine.up("aks-dev", skip_preview=True)
    stack.write(nodes={"t4": 3, "a100": 0}, change=_spot)
    spotted = engine.preview("aks-dev")
    destroyed = engine.destroy("aks-dev")
    left = engine.resources("aks-dev")
    return Run(resources, again, resized, stack.changed(resized), spotted, destroyed, left)


def test_everything_of_a_cloud_waits_for_the_record(run: Run) -> None:
    kinds = [resource["type"] for resource in run.resources]
    record = next(r["urn"] for r in run.resources if r["type"] == "pulumi-dra:index:CapacityPlan")
    others = [index for index, kind in enumerate(kinds) if kind.split(":")[0] in ("azure-native", "kubernetes")]
    assert kinds.index("pulumi-dra:index:CapacityPlan") < min(others)
    assert all(record in run.resources[index]["dependencies"] for index in others)


def test_the_graph_is_the_one_that_was_reviewed(run: Run, check_graph: Callable[..., None]) -> None:
    check_graph("aks-dev", run.resources)


def test_a_second_up_would_change_nothing(run: Run) -> None:
    assert run.again.ok
    assert set(run.again.change_counts) == {"same"}


def test_new_sizes_a_new_driver_and_new_labels_replace_nothing(run: Run) -> None:
    assert run.resized.ok, run.resized.output
    assert run.resized_steps == {
        "dra-plan": "update",
        "dra-t4-nodes": "update",
        "dra-a100-nodes": "update",
        "dra-driver-release": "update",
    }


def test_a_pool_that_becomes_spot_is_replaced_alone_and_says_so(run: Run) -> None:
    """Azure would refuse the change; the name of a pool is fixed, so the old one goes first."""
    assert run.spotted.ok, run.spotted.output
    assert {step.name for step in run.spotted.steps if "replace" in step.op} == {"dra-t4-nodes"}


def test_the_driver_finds_the_one_of_the_node_image(run: Run) -> None:
    inputs = {resource["urn"].rpartition("::")[2]: resource.get("inputs") or {} for resource in run.resources}
    assert inputs["dra-driver-release"]["values"]["nvidiaDriverRoot"] == "/"
    assert not any("installer" in name for name in inputs)


def test_releases_go_before_nodes_and_nodes_before_the_cluster(run: Run) -> None:
    assert run.destroyed.ok
    assert run.left == []
    gone = [(step.type.rpartition(":")[2], step.name) for step in run.destroyed.steps if step.op == "delete"]
    releases = [index for index, (kind, _) in enumerate(gone) if kind == "Release"]
    pools = [index for index, (kind, _) in enumerate(gone) if kind == "AgentPool"]
    cluster, subnet = (
        gone.index(("ManagedCluster", "dra-cluster-cluster")),
        gone.index(("Subnet", "dra-cluster-network-nodes")),
    )
    assert len(pools) == 2
    assert max(releases) < min(pools)
    assert max(pools) < cluster < subnet

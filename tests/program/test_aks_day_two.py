"""A platform on AKS that is lived with: grown, upgraded, moved, without one of its zones; what is replaced is named."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dra_sandbox.clouds.azure_native.zones_lost import LOST_ZONE

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("aks")]

CLUSTER, POOL = "azure-native:containerservice:ManagedCluster", "azure-native:containerservice:AgentPool"
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def stack(journey: Callable[[str], Any]) -> Any:
    """The stack aks-dev after its first `up`: t4 over two zones, a100 in the one that is lost later."""
    stack = journey("aks-dev")

    def in_zones(fleet: dict[str, Any]) -> None:
        fleet["kubernetes"] = "1.34"
        fleet["pools"][0]["zones"], fleet["pools"][1]["zones"] = ["eastus-1", "eastus-2"], ["eastus-1"]

    stack.write(nodes={"t4": 1, "a100": 1}, change=in_zones)
    done = stack.engine.up(stack.stack, skip_preview=True)
    assert done.ok, done.output
    return stack


def changed(stack: Any, counts: Mapping[str, int], change: Change | None = None) -> dict[str, str]:
    """Return what `up` changed beside the record; it must succeed."""
    stack.write(nodes=counts, change=change)
    done = stack.engine.up(stack.stack, skip_preview=True)
    assert done.ok, done.output
    steps: dict[str, str] = stack.changed(done)
    steps.pop("dra-plan", None)
    return steps


def pool(stack: Any, name: str) -> dict[str, Any]:
    """Return a pool as the cloud has it."""
    found: dict[str, Any] = next(
        each for each in stack.engine.cloud.all(POOL).values() if each["nodeLabels"]["pulumi-dra/pool"] == name
    )
    return found


def test_a_minor_is_upgraded_and_replaces_nothing(stack: Any) -> None:
    steps = changed(stack, {"t4": 1, "a100": 1}, lambda fleet: fleet.update(kubernetes="1.35"))
    assert {"dra-cluster-cluster", "dra-t4-nodes", "dra-a100-nodes"} <= steps.keys()
    assert set(steps.values()) == {"update"}, steps
    (cluster,) = stack.engine.cloud.all(CLUSTER).values()
    assert cluster["currentKubernetesVersion"].startswith("1.35.")
    assert pool(stack, "t4")["currentOrchestratorVersion"].startswith("1.35.")


def test_in_a_lost_zone_a_pool_cannot_grow_and_one_over_two_zones_can(stack: Any) -> None:
    stack.engine.cloud.put(LOST_ZONE, "1", {})
    stack.write(nodes={"t4": 1, "a100": 2})
    refused = stack.engine.up(stack.stack, skip_preview=True)
    assert not refused.ok
    assert "ZonalAllocationFailed" in refused.output
    assert "Standard_NC48ads_A100_v4, zone 1" in refused.output
    assert changed(stack, {"t4": 3, "a100": 1}) == {"dra-t4-nodes": "update"}


def test_another_zone_and_another_machine_replace_their_pools_alone(stack: Any) -> None:
    def move(fleet: dict[str, Any]) -> None:
        fleet["pools"][0]["machine"] = "Standard_NC16as_T4_v3"
        fleet["pools"][1]["zones"] = ["eastus-2"]

    steps = changed(stack, {"t4": 3, "a100": 2}, move)
    # What each pool saw last: its name is fixed, so the old one is gone before the new one is made.
    assert steps == {"dra-t4-nodes": "create-replacement", "dra-a100-nodes": "create-replacement"}
    assert (pool(stack, "a100")["availabilityZones"], pool(stack, "a100")["count"]) == (["2"], 2)


def test_another_region_replaces_everything_and_says_so(stack: Any) -> None:
    def move(fleet: dict[str, Any]) -> None:
        fleet["region"] = "westus2"
        fleet["pools"][0]["zones"], fleet["pools"][1]["zones"] = [], ["westus2-2"]

    stack.config["azure-native:location"] = "westus2"
    stack.write(nodes={"t4": 3, "a100": 2}, change=move)
    seen = stack.engine.preview(stack.stack)
    assert seen.ok, seen.output
    replaced = {step.name for step in seen.steps if "replace" in step.op}
    assert {"dra-cluster-cluster", "dra-cluster-group", "dra-t4-nodes", "dra-a100-nodes"} <= replaced


def test_nothing_is_left_in_the_cloud(stack: Any) -> None:
    destroyed = stack.engine.destroy(stack.stack)
    assert destroyed.ok, destroyed.output
    assert stack.engine.cloud.all(POOL) == stack.engine.cloud.all(CLUSTER) == {}

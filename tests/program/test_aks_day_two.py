"""Day-two operations of a platform on AKS: growth, upgrades, moves, and the loss of a zone, with
the resources that each one replaces.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dra_sandbox.clouds.azure_native.deletions import BALANCER, DISK, INTERFACE, LOCK
from dra_sandbox.clouds.azure_native.lost_zones import LOST_ZONE
from dra_sandbox.clouds.azure_native.operations import NODES

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("aks")]

SUBNET = "azure-native:network:Subnet"
CLUSTER, POOL = (
    "azure-native:containerservice:ManagedCluster",
    "azure-native:containerservice:AgentPool",
)
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def stack(journey: Callable[[str], Any]) -> Any:
    """Return the protected stack aks-dev after its first `up`: t4 is in two zones, and a100 in the
    zone that is lost later.
    """
    stack = journey("aks-dev")
    stack.config["pulumi-dra:platform"] = {"deletionProtection": True}

    def in_zones(fleet: dict[str, Any]) -> None:
        fleet["kubernetes"] = "1.34"
        fleet["pools"][0]["zones"], fleet["pools"][1]["zones"] = (
            ["eastus-1", "eastus-2"],
            ["eastus-1"],
        )

    stack.write(nodes={"t4": 1, "a100": 1}, change=in_zones)
    done = stack.engine.up(stack.stack, skip_preview=True)
    assert done.ok, done.output
    return stack


def changed(stack: Any, counts: Mapping[str, int], change: Change | None = None) -> dict[str, str]:
    """Run `up`, which must succeed, and return its changes apart from the record."""
    stack.write(nodes=counts, change=change)
    done = stack.engine.up(stack.stack, skip_preview=True)
    assert done.ok, done.output
    steps: dict[str, str] = stack.changed(done)
    steps.pop("dra-plan", None)
    return steps


def pool(stack: Any, name: str) -> dict[str, Any]:
    """Return a pool's properties in the cloud."""
    found: dict[str, Any] = next(
        each
        for each in stack.engine.cloud.all(POOL).values()
        if each["nodeLabels"]["pulumi-dra/pool"] == name
    )
    return found


def test_pool_grows_and_shrinks_with_its_plan(stack: Any) -> None:
    for wanted in (3, 1):
        assert changed(stack, {"t4": wanted, "a100": 1}) == {"dra-t4-nodes": "update"}
        assert pool(stack, "t4")["count"] == wanted


def test_driver_update_does_not_change_the_nodes(stack: Any) -> None:
    steps = changed(
        stack,
        {"t4": 1, "a100": 1},
        lambda fleet: fleet["drivers"]["nvidia"].update(version="25.12.0"),
    )
    assert steps["dra-driver-release"] == "update"
    assert not {name for name in steps if name.endswith(("-nodes", "-cluster"))}, steps


def test_minor_versions_are_upgraded_in_sequence_without_replacement(stack: Any) -> None:
    for minor in ("1.35", "1.36"):
        steps = changed(
            stack, {"t4": 1, "a100": 1}, lambda fleet, minor=minor: fleet.update(kubernetes=minor)
        )
        assert {"dra-cluster-cluster", "dra-t4-nodes", "dra-a100-nodes"} <= steps.keys()
        assert set(steps.values()) == {"update"}, steps
        (cluster,) = stack.engine.cloud.all(CLUSTER).values()
        assert cluster["currentKubernetesVersion"].startswith(f"{minor}.")
        assert pool(stack, "t4")["currentOrchestratorVersion"].startswith(f"{minor}.")
    (system,) = stack.engine.cloud.all(NODES).values()
    assert system["currentOrchestratorVersion"].startswith("1.34."), (
        "AKS upgrades those by a command (upgrades.md)"
    )


def test_in_a_lost_zone_only_a_pool_with_two_zones_can_grow(stack: Any) -> None:
    stack.engine.cloud.put(LOST_ZONE, "1", {})
    stack.write(nodes={"t4": 1, "a100": 2})
    refused = stack.engine.up(stack.stack, skip_preview=True)
    assert not refused.ok
    assert "ZonalAllocationFailed" in refused.output
    assert "Standard_NC48ads_A100_v4, zone 1" in refused.output
    assert changed(stack, {"t4": 3, "a100": 1}) == {"dra-t4-nodes": "update"}


def test_new_zone_or_machine_replaces_only_its_pool(stack: Any) -> None:
    def move(fleet: dict[str, Any]) -> None:
        fleet["pools"][0]["machine"] = "Standard_NC16as_T4_v3"
        fleet["pools"][1]["zones"] = ["eastus-2"]

    steps = changed(stack, {"t4": 3, "a100": 2}, move)
    # The last operation on each pool: names are fixed, so the old pool is deleted before the new
    # one is created.
    assert steps == {"dra-t4-nodes": "create-replacement", "dra-a100-nodes": "create-replacement"}
    assert (pool(stack, "a100")["availabilityZones"], pool(stack, "a100")["count"]) == (["2"], 2)


def test_destroy_of_a_protected_cluster_deletes_nothing(stack: Any) -> None:
    def there() -> set[tuple[str, str]]:
        return {(each["urn"], each.get("id", "")) for each in stack.engine.resources(stack.stack)}

    before = there()
    refused = stack.engine.destroy(stack.stack, skip_preview=False)
    assert not refused.ok
    assert "dra-cluster-cluster" in refused.output
    assert "protect" in refused.output
    assert there() == before
    stack.config["pulumi-dra:platform"] = {}
    assert changed(stack, {"t4": 3, "a100": 2}) == {}, "only the state knows of it"


def autoscaled(stack: Any, name: str, count: int) -> None:
    """Change the count in the cloud, as an autoscaler does without the engine."""
    (identifier,) = (each for each in stack.engine.cloud.all(POOL) if each.endswith(f"/{name}"))
    stack.engine.cloud.put(POOL, identifier, {**pool(stack, name), "count": count})


def test_autoscaler_added_later_replaces_nothing_and_keeps_its_nodes(stack: Any) -> None:
    steps = changed(
        stack, {"t4": 3, "a100": 2}, lambda fleet: fleet.update(autoscaler="cluster-autoscaler")
    )
    assert (steps["dra-t4-nodes"], steps["dra-a100-nodes"]) == ("update", "update")
    assert set(steps.values()) == {"update"}, steps
    autoscaled(stack, "t4", 4)

    def labelled(fleet: dict[str, Any]) -> None:
        fleet["pools"][0]["labels"] = {"team": "vision"}

    assert changed(stack, {"t4": 3, "a100": 2}, labelled) == {"dra-t4-nodes": "update"}
    assert (pool(stack, "t4")["count"], pool(stack, "t4")["nodeLabels"]["team"]) == (4, "vision")


def test_growing_plan_is_built_with_an_autoscaler(stack: Any) -> None:
    autoscaled(stack, "a100", 0)

    def at_least_three(fleet: dict[str, Any]) -> None:
        fleet["pools"][1]["count"] = {"min": 3, "max": 4}

    assert changed(stack, {"t4": 3, "a100": 3}, at_least_three) == {"dra-a100-nodes": "update"}
    assert (pool(stack, "a100")["count"], pool(stack, "a100")["minCount"]) == (3, 3)
    assert pool(stack, "t4")["count"] == 4


def test_preview_shows_that_another_region_replaces_everything(stack: Any) -> None:
    def move(fleet: dict[str, Any]) -> None:
        fleet["region"] = "westus2"
        fleet["pools"][0]["zones"], fleet["pools"][1]["zones"] = [], ["westus2-2"]

    def elsewhere(config: dict[str, Any]) -> None:
        config["azure-native:location"] = "westus2"
        move(config["pulumi-dra:fleet"])

    seen = stack.preview_of(elsewhere, nodes={"t4": 3, "a100": 3})
    assert seen.ok, seen.output
    replaced = {step.name for step in seen.steps if "replace" in step.op}
    assert {
        "dra-cluster-cluster",
        "dra-cluster-group",
        "dra-t4-nodes",
        "dra-a100-nodes",
    } <= replaced


def test_tenant_resources_block_destroy_until_they_are_deleted(stack: Any) -> None:
    """A lock and a network interface of tenants; resources that the cluster itself created are
    deleted with it.
    """
    cloud = stack.engine.cloud
    (cluster_id,), (cluster,), (subnet,) = (
        cloud.all(CLUSTER),
        cloud.all(CLUSTER).values(),
        cloud.all(SUBNET),
    )
    nodes = f"{cluster_id.partition('/resourcegroups/')[0]}/resourceGroups/{cluster['nodeResourceGroup']}/providers"
    cloud.put(
        BALANCER, f"{nodes}/Microsoft.Network/loadBalancers/kubernetes-internal", {"subnet": subnet}
    )
    cloud.put(DISK, f"{nodes}/Microsoft.Compute/disks/pvc-1", {})
    theirs = "/subscriptions/s/resourceGroups/theirs/providers"
    cloud.put(DISK, f"{theirs}/Microsoft.Compute/disks/pvc-2", {})
    left = {
        (LOCK, f"{cluster_id}/providers/Microsoft.Authorization/locks/keep"): (
            {},
            "following scope(s) are locked",
        ),
        (INTERFACE, f"{theirs}/Microsoft.Network/networkInterfaces/nic"): (
            {"subnet": subnet},
            "is in use by",
        ),
    }
    for (token, identifier), (properties, _) in left.items():
        cloud.put(token, identifier, properties)
    for (token, identifier), (_, message) in left.items():
        stopped = stack.engine.destroy(stack.stack)
        assert not stopped.ok
        assert message in stopped.output
        cloud.drop(token, identifier)
    assert cloud.all(BALANCER) == cloud.all(POOL) == cloud.all(CLUSTER) == {}
    destroyed = stack.engine.destroy(stack.stack)
    assert destroyed.ok, destroyed.output
    assert stack.engine.resources(stack.stack) == []
    assert list(cloud.all(DISK)) == [f"{theirs}/Microsoft.Compute/disks/pvc-2"]

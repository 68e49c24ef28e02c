"""Day-two operations of a platform on GKE: growth, upgrades, and the loss of a zone, with the
resources that each one replaces.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dra_sandbox.clouds.gcp.lost_zones import LOST_ZONE

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("gke")]

POOL, CLUSTER = "gcp:container/nodePool:NodePool", "gcp:container/cluster:Cluster"
NETWORK, FIREWALL = "gcp:compute/network:Network", "gcp:compute/firewall:Firewall"
ENDPOINTS, DISK = "gcp:compute/networkEndpointGroup:NetworkEndpointGroup", "gcp:compute/disk:Disk"
LOST, LEFT = "us-central1-a", "us-central1-b"


@pytest.fixture(scope="module")
def stack(journey: Callable[[str], Any]) -> Any:
    """Return the stack gke-dev after its first `up`: l4 is in two zones, and h100 in the zone that
    is lost later.
    """
    stack = journey("gke-dev")

    def two_zones(fleet: dict[str, Any]) -> None:
        fleet["kubernetes"], fleet["network"] = "1.34", {"zones": [LOST, LEFT]}

    stack.write(nodes={"l4": 2, "h100": 1}, change=two_zones)
    stack.up()
    return stack


def pool(stack: Any, name: str) -> dict[str, Any]:
    """Return a pool's properties in the cloud."""
    pools = stack.engine.cloud.all(POOL).values()
    found: dict[str, Any] = next(
        each for each in pools if each["nodeConfig"]["labels"].get("pulumi-dra/pool") == name
    )
    return found


def nodes(stack: Any, name: str) -> tuple[int, set[str]]:
    """Return how many nodes a pool has in each zone, and its zones."""
    found = pool(stack, name)
    return found["nodeCount"], set(found["nodeLocations"])


def changed(
    stack: Any, counts: Mapping[str, int], change: Callable[[dict[str, Any]], None] | None = None
) -> Any:
    """Run `up`, and return its changes apart from the record."""
    stack.write(nodes=counts, change=change)
    steps = stack.up()
    steps.pop("dra-plan", None)
    return steps


def refused(
    stack: Any, counts: Mapping[str, int], change: Callable[[dict[str, Any]], None] | None = None
) -> str:
    stack.write(nodes=counts, change=change)
    done = stack.engine.up(stack.stack, skip_preview=True)
    assert not done.ok
    output: str = done.output
    return output


def in_zones(name: str, *zones: str) -> Callable[[dict[str, Any]], None]:
    return lambda fleet: next(each for each in fleet["pools"] if each["name"] == name).update(
        zones=list(zones)
    )


def test_pool_grows_and_shrinks_with_its_plan(stack: Any) -> None:
    assert changed(stack, {"l4": 4, "h100": 1}) == {"dra-l4-nodes": "update"}
    assert nodes(stack, "l4") == (2, {LOST, LEFT})
    assert changed(stack, {"l4": 2, "h100": 1}) == {"dra-l4-nodes": "update"}
    assert nodes(stack, "l4") == (1, {LOST, LEFT})


def test_minor_versions_are_upgraded_in_sequence_without_replacement(stack: Any) -> None:
    for minor in ("1.35", "1.36"):
        steps = changed(
            stack, {"l4": 2, "h100": 1}, lambda fleet, minor=minor: fleet.update(kubernetes=minor)
        )
        assert steps.pop("dra-cluster-cluster") == "update"
        assert set(steps.values()) <= {"update"}, steps
        assert not {name for name in steps if name.endswith("-nodes")}, "pools follow by themselves"
        (cluster,) = stack.engine.cloud.all(CLUSTER).values()
        assert cluster["masterVersion"].startswith(f"{minor}.")


def test_machine_changes_in_place_and_spot_replaces_only_its_pool(stack: Any) -> None:
    def other_machine(fleet: dict[str, Any]) -> None:
        fleet["pools"][0]["machine"] = "g2-standard-12"

    def spot(fleet: dict[str, Any]) -> None:
        fleet["pools"][0]["capacity"] = "spot"

    assert changed(stack, {"l4": 2, "h100": 1}, other_machine) == {"dra-l4-nodes": "update"}
    (steps,) = {changed(stack, {"l4": 2, "h100": 1}, spot)["dra-l4-nodes"]}
    assert steps in {"replace", "create-replacement", "delete-replaced"}
    assert pool(stack, "l4")["nodeConfig"]["spot"] is True


def test_existing_nodes_are_unchanged_when_a_zone_is_lost(stack: Any) -> None:
    stack.engine.cloud.put(LOST_ZONE, LOST, {})
    assert changed(stack, {"l4": 2, "h100": 1}) == {}


def test_pool_in_the_lost_zone_cannot_grow_and_prints_the_clouds_error(stack: Any) -> None:
    error = refused(stack, {"l4": 2, "h100": 2})
    assert "[GCE_STOCKOUT]" in error
    assert (
        f"The zone 'projects/my-project/zones/{LOST}' does not have enough resources available"
        in error
    )
    assert nodes(stack, "h100") == (1, {LOST})


def test_pool_with_a_node_count_per_zone_cannot_grow_either(stack: Any) -> None:
    assert "[GCE_STOCKOUT]" in refused(stack, {"l4": 4, "h100": 1})
    assert nodes(stack, "l4") == (1, {LOST, LEFT})


def test_pool_moves_to_another_zone_only_before_it_grows(
    stack: Any,
) -> None:
    assert "[GCE_STOCKOUT]" in refused(stack, {"l4": 2, "h100": 2}, in_zones("h100", LEFT))
    assert changed(stack, {"l4": 2, "h100": 1}) == {"dra-h100-nodes": "update"}
    assert changed(stack, {"l4": 2, "h100": 2}) == {"dra-h100-nodes": "update"}
    assert nodes(stack, "h100") == (2, {LEFT})
    assert changed(stack, {"l4": 1, "h100": 2}, in_zones("l4", LEFT)) == {"dra-l4-nodes": "update"}
    assert nodes(stack, "l4") == (1, {LEFT})


def test_autoscaler_added_later_replaces_nothing_despite_the_lost_zone(
    stack: Any,
) -> None:
    def scaled(fleet: dict[str, Any]) -> None:
        fleet["autoscaler"] = "gke"
        in_zones("l4", LOST, LEFT)(fleet)

    steps = changed(stack, {"l4": 1, "h100": 2}, scaled)
    assert {steps["dra-l4-nodes"], steps["dra-h100-nodes"]} == {"update"}
    assert set(steps.values()) == {"update"}, steps
    assert changed(stack, {"l4": 3, "h100": 2}) == {}, "a greater plan is the autoscaler's to build"

    def at_least_three(fleet: dict[str, Any]) -> None:
        fleet["pools"][0]["count"] = {"min": 3, "max": 4}

    assert changed(stack, {"l4": 3, "h100": 2}, at_least_three) == {"dra-l4-nodes": "update"}
    assert pool(stack, "l4")["autoscaling"]["totalMinNodeCount"] == 3


def test_recovered_zone_causes_no_changes(stack: Any) -> None:
    stack.engine.cloud.drop(LOST_ZONE, LOST)
    assert changed(stack, {"l4": 3, "h100": 2}) == {}


def test_tenant_resources_block_destroy_until_they_are_deleted(stack: Any) -> None:
    """The load balancer of a Service and the endpoints of an Ingress block the deletion of the
    network; a disk remains and costs money.
    """
    cloud = stack.engine.cloud
    (network,) = cloud.all(NETWORK)
    endpoints = "projects/my-project/zones/us-central1-b/networkEndpointGroups/k8s1-ingress"
    rule = "projects/my-project/global/firewalls/k8s-0a1b-node-http-hc"
    cloud.put(
        FIREWALL,
        rule,
        {"network": network, "project": "my-project", "name": "k8s-0a1b-node-http-hc"},
    )
    cloud.put(ENDPOINTS, endpoints, {"network": network, "name": "k8s1-ingress"})
    cloud.put(DISK, "projects/my-project/zones/us-central1-b/disks/pvc-1", {"name": "pvc-1"})
    for token, left in ((FIREWALL, rule), (ENDPOINTS, endpoints)):
        stopped = stack.engine.destroy(stack.stack)
        assert not stopped.ok
        assert f"is already being used by '{left}'" in stopped.output
        assert cloud.all(POOL) == cloud.all(CLUSTER) == {}
        cloud.drop(token, left)
    destroyed = stack.engine.destroy(stack.stack)
    assert destroyed.ok, destroyed.output
    assert stack.engine.resources(stack.stack) == []
    assert cloud.all(NETWORK) == {}
    assert list(cloud.all(DISK)) == ["projects/my-project/zones/us-central1-b/disks/pvc-1"]

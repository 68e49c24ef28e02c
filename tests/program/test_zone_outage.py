"""A zone has no capacity: which operations still work, which errors occur, and how a pool moves to
another zone.
"""

from collections.abc import Callable
from typing import Any

import pytest

from dra_sandbox.clouds.aws.lost_zones import LOST_ZONE

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("eks")]

NODE_GROUP, SUBNET = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/subnet:Subnet"
LOST, LEFT = "us-east-1a", "us-east-1b"


@pytest.fixture(scope="module")
def stack(journey: Callable[[str], Any]) -> Any:
    """Return the stack eks-dev after its first `up`: l4 is in both zones, and h100 in the zone that
    is lost later.
    """
    stack = journey("eks-dev")
    stack.write(nodes={"l4": 1, "h100": 1})
    done = stack.engine.up(stack.stack, skip_preview=True)
    assert done.ok, done.output
    stack.engine.cloud.put(LOST_ZONE, LOST, {})
    return stack


def nodes(stack: Any, pool: str) -> tuple[int, set[str]]:
    """Return how many nodes a pool has, and the zones that it can use."""
    groups = stack.engine.cloud.all(NODE_GROUP).values()
    group = next(each for each in groups if each["labels"]["pulumi-dra/pool"] == pool)
    subnets = stack.engine.cloud.all(SUBNET)
    zones = {subnets[each]["availabilityZone"] for each in group["subnetIds"]}
    return group["scalingConfig"]["desiredSize"], zones


def test_existing_nodes_are_unchanged_when_a_zone_is_lost(stack: Any) -> None:
    assert stack.up() == {}


def test_pool_in_the_lost_zone_cannot_grow_and_prints_the_clouds_error(stack: Any) -> None:
    stack.write(nodes={"l4": 1, "h100": 2})
    done = stack.engine.up(stack.stack, skip_preview=True)
    assert not done.ok
    assert (
        f"not have sufficient p5.48xlarge capacity in the Availability Zone you requested ({LOST})"
        in done.output
    )
    assert nodes(stack, "h100") == (1, {LOST})


def test_new_zone_replaces_only_its_pool_while_another_pool_grows(stack: Any) -> None:
    stack.write(
        nodes={"l4": 3, "h100": 2},
        change=lambda fleet: next(each for each in fleet["pools"] if each["name"] == "h100").update(
            zones=[LEFT]
        ),
    )
    changed = stack.up()
    assert changed.pop("dra-h100-nodes") == "delete-replaced"
    assert changed == {"dra-plan": "update", "dra-l4-nodes": "update"}
    assert nodes(stack, "h100") == (2, {LEFT})
    assert nodes(stack, "l4") == (3, {LOST, LEFT})


def test_new_pool_needs_the_remaining_zone(stack: Any) -> None:
    pool = {"name": "new", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}}
    stack.write(
        nodes={"l4": 3, "h100": 2, "new": 1}, change=lambda fleet: fleet["pools"].append(pool)
    )
    refused = stack.engine.up(stack.stack, skip_preview=True)
    assert not refused.ok
    assert f"or choosing {LEFT}" in refused.output
    stack.write(
        nodes={"l4": 3, "h100": 2, "new": 1},
        change=lambda fleet: fleet["pools"][-1].update(zones=[LEFT]),
    )
    stack.up()
    assert nodes(stack, "new") == (1, {LEFT})


def test_recovered_zone_causes_no_changes(stack: Any) -> None:
    stack.engine.cloud.drop(LOST_ZONE, LOST)
    assert stack.up() == {}
    destroyed = stack.engine.destroy(stack.stack)
    assert destroyed.ok, destroyed.output

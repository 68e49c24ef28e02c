"""A platform on EKS whose pools Karpenter manages: created, scaled up, and destroyed while
Karpenter runs.
"""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("eks")]

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"


@pytest.fixture(scope="module")
def stack(journey: Callable[[str], Any]) -> Any:
    """Return the stack eks-dev, with one pool in one zone that Karpenter manages, after its first
    `up`.
    """
    stack = journey("eks-dev")

    def with_karpenter(fleet: dict[str, Any]) -> None:
        fleet["autoscaler"], fleet["pools"] = "karpenter", fleet["pools"][:1]
        fleet["pools"][0] |= {"zones": ["us-east-1a"], "count": {"min": 0, "max": 4}}

    stack.write(nodes=2, change=with_karpenter)
    up(stack)
    return stack


def up(stack: Any) -> dict[str, str]:
    """Run `up`, which must succeed, and return its changes."""
    done = stack.engine.up(stack.stack, skip_preview=True)
    assert done.ok, done.output
    changed: dict[str, str] = stack.changed(done)
    return changed


def spec_of(stack: Any, name: str) -> dict[str, Any]:
    """Return the spec of an object in the engine's state."""
    found = next(
        each for each in stack.engine.resources(stack.stack) if each["urn"].endswith(f"::{name}")
    )
    spec: dict[str, Any] = found["outputs"]["spec"]
    return spec


def test_gpu_nodes_use_karpenter_and_a_second_up_changes_nothing(stack: Any) -> None:
    groups = [
        each["labels"]["pulumi-dra/pool"] for each in stack.engine.cloud.all(NODE_GROUP).values()
    ]
    assert groups == ["system"]
    assert (spec_of(stack, "dra-l4-pool")["replicas"], spec_of(stack, "dra-l4-pool")["limits"]) == (
        2,
        {"nodes": 4},
    )
    profile = spec_of(stack, "dra-l4-class")["instanceProfile"]
    assert profile.startswith("dra-karpenter-nodes")
    assert up(stack) == {}


def test_growing_plan_changes_only_the_pools_node_count(stack: Any) -> None:
    stack.write(nodes=3)
    assert up(stack) == {"dra-plan": "update", "dra-l4-pool": "update"}
    assert spec_of(stack, "dra-l4-pool")["replicas"] == 3


def test_destroy_order_is_pools_then_karpenter_then_its_role(stack: Any) -> None:
    done = stack.engine.destroy(stack.stack)
    assert done.ok, done.output
    order = [step.name for step in done.steps if step.op == "delete"]
    place = {name: order.index(name) for name in order}
    assert place["dra-l4-pool"] < place["dra-l4-class"] < place["dra-karpenter-release"]
    assert (
        place["dra-karpenter-release"] < place["dra-karpenter-nodes"] < place["dra-cluster-system"]
    )

"""The fast model of the scheduler: the node that it chooses for each pod, and whether every pod
gets a node.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dra_planner.placement.arrivals import NodeModel, Scoring

CPU, GPUS = 48, 8
SMALL, LARGE, HALF = 0, 1, 2
NEEDS = [(6, 1), (48, 8), (24, 4)]


def model() -> NodeModel:
    return NodeModel((CPU, GPUS), (False, True), NEEDS)


def test_spread_pods_use_one_node_each() -> None:
    """Given two small pods on two nodes, expect no node left for a pod of eight GPUs."""
    assert not model().places_all([SMALL, SMALL, LARGE], 2, "spread")
    assert model().places_all([SMALL, SMALL, LARGE], 3, "spread")


def test_packed_pods_share_a_node() -> None:
    assert model().places_all([SMALL, SMALL, LARGE], 2, "pack")


def test_packed_pods_prefer_the_node_with_the_most_pods() -> None:
    """Given a half-full node, expect four small pods on it, so that the other node is free for a
    large pod.
    """
    assert model().places_all([HALF, SMALL, SMALL, SMALL, SMALL, LARGE], 2, "pack")
    assert not model().places_all([HALF, SMALL, SMALL, SMALL, SMALL, LARGE], 2, "spread")


def test_a_pod_that_fits_no_node_is_not_placed() -> None:
    assert not model().places_all([LARGE, LARGE, SMALL], 2, "pack")


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([SMALL, LARGE, HALF]), max_size=30),
    st.sampled_from(["spread", "pack"]),
)
def test_pods_of_one_gpu_need_at_most_one_node_each(order: list[int], scoring: Scoring) -> None:
    """Given a node for each pod, expect every pod placed in any order."""
    assert model().places_all(order, max(1, len(order)), scoring)

"""Filling a node in one step has the same result as calling the allocator pod by pod."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace
from sizing_builders import CLASSES, FEATURES, demand, gpu_claim, pool, ranked_claim, size, workload

from dra_planner.allocation import NodeState, Placement, open_offer, place, sight_of
from dra_planner.model import (
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinityTerm,
    Requirement,
    Shape,
    Taint,
    Toleration,
)
from dra_planner.offers import Offer
from dra_planner.sizing.items import Item, ShapePods
from dra_planner.sizing.packing.empty_nodes import Nodes, group_kinds
from dra_planner.sizing.packing.filling import Filling, FillStage

ZONE = "topology.kubernetes.io/zone"
TAINT = Taint("gpu", "present")


def apart(name: str, **options: object) -> Shape:
    """A workload whose pods keep apart from each other on nodes."""
    term = PodAffinityTerm(
        topology_key="kubernetes.io/hostname",
        label_selector=LabelSelector((Requirement("app", "In", (name,)),)),
    )
    return workload(name, 5, pod_anti_affinity=(term,), **options)  # type: ignore[arg-type]


def in_zone(shape: Shape, zone: str) -> Shape:
    terms = (NodeSelectorTerm((Requirement(ZONE, "In", (zone,)),)),)
    return replace(shape, pod=replace(shape.pod, node_affinity=NodeSelector(terms)))


SHAPES = (
    workload("cpu", 9, cpu=700),
    workload("memory", 9, memory_gib=30),
    workload("one", 9, gpus=1),
    workload("three", 9, gpus=3, cpu=5_000),
    workload("either", 9, ranked_claim(4, 2)),
    workload("pair", 9, gpu_claim(2, match="gpu.nvidia.com/root")),
    workload("both", 9, gpu_claim(1), gpu_claim(2)),
    apart("apart"),
    apart("apart-gpu", gpus=1),
    in_zone(workload("zonal", 9, gpus=1), "b"),
)
POOLS = (
    pool("a", cpu=16_000, memory_gib=100, labels={ZONE: "a"}),
    pool("b", cpu=16_000, memory_gib=100, labels={ZONE: "b"}),
    pool("c", cpu=16_000, memory_gib=100, gpus=4, labels={ZONE: "b"}),
)


def pod_by_pod(node: NodeState, shape: Shape, limit: int) -> tuple[int, NodeState]:
    count = 0
    while count < limit and isinstance(answer := place(shape, node), Placement):
        node, count = answer.node, count + 1
    return count, node


def open_alone(offer: Offer) -> NodeState:
    return open_offer(offer, CLASSES, FEATURES, sight_of(SHAPES))


def same(stage: FillStage, node: NodeState) -> bool:
    seen = stage.state
    return (dict(seen.used), seen.taken, seen.shares) == (dict(node.used), node.taken, node.shares)


@pytest.mark.parametrize("seed", range(30))
def test_filling_in_bulk_equals_placing_pod_by_pod(seed: int) -> None:
    chance = random.Random(seed)
    nodes = Nodes.of(POOLS, CLASSES, FEATURES, demand(*SHAPES))
    at = chance.randrange(len(POOLS))
    stage, node = nodes.empty[at], open_alone(POOLS[at])
    for _ in range(8):
        shape, limit = chance.choice(SHAPES), chance.randint(1, 6)
        expected, node = pod_by_pod(node, shape, limit)
        count = 0
        if nodes.admits(shape, at):
            count, stage = nodes.filling.fill(Item((ShapePods(shape, 1),), limit), stage, limit)
        assert (count, same(stage, node)) == (expected, True), shape.id


def test_equal_nodes_are_evaluated_once_per_kind() -> None:
    assert group_kinds(POOLS) == (0, 0, 2)
    nodes = Nodes.of(POOLS, CLASSES, FEATURES, demand(*SHAPES))
    assert nodes.empty[0] is nodes.empty[1] is not nodes.empty[2]
    zonal = SHAPES[-1]
    assert [nodes.admits(zonal, at) for at in range(3)] == [False, True, True]
    sizing = size(POOLS[:2], zonal)
    assert [(each.name, each.plan) for each in sizing.pools] == [("a", 0), ("b", 2)]


@pytest.mark.parametrize(
    ("case", "other"),
    [
        ("more memory", pool("b", memory_gib=300)),
        ("a device of another kind", pool("b", gpus=7)),
        ("an estimate that may be too cautious", replace(pool("b"), at_most={"memory": 2**40})),
        (
            "pods that are there already",
            replace(pool("b"), slices=(replace(pool("b").slices[0], node_name=None),)),
        ),
    ],
)
def test_different_nodes_are_another_kind(case: str, other: Offer) -> None:
    assert group_kinds((pool("a"), other)) == (0, 1), case


def test_taint_belongs_to_the_pool_not_the_kind() -> None:
    tainted = replace(
        POOLS[0], node=replace(POOLS[0].node, taints=(pool("x", taints=[TAINT]).node.taints))
    )
    assert group_kinds((POOLS[0], tainted)) == (0, 0)
    anywhere = replace(SHAPES[2].pod, tolerations=(Toleration(operator="Exists"),))
    tolerant = replace(SHAPES[2], id="tolerant", pod=anywhere)
    nodes = Nodes.of((POOLS[0], tainted), CLASSES, FEATURES, demand(SHAPES[2], tolerant))
    assert [nodes.admits(shape, 1) for shape in (SHAPES[2], tolerant)] == [False, True]


def test_claims_that_differ_only_by_name_are_evaluated_once() -> None:
    filling = Filling()
    stage = filling.open(open_alone(POOLS[0]))
    renamed = replace(SHAPES[2], id="renamed", claims=(replace(SHAPES[2].claims[0], name="other"),))
    first, second = (
        filling.taken(Item((ShapePods(shape, 1),), 1), stage.kind) for shape in (SHAPES[2], renamed)
    )
    assert (
        first.claims
        == second.claims
        != filling.taken(Item((ShapePods(SHAPES[3], 1),), 1), stage.kind).claims
    )

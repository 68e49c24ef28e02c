"""Many equal pods on equal nodes at once, and the same one by one."""

from __future__ import annotations

import random

import pytest
from allocation_builders import CLASSES, GI, claim, counters, device, first_of, gpus, node, request, shape, slice_of

from dra_planner.allocation import open_node
from dra_planner.allocation.bulk import can_bulk, equal_nodes, fill
from dra_planner.allocation.choosing import chooser
from dra_planner.allocation.cluster import Cluster, QueuedPod
from dra_planner.allocation.run import RunResult, run
from dra_planner.model import LabelSelector, ObjectKey, PodAffinityTerm, Shape, ShapeClaim
from dra_planner.releases import features_of

F36 = features_of(36)


def opened(*slices, on=None):
    return open_node(on or node(), slices, CLASSES, F36)


def test_a_million_pods_take_as_many_steps_as_a_few():
    one_gpu = shape(claim(request()), pods=10**6)
    result = fill([(one_gpu, 10**6)], [equal_nodes(opened(gpus(8)), 200_000)])
    assert result.groups[0].placed == 10**6
    assert [(r.start, r.count, r.state.taken.bit_count()) for r in result.runs] == [(0, 200_000, 5)]


def test_what_does_not_fit_is_counted_and_explained():
    result = fill([(shape(claim(request(count=3))), 100)], [equal_nodes(opened(gpus(8)), 10)])
    (group,) = result.groups
    assert (group.placed, group.pending) == (20, 80)
    assert group.refusals[0].reasons[0].code == "devices-taken"


def test_pods_that_share_a_claim_are_not_for_bulk():
    shared = ShapeClaim(name="c", spec=claim(request()), shared=ObjectKey("default", "one"))
    assert not can_bulk(shape(shared))
    with pytest.raises(ValueError, match="use run"):
        fill([(shape(shared), 2)], [equal_nodes(opened(gpus(1)), 1)])


def random_state(rng: random.Random, name: str):
    kind, where = rng.choice(("plain", "mixed", "partitions")), {"pool": name, "node_name": name}
    if kind == "partitions":
        parts = [device(f"p{i}", {"x": i % 2}, draws={"memory": rng.choice((1, 2))}) for i in range(rng.randint(2, 6))]
        slices = [counters(memory=4, pool=name, node_name=name), slice_of(*parts, slice_count=2, **where)]
    else:
        values = (1,) if kind == "plain" else (1, 2, 3)
        slices = [slice_of(*(device(f"d{i}", {"x": rng.choice(values)}) for i in range(rng.randint(1, 6))), **where)]
    return opened(*slices, on=node(name, cpu=rng.choice((4_000, 8_000, 64_000)), memory=64 * GI))


def random_shape(rng: random.Random) -> Shape:
    kind = rng.choice(("one", "two", "match", "all", "first", "none"))
    claims = {
        "one": [claim(request())],
        "two": [claim(request(count=2))],
        "match": [claim(request(count=2), match="gpu.nvidia.com/x")],
        "all": [claim(request(count=0))],
        "first": [claim(first_of("r", ("any", 3), ("any", 1)))],
        "none": [],
    }[kind]
    return shape(*claims, requests={"cpu": rng.choice((100, 1_000, 3_000)), "memory": rng.choice((1, 3)) * GI})


@pytest.mark.parametrize("choose", ["first", "least-allocated", "most-allocated"])
@pytest.mark.parametrize("seed", range(40))
def test_bulk_is_the_same_as_pod_by_pod(choose, seed):
    rng = random.Random(f"{choose}/{seed}")
    runs, start = [], 0
    for number in range(rng.randint(1, 2)):
        runs.append(equal_nodes(random_state(rng, f"m{number}"), rng.randint(1, 5), start))
        start += runs[-1].count
    groups = [(random_shape(rng), rng.randint(1, 12)) for _ in range(rng.randint(1, 4))]
    bulk = fill(groups, runs, choose)

    nodes = {f"n{r.start + i}": r.state for r in runs for i in range(r.count)}
    queue = [QueuedPod(ObjectKey(str(g), str(i)), pod) for g, (pod, pods) in enumerate(groups) for i in range(pods)]
    single = run(queue, Cluster(nodes), choose)

    expanded = [r.state.key for r in bulk.runs for _ in range(r.count)]
    assert expanded == [state.key for state in single.cluster.nodes.values()]
    placed = [sum(1 for key in single.placed if key.namespace == str(g)) for g in range(len(groups))]
    assert [g.placed for g in bulk.groups] == placed


def pod_among_others(rng: random.Random) -> Shape:
    """A pod that may outrank others, mind them, or share its claim with them."""
    plain = random_shape(rng)
    shared = ShapeClaim(name="c1", spec=claim(request()), shared=ObjectKey("default", "one"))
    apart = PodAffinityTerm(topology_key="kubernetes.io/hostname", label_selector=LabelSelector())
    return shape(
        *(rng.choice(([shared], plain.claims, plain.claims, plain.claims))),
        requests=plain.pod.containers[0].requests,
        priority=rng.choice((0, 0, 10)),
        pod_anti_affinity=rng.choice(((), (), (), (apart,))),
    )


@pytest.mark.parametrize("choose", ["first", "least-allocated", "most-allocated"])
@pytest.mark.parametrize("seed", range(40))
def test_keeping_the_nodes_ranked_changes_nothing(choose, seed):
    rng = random.Random(f"ranked/{choose}/{seed}")
    nodes = {f"n{i}": random_state(rng, f"m{i}") for i in range(rng.randint(1, 5))}
    shapes = [pod_among_others(rng) for _ in range(rng.randint(1, 4))]
    pods = [QueuedPod(ObjectKey("q", str(i)), rng.choice(shapes), recreated=True) for i in range(rng.randint(2, 25))]
    cluster = Cluster(nodes)
    for queue in (pods[: len(pods) // 2], pods[len(pods) // 2 :]):  # the second half may preempt the first
        # a function of the caller's sees every node each time
        cluster = same_result(run(queue, cluster, choose), run(queue, cluster, chooser(choose)))


def same_result(ranked: RunResult, asked: RunResult) -> Cluster:
    assert ranked.placed == asked.placed
    assert ranked.preempted == asked.preempted
    assert [each.pod for each in ranked.pending] == [each.pod for each in asked.pending]
    assert [s.key for s in ranked.cluster.nodes.values()] == [s.key for s in asked.cluster.nodes.values()]
    return ranked.cluster

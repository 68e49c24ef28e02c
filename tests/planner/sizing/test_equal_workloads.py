"""Sizing counts identical pods of several workloads as one item, and lists them separately in the
result.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sizing_builders import counts, gpu_claim, pool, size, workload

from dra_planner.model import LabelSelector, PodAffinityTerm, Requirement, Shape
from dra_planner.sizing import Sizing

AVOIDS_A = PodAffinityTerm(
    topology_key="kubernetes.io/hostname",
    label_selector=LabelSelector((Requirement("app", "In", ("a",)),)),
)


def items(sizing: Sizing) -> int:
    assert sizing.evidence is not None
    return len(sizing.evidence.items)


def on_nodes(sizing: Sizing) -> Counter[str]:
    """Pods of each shape over all nodes, as the patterns have them."""
    pods: Counter[str] = Counter()
    for pattern in sizing.patterns:
        for shape, count in pattern.pods:
            pods[shape] += pattern.nodes * count
    return pods


def test_workloads_with_equal_needs_are_one_item() -> None:
    sizing = size([pool("only")], *(workload(name, 3, gpus=1) for name in "abc"))
    assert (items(sizing), counts(sizing)) == (1, {"only": (2, 2)})
    assert [(each.workload.name, each.placed, each.pending) for each in sizing.workloads] == [
        ("a", 3, 0), ("b", 3, 0), ("c", 3, 0)
    ]  # fmt: skip
    assert on_nodes(sizing) == {"a": 3, "b": 3, "c": 3}
    assert [(each.nodes, each.pods) for each in sizing.patterns] == [
        (1, (("a", 3), ("b", 3), ("c", 2))),
        (1, (("c", 1),)),
    ]


def test_last_of_equal_workloads_is_pending_if_not_all_fit() -> None:
    sizing = size([pool("only", at_most=1)], *(workload(name, 3, gpus=1) for name in "abc"))
    assert [(each.workload.name, each.placed, each.pending) for each in sizing.workloads] == [
        ("a", 3, 0), ("b", 3, 0), ("c", 2, 1)
    ]  # fmt: skip
    assert on_nodes(sizing) == {"a": 3, "b": 3, "c": 2}
    (reason,) = sizing.workloads[2].reasons
    assert "1 of 3 pods stays pending" in reason.message


def test_differences_that_matter_for_a_node_separate_workloads() -> None:
    plain = workload("a", 2, gpus=1)
    cases: dict[str, Shape] = {
        "amounts": workload("b", 2, gpus=1, cpu=200),
        "devices": workload("b", 2, gpus=2),
        "constraints": workload("b", 2, gpu_claim(1, match="gpu.nvidia.com/root")),
        "labels of nodes": workload("b", 2, gpus=1, node_selector={"pool": "only"}),
        "priority": workload("b", 2, gpus=1, priority=5),
        "a shared claim": workload("b", 2, gpus=1, shares="shared"),
        "anti-affinity": workload("b", 2, gpus=1, pod_anti_affinity=(AVOIDS_A,)),
    }
    pools = [pool("only"), pool("other")]
    assert {
        case: items(size(pools, plain, other)) for case, other in cases.items()
    } == dict.fromkeys(cases, 2)


def test_labels_of_all_nodes_do_not_separate_workloads() -> None:
    chosen = workload("b", 2, gpus=1, node_selector={"pool": "only"})
    assert items(size([pool("only")], workload("a", 2, gpus=1), chosen)) == 1


def test_pods_that_another_pod_avoids_are_separate() -> None:
    shapes = [workload(name, 2) for name in "abc"] + [
        workload("d", 1, pod_anti_affinity=(AVOIDS_A,))
    ]
    sizing = size([pool("only")], *shapes)
    assert items(sizing) == 3  # a; b and c; d
    assert sizing.verdict == "fits"
    for pattern in sizing.patterns:
        assert not {"a", "d"} <= {shape for shape, _ in pattern.pods}


def test_pods_of_several_sizes_with_anti_affinity_need_one_node_each() -> None:
    sizes = [
        workload(f"a-{cpu}", 3, cpu=cpu, pod_anti_affinity=(AVOIDS_A,)) for cpu in (100, 200, 300)
    ]
    beside = workload("beside", 40, cpu=1000)
    sizing = size(
        [pool("only", at_most=20)],
        *(replace(shape, labels={"app": "a"}) for shape in sizes),
        beside,
    )
    assert (sizing.verdict, counts(sizing)) == ("fits", {"only": (9, 9)})
    for pattern in sizing.patterns:
        assert sum(count for shape, count in pattern.pods if shape.startswith("a-")) <= 1


@settings(max_examples=60, deadline=None)
@given(
    pods=st.lists(
        st.tuples(st.integers(1, 9), st.sampled_from((1, 2, 3)), st.sampled_from((100, 9_000))),
        max_size=7,
    ),
    at_most=st.integers(1, 4),
)
def test_patterns_and_placements_are_consistent(
    pods: list[tuple[int, int, int]], at_most: int
) -> None:
    shapes = [
        workload(f"w{at}", count, gpus=gpus, cpu=cpu) for at, (count, gpus, cpu) in enumerate(pods)
    ]
    sizing = size(
        [pool("a", gpus=4, at_most=at_most), pool("b", gpus=8, at_most=1, usd="3")], *shapes
    )
    assert on_nodes(sizing) == Counter(
        {each.workload.name: each.placed for each in sizing.workloads if each.placed}
    )
    for shape, size_of in zip(shapes, sizing.workloads, strict=True):
        assert size_of.placed + size_of.pending == shape.figures.steady
        by_pool = Counter(
            {
                p.name: sum(
                    x.nodes * n
                    for x in sizing.patterns
                    if x.pool == p.name
                    for s, n in x.pods
                    if s == shape.id
                )
                for p in sizing.pools
            }
        )
        assert +by_pool == Counter(dict(size_of.placements))

"""The bound of pods that keep each other off a node, compared with an exhaustive search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from sizing_builders import pool, size, workload

from dra_planner.allocation.node.filters import HOSTNAME
from dra_planner.model import LabelSelector, PodAffinityTerm, Requirement, Shape


class Pods(NamedTuple):
    """A number of pods with their GPUs, and the apps that they avoid."""

    app: str
    pods: int
    gpus: int
    avoids: tuple[str, ...] = ()


def shapes(wanted: Sequence[Pods]) -> list[Shape]:
    return [
        workload(
            each.app,
            each.pods,
            gpus=each.gpus,
            pod_anti_affinity=tuple(
                PodAffinityTerm(
                    topology_key=HOSTNAME,
                    label_selector=LabelSelector((Requirement("app", "In", (other,)),)),
                )
                for other in each.avoids
            ),
        )
        for each in wanted
    ]


def fewest_nodes(gpus: int, wanted: Sequence[Pods]) -> int:
    """Return the lowest number of equal nodes for the pods, found by exhaustive search."""
    excluded = {
        (first, second)
        for first, one in enumerate(wanted)
        for second, other in enumerate(wanted)
        if other.app in one.avoids or one.app in other.avoids
    }

    def is_allowed(content: Sequence[int]) -> bool:
        if sum(number * each.gpus for number, each in zip(content, wanted, strict=True)) > gpus:
            return False
        used = [kind for kind, number in enumerate(content) if number]
        return not any(
            (one, other) in excluded and (one != other or content[one] > 1)
            for one in used
            for other in used
        )

    contents = [
        each
        for each in product(*(range(each.pods + 1) for each in wanted))
        if any(each) and is_allowed(each)
    ]

    @cache
    def least(left: tuple[int, ...]) -> int:
        if not any(left):
            return 0
        return 1 + min(
            least(tuple(have - put for have, put in zip(left, content, strict=True)))
            for content in contents
            if all(put <= have for have, put in zip(left, content, strict=True))
        )

    return least(tuple(each.pods for each in wanted))


CASES: Mapping[str, tuple[tuple[Pods, ...], int]] = {
    "one pod avoids another": ((Pods("a", 1, 1, ("b",)), Pods("b", 1, 1)), 2),
    "both avoid each other": ((Pods("a", 1, 1, ("b",)), Pods("b", 1, 1, ("a",))), 2),
    "three avoid each other": (
        (Pods("a", 1, 1, ("b", "c")), Pods("b", 1, 1, ("c",)), Pods("c", 1, 1)),
        3,
    ),
    "a node holds several pods of one kind": ((Pods("a", 6, 1, ("b",)), Pods("b", 3, 2)), 2),
    "a pod avoids its own kind and another": (
        (Pods("a", 2, 1, ("a", "b")), Pods("b", 2, 1)),
        3,
    ),
    "two pairs": (
        (Pods("a", 1, 1, ("b",)), Pods("b", 1, 1), Pods("c", 1, 1, ("d",)), Pods("d", 1, 1)),
        2,
    ),
    "a pod avoids an unknown kind": ((Pods("a", 1, 1, ("x",)), Pods("b", 1, 1)), 1),
    "no rules": ((Pods("a", 1, 1), Pods("b", 1, 1)), 1),
}


@pytest.mark.parametrize(("wanted", "nodes"), CASES.values(), ids=CASES)
def test_bound_counts_a_node_for_each_excluded_pod(wanted: tuple[Pods, ...], nodes: int) -> None:
    assert fewest_nodes(8, wanted) == nodes
    (sized,) = size([pool("p", gpus=8, at_most=10)], *shapes(wanted)).pools
    assert (sized.bound, sized.plan) == (nodes, nodes)


@pytest.mark.parametrize(("wanted", "nodes"), CASES.values(), ids=CASES)
def test_too_few_nodes_do_not_fit(wanted: tuple[Pods, ...], nodes: int) -> None:
    sizing = size([pool("p", gpus=8, at_most=nodes - 1)], *shapes(wanted))
    assert sizing.verdict == "does-not-fit"


@pytest.mark.parametrize(("key", "nodes"), [("pod-template-hash", 1), ("app", 1), ("tier", 2)])
def test_label_keys_of_controllers_differ_between_workloads(key: str, nodes: int) -> None:
    """Only the label `tier` of both workloads is known and equal."""
    selector = LabelSelector((Requirement("app", "In", ("a", "b")),))
    term = PodAffinityTerm(topology_key=HOSTNAME, label_selector=selector, match_label_keys=(key,))
    wanted = [
        replace(each, labels={**each.labels, "tier": "gold"})
        for each in (workload("a", 1, gpus=1, pod_anti_affinity=(term,)), workload("b", 1, gpus=1))
    ]
    (sized,) = size([pool("p", gpus=8, at_most=10)], *wanted).pools
    assert sized.bound == nodes


APPS = ("a", "b", "c", "d")
PODS = st.builds(
    lambda app, pods, gpus, avoids: Pods(app, pods, gpus, tuple(sorted(avoids))),
    app=st.just(""),
    pods=st.integers(1, 3),
    gpus=st.integers(1, 4),
    avoids=st.sets(st.sampled_from(APPS), max_size=3),
)


@given(wanted=st.lists(PODS, min_size=2, max_size=4))
def test_bound_never_exceeds_the_optimum(wanted: list[Pods]) -> None:
    named = [each._replace(app=app) for app, each in zip(APPS, wanted, strict=False)]
    best = fewest_nodes(6, named)

    (sized,) = size([pool("p", gpus=6, at_most=20)], *shapes(named)).pools

    assert sized.bound <= best <= sized.plan
    assert size([pool("p", gpus=6, at_most=best)], *shapes(named)).verdict != "does-not-fit"

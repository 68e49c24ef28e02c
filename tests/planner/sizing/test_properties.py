"""Properties of every demand and every pool."""

from __future__ import annotations

import random

from brute_force import fewest_nodes
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sizing_builders import CLASSES, FEATURES, GIB, demand, pool, size, workload

from dra_planner.model import Shape
from dra_planner.offers import Offer
from dra_planner.sizing import Sizer, Sizing, size_pools

QUICK = settings(max_examples=30, deadline=None)

pools = st.lists(
    st.tuples(
        st.integers(1, 6),
        st.integers(2, 12),
        st.integers(0, 2),
        st.integers(0, 5),
        st.integers(1, 9),
    ),
    min_size=1,
    max_size=3,
).map(
    lambda rows: [
        pool(f"p{i}", gpus=gpus, cpu=cpu * 1000, at_least=least, at_most=least + more, usd=str(usd))
        for i, (gpus, cpu, least, more, usd) in enumerate(rows)
    ]
)
shapes = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=4
).map(
    lambda rows: [
        workload(f"w{i}", pods, gpus=gpus, cpu=cpu * 1000)
        for i, (gpus, cpu, pods) in enumerate(rows)
    ]
)


NINE_PLACES = ((2000, 0), (4000, 3), (6000, 3))  # CPU and maximum of pools
TEN_PODS = ((1, 2000), (3, 3000), (6, 3000))  # pods and their CPU


def placed(sizing: Sizing) -> int:
    return sum(each.placed for each in sizing.workloads)


def exceeds_maximums(sizing: Sizing) -> bool:
    """Return whether it's proven that no plan is within the maximums."""
    return sizing.evidence is not None and bool(sizing.evidence.proof.excessive)


@QUICK
@given(pools, shapes)
def test_bound_never_exceeds_a_complete_plan(offers: list[Offer], wanted: list[Shape]) -> None:
    sizing = size(offers, *wanted)
    if sizing.verdict == "fits":
        assert all(each.minimum <= each.bound <= each.plan <= each.maximum for each in sizing.pools)
        assert sizing.nodes_bound <= sizing.nodes_plan
        assert sizing.hourly_bound is not None
        assert sizing.hourly_plan is not None
        assert sizing.hourly_bound <= sizing.hourly_plan


@QUICK
@given(pools, shapes)
def test_every_pod_is_placed_or_pending(offers: list[Offer], wanted: list[Shape]) -> None:
    sizing = size(offers, *wanted)
    for each in sizing.workloads:
        assert each.wanted == each.placed + each.pending
        assert each.placed == sum(pods for _, pods in each.placements)
        assert (each.verdict == "fits") == (each.pending == 0)
        assert bool(each.reasons) == (each.pending > 0)


@QUICK
@given(pools, shapes, st.integers(0, 2))
def test_additional_node_never_hurts(offers: list[Offer], wanted: list[Shape], which: int) -> None:
    before = size(offers, *wanted)
    index = which % len(offers)
    more = [replace(each, count_max=each.count_max + (i == index)) for i, each in enumerate(offers)]
    after = size(more, *wanted)
    if before.verdict == "fits":
        assert after.verdict == "fits"
    assert placed(after) >= placed(before)


@QUICK
@given(pools, shapes, st.randoms(use_true_random=False))
def test_order_does_not_change_the_sizing(
    offers: list[Offer], wanted: list[Shape], chance: random.Random
) -> None:
    shuffled, turned = list(wanted), list(offers)
    chance.shuffle(shuffled)
    chance.shuffle(turned)
    assert size_pools(demand(*wanted), offers, CLASSES, FEATURES) == size_pools(
        replace(demand(*wanted), shapes=tuple(shuffled)), turned, CLASSES, FEATURES
    )


@QUICK
@given(
    st.tuples(st.integers(1, 4), st.integers(3, 8)),
    st.tuples(st.integers(1, 4), st.integers(3, 8)),
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=3
    ),
)
def test_optimum_is_between_bound_and_plan(
    first: tuple[int, int], second: tuple[int, int], rows: list[tuple[int, int, int]]
) -> None:
    offers = [
        pool(f"p{i}", gpus=gpus, cpu=cpu * 1000, at_most=9, usd=None)
        for i, (gpus, cpu) in enumerate([first, second])
    ]
    wanted = [
        workload(f"w{i}", pods, gpus=gpus, cpu=cpu * 1000)
        for i, (gpus, cpu, pods) in enumerate(rows)
    ]
    needs = [(gpus, cpu) for gpus, cpu, _ in rows]
    best = fewest_nodes([first, second], [needs, needs], tuple(pods for _, _, pods in rows), 10)
    sizing = size(offers, *wanted)
    if sizing.verdict == "fits":
        assert best is not None
        assert sizing.nodes_bound <= best <= sizing.nodes_plan
    elif sizing.verdict == "does-not-fit":
        hopeless = any(
            pods and all(gpus > g or cpu > c for g, c in (first, second))
            for gpus, cpu, pods in rows
        )
        assert best is None or best > 9 or hopeless


@QUICK
@given(
    st.integers(1, 5),
    st.integers(3, 8),
    st.integers(0, 3),
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=3
    ),
)
def test_does_not_fit_is_right_and_cannot_tell_has_a_gap(
    gpus: int, cpu: int, most: int, rows: list[tuple[int, int, int]]
) -> None:
    wanted = [workload(f"w{i}", pods, gpus=g, cpu=c * 1000) for i, (g, c, pods) in enumerate(rows)]
    sizing = size([pool("a", gpus=gpus, cpu=cpu * 1000, at_most=most)], *wanted)
    needs = [[(g, c) for g, c, _ in rows]]
    best = fewest_nodes([(gpus, cpu)], needs, tuple(pods for _, _, pods in rows), most)
    if best is not None:
        assert sizing.verdict in ("fits", "cannot-tell")
    else:
        assert sizing.verdict in ("does-not-fit", "cannot-tell")


@settings(max_examples=15, deadline=None)
@given(pools, shapes)
@example(  # nine pods of 3 CPU fill the nodes, so the pod of 2 CPU has none
    [pool(f"p{i}", gpus=1, cpu=cpu, at_most=most) for i, (cpu, most) in enumerate(NINE_PLACES)],
    [workload(f"w{i}", pods, cpu=cpu) for i, (pods, cpu) in enumerate(TEN_PODS)],
)
def test_solver_only_improves_bounds(offers: list[Offer], wanted: list[Shape]) -> None:
    """An exception is the node bound of a demand that only the solver proves to exceed the
    maximums. That bound ignores the maximums, because no plan is within them.
    """
    requested = demand(*wanted)
    with_it = Sizer.of(requested, offers, CLASSES, FEATURES).size("steady")
    without = Sizer.of(requested, offers, CLASSES, FEATURES, with_solver=False).size("steady")
    if exceeds_maximums(with_it) == exceeds_maximums(without):
        assert with_it.nodes_bound >= without.nodes_bound
    assert placed(with_it) >= placed(without)
    if without.verdict != "cannot-tell":
        assert with_it.verdict == without.verdict


def test_memory_is_counted() -> None:
    sizing = size([pool("a", memory_gib=10)], workload("web", 4, gpus=1, memory_gib=6))
    assert sizing.pool("a").bound == sizing.pool("a").plan == 4
    assert sizing.pool("a").left["memory"] == 4 * 4 * GIB

"""Certificates: the bound is valid for any prices, and good prices give a tight bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

import pytest
from brute_force import fewest_nodes
from hypothesis import given, settings
from hypothesis import strategies as st
from sizing_builders import pool, size, workload

from dra_planner.sizing.bound.cases import divide_cases
from dra_planner.sizing.bound.exact import (
    BoundModel,
    BoundPool,
    CapacityRow,
    Certificate,
    Worth,
    apply,
    area_certificates,
    strongest,
)
from dra_planner.sizing.bound.relaxation import Relaxation
from dra_planner.sizing.bound.rounding import least_in_whole_nodes, raise_to_whole_nodes


def model(
    demand: dict[int, int], *pools: tuple[int, dict[int, tuple[int, int]]], most: int = 50
) -> BoundModel:
    """Return a model. Pools are (devices, {item: (devices per item, items per node)})."""
    return BoundModel(
        demand=demand,
        pools=tuple(
            BoundPool(
                minimum=0,
                maximum=most,
                rows=(
                    CapacityRow(
                        "devices", devices, {item: need for item, (need, _) in items.items()}
                    ),
                ),
                most={item: count for item, (_, count) in items.items()},
            )
            for devices, items in pools
        ),
    )


TWO_POOLS = model({0: 10, 1: 6}, (8, {0: (2, 4), 1: (1, 8)}), (2, {1: (1, 2)}))


@pytest.mark.parametrize(
    ("case", "bound"),
    [("pool 0 alone takes the pairs", (0, 3)), ("singles fit beside them", (1, 0))],
)
def test_area_bounds_are_computed_per_pool(case: str, bound: tuple[int, int]) -> None:
    pool, nodes = bound
    worths = [apply(each, TWO_POOLS) for each in area_certificates(TWO_POOLS)]
    assert max(worth.nodes_of(TWO_POOLS, [pool]).get(pool, 0) for worth in worths) == nodes, case


def test_pool_at_its_maximum_moves_demand_to_the_other() -> None:
    tight = model({0: 20}, (4, {0: (1, 4)}), (1, {0: (1, 1)}), most=4)
    worths = [apply(each, tight) for each in area_certificates(tight)]
    assert max(worth.nodes_of(tight, [1]).get(1, 0) for worth in worths) == 4
    assert not any(worth.is_infeasible(tight) for worth in worths)
    tighter = model({0: 21}, (4, {0: (1, 4)}), (1, {0: (1, 1)}), most=4)
    assert any(apply(each, tighter).is_infeasible(tighter) for each in area_certificates(tighter))


prices = st.fractions(min_value=0, max_value=4, max_denominator=8)
kinds = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    kinds,
    st.integers(4, 8),
    st.integers(2, 4),
    st.lists(prices, min_size=3, max_size=3),
    st.lists(prices, min_size=2),
)
def test_no_certificate_exceeds_the_optimum(
    rows: list[tuple[int, int]],
    large: int,
    small: int,
    items: list[Fraction],
    row_prices: list[Fraction],
) -> None:
    pods = {index: count for index, (_, count) in enumerate(rows)}
    both = model(
        pods,
        (large, {i: (need, large // need) for i, (need, _) in enumerate(rows)}),
        (small, {i: (need, small // need) for i, (need, _) in enumerate(rows) if need <= small}),
    )
    needs = [[(need,) for need, _ in rows]] * 2
    best = fewest_nodes([(large,), (small,)], needs, tuple(pods.values()), 12)
    assert best is not None
    certificate = Certificate(
        items=dict(enumerate(items[: len(rows)])),
        rows={0: {0: row_prices[0]}, 1: {0: row_prices[1]}},
    )
    worth = apply(certificate, both)
    assert worth.cost(both, [Fraction(1), Fraction(1)]) <= best
    assert not worth.is_infeasible(both)


def test_relaxation_combines_rows_for_a_higher_bound() -> None:
    """Each pool lacks a different resource, so only both rows together show that 6 nodes aren't
    enough.
    """
    highspy = pytest.importorskip("highspy")
    mixed = BoundModel(
        demand={0: 11, 1: 8},
        pools=(
            BoundPool(
                minimum=0,
                maximum=100,
                rows=(
                    CapacityRow("cpu", 10, {0: 5, 1: 4}),
                    CapacityRow("memory", 12, {0: 5, 1: 1}),
                ),
                most={0: 2, 1: 2},
            ),
            BoundPool(
                minimum=0,
                maximum=100,
                rows=(
                    CapacityRow("cpu", 12, {0: 1, 1: 4}),
                    CapacityRow("memory", 10, {0: 5, 1: 2}),
                ),
                most={0: 2, 1: 3},
            ),
        ),
    )
    each_node = [Fraction(1), Fraction(1)]
    area = strongest([apply(each, mixed) for each in area_certificates(mixed)], mixed, each_node)
    cheapest = Relaxation(mixed, highspy).cheapest([1.0, 1.0])
    assert cheapest is not None
    assert (ceil(area), ceil(apply(cheapest[0], mixed).cost(mixed, each_node))) == (6, 8)


def test_cost_bound_is_a_cost_of_whole_nodes() -> None:
    """Five pods on nodes of four for 5 USD or of two for 3: fractions cost 6.25, whole nodes 8."""
    pools = [pool("four", gpus=4, usd="5"), pool("two", gpus=2, usd="3")]
    sizing = size(pools, workload("web", 5, gpus=1))
    assert (sizing.hourly_bound, sizing.hourly_plan) == (8, 8)


def test_cost_bound_is_unchanged_if_there_are_too_many_costs() -> None:
    each_other = model({0: 10}, (8, {0: (1, 8)}), (2, {0: (1, 2)}), most=10**6)
    least = Fraction(3_000_001, 2)
    assert raise_to_whole_nodes(least, 3_000_000, (0, 0), each_other, [7, 3]) == least


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 7), st.integers(0, 2), st.integers(0, 4)),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 40),
)
def test_cost_of_whole_nodes_matches_an_exhaustive_search(
    rows: list[tuple[int, int, int, int]], wanted: int
) -> None:
    """Pools as (cost, worth of a node, minimum, nodes more)."""
    fleet = BoundModel(
        demand={},
        pools=tuple(
            BoundPool(minimum=low, maximum=low + more, rows=(), most={}) for _, _, low, more in rows
        ),
    )
    worth = Worth(wanted, {at: value for at, (_, value, _, _) in enumerate(rows)})
    costs = [cost for cost, _, _, _ in rows]
    enough = [
        sum(cost * count for cost, count in zip(costs, counts, strict=True))
        for counts in product(*(range(low, low + more + 1) for _, _, low, more in rows))
        if sum(value * count for (_, value, _, _), count in zip(rows, counts, strict=True))
        >= wanted
    ]
    assert least_in_whole_nodes(worth, fleet, costs) == min(enough, default=None)


def test_case_distinction_proves_more_than_fractions_of_nodes() -> None:
    """Six pods of three GPUs and nine of one: prices for fractions of nodes prove 34 USD, whole
    nodes cost 36.
    """
    pools = [
        pool("eight", gpus=8, usd="10"),
        pool("four", gpus=4, usd="7"),
        pool("one", gpus=1, usd="2"),
    ]
    sizing = size(pools, workload("train", 6, gpus=3), workload("serve", 9, gpus=1))
    assert (sizing.hourly_bound, sizing.hourly_plan) == (36, 36)
    assert sizing.evidence is not None
    (part,) = sizing.evidence.proof.parts
    assert part.cases is not None
    assert part.cases.halves


def test_expensive_nodes_are_whole_next_to_many_cheap_ones() -> None:
    """17 pods of two GPUs need five nodes of eight GPUs, of either pool, not 4.25."""
    pools = [
        pool("h100", gpus=8, usd="55"),
        pool("h200", gpus=8, usd="63"),
        pool("one", gpus=1, usd="1", at_most=200),
    ]
    sizing = size(pools, workload("train", 17, gpus=2), workload("serve", 150, gpus=1))
    assert (sizing.hourly_bound, sizing.hourly_plan) == (5 * 55 + 144, 5 * 55 + 144)


def test_unsolved_case_keeps_the_bound_of_its_parent_case() -> None:
    highspy = pytest.importorskip("highspy")

    class SolvesOnce(Relaxation):
        solved = 0

        def within(self, *args: Any) -> Any:
            self.solved += 1
            return super().within(*args) if self.solved == 1 else None

        def shortage_within(self, *_: Any) -> Any:
            return None

    mixed = model(
        {0: 6, 1: 9}, (8, {0: (3, 2), 1: (1, 8)}), (4, {0: (3, 1), 1: (1, 4)}), (1, {1: (1, 1)})
    )
    costs = [Fraction(10), Fraction(7), Fraction(2)]

    found = divide_cases(SolvesOnce(mixed, highspy), range(3), costs, Fraction(36))

    assert found is not None
    assert found.halves
    assert found.bound == found.cost

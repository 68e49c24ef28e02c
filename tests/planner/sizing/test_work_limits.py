"""Sizing ends: its work depends on shapes and pools, not on what a search treats as unlimited."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sizing_builders import CLASSES, FEATURES, demand, pool, workload

from dra_planner.model import SharedLimit
from dra_planner.sizing import Sizer
from dra_planner.sizing.bound.exact import BoundModel, BoundPool, CapacityRow, Certificate, apply
from dra_planner.sizing.least_raises import Raises, Tried, free_raises, least_raises
from dra_planner.sizing.packing.strategies import _whole_parts


def test_large_shares_are_rounded_quickly() -> None:
    """Given a solver whose solution puts billions of one item in a pool, when rounded, then the
    count remains.
    """
    assert _whole_parts(3, {0: 4e11, 1: 2.0}) == {0: 1, 1: 2}
    assert _whole_parts(5, {0: 2.5, 1: 2.5}) == {0: 3, 1: 2}


def test_no_pool_is_tried_with_more_nodes_than_pods() -> None:
    given = Raises({"l4": 2}, {"quota": 16})
    limit = SharedLimit(name="quota", most=16, unit="vCPU", takes={"l4": 8})
    assert free_raises(given, (limit,), 3) == Raises({"l4": 5}, {"quota": 40})


def test_useless_raises_are_not_reported() -> None:
    given = Raises({"l4": 2}, {})
    same = Tried(pending=1, cost=(0,), used={}, bounds={})
    assert least_raises(given, given, (), same, lambda raises: same) == (given, same)


@pytest.mark.parametrize(
    ("price", "raised"), [("50", {"big": 3, "l4": 19}), ("0.5", {"big": 6, "l4": 8})]
)
def test_raise_with_the_lower_total_price_is_reported(price: str, raised: dict[str, int]) -> None:
    """Given pods that need 24 devices of a large pool, and 19 that also fit a small one, when both
    pools are too small, then the price of the large one decides.
    """
    pools = [
        pool("big", gpus=8, at_most=3, usd=price),
        pool("l4", gpus=1, at_most=8, usd="1"),
    ]
    shapes = [workload("large", 6, gpus=4), workload("small", 19, gpus=1)]
    sizing = Sizer.of(demand(*shapes), pools, CLASSES, FEATURES).size("steady")
    assert {each.name: each.enough for each in sizing.pools} == raised
    assert sizing.pools[1].bound == 0  # the large pool can run these pods, too


@pytest.mark.parametrize("with_solver", [True, False])
def test_hundred_pools_of_different_sizes_are_sized(*, with_solver: bool) -> None:
    """The least common multiple of their capacities exceeds every float."""
    pools = [
        pool(f"p{n:03}", cpu=64_000 + 7 * n * n + 13 * n, at_most=1, usd=f"1.{n:03}")
        for n in range(120)
    ]
    shapes = [workload(f"w{n}", 40, gpus=1 + n % 3, cpu=1_000 + 37 * n) for n in range(12)]
    sizer = Sizer.of(demand(*shapes), pools, CLASSES, FEATURES, with_solver=with_solver)
    assert sizer.size("steady").nodes_bound > 0


def test_prices_beyond_floats_prove_the_same_bound() -> None:
    rows = (CapacityRow("cpu", 64, {0: 8}),)
    pools = tuple(BoundPool(minimum=0, maximum=9, rows=rows, most={0: 8}) for _ in range(2))
    model = BoundModel(demand={0: 60}, pools=pools)
    small = apply(Certificate(items={0: 1}), model)
    large = apply(Certificate(items={0: 10**400}), model)
    costs = [Fraction(2), Fraction(3)]
    assert large.cost(model, costs) == small.cost(model, costs) == 15
    assert large.estimate(model, costs) == pytest.approx(15)

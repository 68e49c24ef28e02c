"""The bounds of the order benchmark, on instances that are small enough to compute the bounds
manually.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

order_bounds = pytest.importorskip("order_bounds", reason="needs the extra solver")

from pack_instances import FIVE, _member, _offer, _pairs, _pod, _request  # noqa: E402

from dra_planner.model import ClaimSpec, Demand  # noqa: E402

GIB = 2**30
OFFERS = (replace(_offer(FIVE[0], "a", 0), hourly_usd=Decimal(1)),)
"""Machines of eight GPUs on four roots, with a NIC each."""


def demand(*pods: tuple[ClaimSpec, int]) -> Demand:
    made = (
        _member(_pod(at, 1000, GIB, claim, ()), count) for at, (claim, count) in enumerate(pods)
    )
    return Demand(shapes=tuple(made))


ONE_GPU = ClaimSpec(requests=(_request("gpu", "gpu", 1),))
FOUR_PAIRS = _pairs(4)


@pytest.mark.parametrize(("single", "least"), [(0, 10), (10, 10), (18, 11), (26, 12), (90, 20)])
def test_pods_of_one_gpu_block_roots_for_later_pods(single: int, least: float) -> None:
    """Ten nodes fit one such pod in addition to each of the ten later pods. Another node fits
    eight.
    """
    shapes = [(ONE_GPU, single), (FOUR_PAIRS, 10)][not single :]
    assert price_in_turn(demand(*shapes)) == pytest.approx(least)


@pytest.mark.parametrize("single", [1, 20, 40])
def test_later_pods_of_one_gpu_use_free_devices(single: int) -> None:
    assert price_in_turn(demand((FOUR_PAIRS, 10), (ONE_GPU, single))) == pytest.approx(10)


def price_in_turn(requested: Demand) -> float:
    return order_bounds.price_in_turn(requested, OFFERS)


def test_pods_of_one_gpu_fill_nodes_in_an_open_order() -> None:
    """Forty pods run on five nodes, except that one node of each kind can be partly filled, and ten
    other nodes are needed.
    """
    price = order_bounds.price_in_any_order(demand((ONE_GPU, 40), (FOUR_PAIRS, 10)), OFFERS)
    assert 13 <= price <= 15

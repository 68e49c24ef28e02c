"""The relaxation over many pools, computed from few pools: it proves the same bound as the whole
program, for all pools.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from dra_planner.sizing.bound.exact import BoundLimit, BoundModel, BoundPool, CapacityRow, apply
from dra_planner.sizing.bound.relaxation import Relaxation
from dra_planner.sizing.bound.sifting import sift

highspy = pytest.importorskip("highspy")


def many_pools(seed: int, *, limited: bool) -> tuple[BoundModel, list[int]]:
    """Sixty pools of every size and twelve items, in two cases out of three with maximums and a
    minimum.
    """
    chance = Random(seed)
    cpu = {item: chance.randint(1, 12) for item in range(12)}
    memory = {item: chance.randint(1, 30) for item in range(12)}
    pools, costs = [], []
    for size in range(60):
        capacity = 4 + 2 * size, chance.randint(8, 40) + 5 * size
        most = {item: min(capacity[0] // cpu[item], capacity[1] // memory[item]) for item in cpu}
        pools.append(
            BoundPool(
                minimum=chance.randint(0, 1) if limited and size % 20 == 0 else 0,
                maximum=chance.randint(1, 30) if limited else 10**6,
                rows=(
                    CapacityRow("cpu", capacity[0], cpu),
                    CapacityRow("memory", capacity[1], memory),
                ),
                most={item: count for item, count in most.items() if count},
            )
        )
        costs.append(capacity[0] * 30 + capacity[1] * 4 + chance.randint(0, 40))
    demand = {item: chance.randint(1, 200) for item in cpu}
    limits = (
        (BoundLimit("quota", 400, dict(enumerate(range(1, 61)))),) if limited and seed % 2 else ()
    )
    return BoundModel(demand=demand, pools=tuple(pools), limits=limits), costs


@pytest.mark.parametrize("seed", range(9))
def test_few_pools_prove_the_same_bound_as_all(seed: int) -> None:
    model, costs = many_pools(seed, limited=bool(seed % 3))
    exact = [Fraction(cost) for cost in costs]
    whole = Relaxation(model, highspy).cheapest([float(cost) for cost in costs])
    takers = [model.pools_of(item) for item in sorted(model.demand)]
    sifted = sift(model, [pools[-12:] for pools in takers], costs, highspy)
    assert (whole is None) == (sifted is None)
    if whole is None or sifted is None:
        return
    best, proved = (
        apply(each, model).cost(model, exact) for each in (whole[0], sifted.certificate)
    )
    assert best * Fraction(999, 1000) <= proved <= best * Fraction(1_000_001, 1_000_000)
    assert len(sifted.pools) < len(model.pools)


def test_proof_includes_pools_left_out_of_the_program() -> None:
    model, costs = many_pools(0, limited=False)
    sifted = sift(
        model, [model.pools_of(item)[-3:] for item in sorted(model.demand)], costs, highspy
    )
    assert sifted is not None
    left_out = set(range(len(model.pools))) - sifted.pools
    assert left_out
    assert left_out <= sifted.certificate.rows.keys()

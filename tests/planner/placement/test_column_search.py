"""The search for groups by column generation, against every partition of small instances."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from dra_planner.model import SharedLimit
from dra_planner.placement import Pools
from dra_planner.placement.assignment import Assignment
from dra_planner.placement.column_search import search_columns
from dra_planner.placement.workload_groups import GroupSizes, WorkloadGroup
from dra_planner.sizing import LevelNeeds, WorkNeeds

highspy = pytest.importorskip("highspy")

WORKS = 5
CAPACITIES = ((4, 40), (8, 64))  # GPUs and cpu of a node of each pool


def draw(seed: int) -> LevelNeeds:
    """Return five works that both pools fit."""
    rng = random.Random(seed)
    works = []
    for at in range(WORKS):
        gpus, cpu = rng.choice((1, 2, 4)), rng.randint(1, 12)
        fills = {
            pool: min(gpus_of // gpus, cpu_of // cpu)
            for pool, (gpus_of, cpu_of) in enumerate(CAPACITIES)
        }
        needs = dict.fromkeys((0, 1), (gpus, cpu))
        works.append(
            WorkNeeds(shapes=(f"w{at}",), count=rng.randint(1, 9), fills=fills, needs=needs)
        )
    devices = (True, False)
    return LevelNeeds(
        pools=("a", "b"), works=tuple(works), capacities=CAPACITIES, devices=(devices, devices)
    )


def pools_of(
    *, most: int = 100, whole: Sequence[int] = (), limits: Sequence[SharedLimit] = ()
) -> Pools:
    return Pools(
        names=("a", "b"),
        costs=((53,), (100,)),
        least=(0, 0),
        most=(most, 100),
        limits=tuple(limits),
        whole=frozenset(whole),
    )


def partitions(works: Sequence[int]) -> Iterator[list[list[int]]]:
    if not works:
        yield []
        return
    first, *rest = works
    for each in partitions(rest):
        yield [[first], *each]
        for at, block in enumerate(each):
            yield [*each[:at], [first, *block], *each[at + 1 :]]


def every_assignment(pools: Pools, sizes: GroupSizes) -> Iterator[Assignment]:
    for blocks in partitions(range(WORKS)):
        for where in product((0, 1), repeat=len(blocks)):
            groups = [
                WorkloadGroup(pool, frozenset(block))
                for pool, block in zip(where, blocks, strict=True)
            ]
            if all(where.count(pool) <= 1 for pool in pools.whole):
                yield Assignment(pools, sizes, groups, steps=0)


def one_group(pools: Pools, sizes: GroupSizes) -> Assignment:
    """Return the assignment of all works to one group on the second pool."""
    return Assignment(pools, sizes, [WorkloadGroup(1, frozenset(range(WORKS)))], steps=10**7)


@pytest.mark.parametrize("seed", range(30))
def test_search_finds_the_cheapest_partition(seed: int) -> None:
    sizes, pools = GroupSizes(draw(seed)), pools_of()
    best = min(each.cost[0] for each in every_assignment(pools, sizes))

    found = search_columns(one_group(pools, sizes), highspy)

    assert sorted(work for group in found.groups for work in group.works) == list(range(WORKS))
    assert found.cost[0] == best


@pytest.mark.parametrize("seed", range(10))
def test_search_respects_maximums_and_indivisible_pools(seed: int) -> None:
    """Given at most 3 nodes of the cheap pool, which can't be split, expect the cheapest partition
    within that.
    """
    sizes, pools = GroupSizes(draw(seed)), pools_of(most=3, whole=(0,))
    best = min(each.cost[0] for each in every_assignment(pools, sizes))

    found = search_columns(one_group(pools, sizes), highspy)

    assert best[0] == 0, "the case has a solution within the maximum"
    assert found.cost[0] == best
    assert sum(group.pool == 0 for group in found.groups) <= 1


@pytest.mark.parametrize("seed", range(10))
def test_search_respects_shared_limits(seed: int) -> None:
    """Given 40 vCPUs for two pools whose nodes use 8 (cheap pool) and 4 vCPUs, expect the cheapest
    partition within this limit.
    """
    quota = SharedLimit(name="quota", most=40, unit="vCPU", takes={"a": 8, "b": 4})
    sizes, pools = GroupSizes(draw(seed)), pools_of(limits=(quota,))
    best = min(each.cost[0] for each in every_assignment(pools, sizes))

    found = search_columns(one_group(pools, sizes), highspy)

    assert found.cost[0] == best


def test_search_without_steps_keeps_the_start() -> None:
    sizes, pools = GroupSizes(draw(1)), pools_of()
    start = one_group(pools, sizes)
    start.steps = 0

    assert search_columns(start, highspy) is start

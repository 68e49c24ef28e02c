"""Pod arrival orders that leave pods pending: works by size, and a search for worse orders."""

from __future__ import annotations

from collections.abc import Sequence

from dra_planner.placement.arrivals import NodeModel
from dra_planner.placement.hard_orders import arrange_by_size, find_failing_order
from dra_planner.placement.workload_groups import GroupSizes, WorkloadGroup
from dra_planner.sizing import LevelNeeds, WorkNeeds

# (pods, cpu, GiB, GPUs) of 17 workloads on nodes of 62 cpu, 416 GiB, and 4 GPUs. On Kubernetes
# 1.36.3, three of these pods stayed pending on 32 nodes when the two works of 164 GiB came last.
REHEARSED = (
    *((7, 4, 15, 1), (1, 1, 6, 1), (2, 23, 61, 2), (3, 7, 80, 1), (7, 7, 50, 1), (6, 7, 50, 1)),
    *((2, 3, 156, 1), (1, 7, 15, 1), (4, 24, 30, 2), (44, 6, 97, 1), (1, 15, 160, 2)),
    *((2, 18, 30, 1), (7, 11, 164, 1), (1, 4, 15, 1), (7, 12, 50, 1), (10, 3, 164, 1)),
    (1, 7, 205, 2),
)
NODE = (62, 416, 4)


def test_largest_workload_also_comes_last() -> None:
    """Given a small, a medium, and a large work, expect both ways by size, and the large one last
    after each.
    """
    found = arrange_by_size([(1, 1), (9, 2), (4, 1)], (10, 4))

    assert found[0] == (0, 2, 1)
    assert (1, 2, 0) in found
    assert (2, 0, 1) in found


def test_workload_that_is_largest_in_one_resource_also_comes_last() -> None:
    found = arrange_by_size([(8, 1), (1, 4), (1, 1)], (10, 8))

    assert {each[-1] for each in found} >= {0, 1}


def test_recorded_pods_need_more_nodes_than_they_had() -> None:
    needs = LevelNeeds(
        pools=("t4x4",),
        works=tuple(
            WorkNeeds(shapes=(str(at),), count=pods, fills={0: 1}, needs={0: tuple(need)})
            for at, (pods, *need) in enumerate(REHEARSED)
        ),
        capacities=(NODE,),
        devices=((False, False, True),),
    )

    found = GroupSizes(needs, "pack").nodes(WorkloadGroup(0, frozenset(range(len(REHEARSED)))))

    assert found is not None
    assert found > 32


def test_search_finds_a_failing_order_that_is_not_by_size() -> None:
    """Given nodes on which every order by size places all pods, expect the search to find an order
    that doesn't: pods of two works alternate.
    """
    needs, pods, nodes = [(3, 1), (1, 3), (2, 1)], [4, 5, 4], 8
    arrangements = arrange_by_size(needs, (6, 4))

    def fails(order: Sequence[int], count: int) -> bool:
        return not NodeModel((6, 4), (False, True), needs).places_all(order, count, "pack")

    found = find_failing_order(arrangements, pods, nodes, fails)
    in_turn = [[at for at in each for _ in range(pods[at])] for each in arrangements]

    assert not any(fails(each, nodes) for each in in_turn)
    assert found is not None
    assert sorted(found) == [at for at, count in enumerate(pods) for _ in range(count)]
    assert fails(found, nodes)


def test_equal_pods_have_no_failing_order() -> None:
    def fails(order: Sequence[int], count: int) -> bool:
        return not NodeModel((8, 4), (False, True), [(2, 1)]).places_all(order, count, "spread")

    assert find_failing_order([(0,)], [8], 2, fails) is None

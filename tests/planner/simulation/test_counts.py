"""The number of nodes that place all pods in every pod arrival order, compared with the packing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from allocation_builders import CLASSES, claim, request, shape
from clusters import F36, bare, offer, workload
from msgspec.structs import replace

from dra_planner.allocation.node.pod_rules import PodView
from dra_planner.allocation.search.depth_first import STEP_BUDGET
from dra_planner.model import Demand, Shape
from dra_planner.simulation import (
    AT_ONCE,
    DEFAULT,
    REVERSED,
    SETTLED,
    ArrivalOrder,
    CountQuestion,
    Fix,
    KnownAnswers,
    Opened,
    SimulatedCounts,
    SimulatedPool,
    Simulator,
    check_orders,
    find_fixes,
    simulate_counts,
    standard_orders,
)
from dra_planner.simulation.cluster.nodes import predicted_nodes
from dra_planner.simulation.cluster.pod_kinds import Kinds

ONE_GPU, FOUR_GPUS = claim(request()), claim(request(count=4))
ORDERS = standard_orders(3)


def pool(
    name: str, packing: int, maximum: int, gpus: int = 4, cost: int = 1, minimum: int = 0
) -> SimulatedPool:
    made = replace(offer(name, gpus), origin="predicted", count_min=minimum, count_max=maximum)
    return SimulatedPool(offer=made, packing=packing, maximum=maximum, cost=(cost,))


def counts(shapes: Sequence[Shape], *pools: SimulatedPool, steps: int = 200_000) -> SimulatedCounts:
    demand = Demand(shapes=tuple(shapes))
    question = CountQuestion(
        demand=demand, pools=pools, classes=CLASSES, features=F36, orders=ORDERS
    )
    return simulate_counts(question, steps)


SMALL_AND_WHOLE = [
    workload(shape(ONE_GPU), 4, name="small", at=0),
    bare(shape(FOUR_GPUS), "whole", at=1),
]
"""Small pods are spread, so that no node is left whole unless there are as many more."""


def places_everything(
    shapes: Sequence[Shape], pools: Sequence[SimulatedPool], found: Mapping[str, int]
) -> bool:
    nodes = predicted_nodes([each.offer for each in pools], found)
    simulator = Simulator.of(Demand(shapes=tuple(shapes)), nodes, CLASSES, F36)
    return all(simulator.run(order).places_everything for order in ORDERS)


def test_packing_that_works_in_every_order_is_kept():
    found = counts([workload(shape(ONE_GPU), 8)], pool("a", 2, 4))
    assert (found.counts, found.at_packing, found.scale) == ({"a": 2}, (), 1)


def test_nodes_are_added_until_no_order_leaves_pods_pending():
    a = pool("a", 2, 9)
    found = counts(SMALL_AND_WHOLE, a)
    assert {each.order.name for each in found.at_packing} >= {"settled"}
    assert all(each.pods == 1 for each in found.at_packing)
    assert found.counts is not None
    assert found.counts["a"] > 2
    assert places_everything(SMALL_AND_WHOLE, [a], found.counts)
    fewer = {"a": found.counts["a"] - 1}
    assert not places_everything(SMALL_AND_WHOLE, [a], fewer)


def test_nodes_opened_for_another_level_give_the_same_answer():
    pools = (pool("a", 2, 9), pool("b", 1, 9, gpus=2, cost=2))
    question = CountQuestion(
        demand=Demand(shapes=tuple(SMALL_AND_WHOLE)),
        pools=pools,
        classes=CLASSES,
        features=F36,
        orders=ORDERS,
    )
    opened = Opened()
    simulate_counts(question, 200_000, opened=opened)
    peak = replace(
        question,
        level="peak",
        pools=tuple(replace(each, packing=each.packing - 1) for each in pools),
    )
    assert opened.known.states
    assert simulate_counts(peak, 200_000, opened=opened) == simulate_counts(peak, 200_000)


def test_cached_answers_of_other_nodes_are_the_same():
    demand, known = Demand(shapes=tuple(SMALL_AND_WHOLE)), KnownAnswers()
    offers = {name: pool(name, 0, 9, gpus).offer for name, gpus in (("a", 4), ("b", 2))}
    for counted in ({"a": 3}, {"a": 1, "b": 4}, {"a": 3}):
        nodes = predicted_nodes([offers[name] for name in counted], counted)
        fresh = Simulator.of(demand, nodes, CLASSES, F36)
        again = Simulator.of(demand, nodes, CLASSES, F36, known=known)
        for order in ORDERS:
            one, other = fresh.run(order), again.run(order)
            assert (one.placed, one.steps) == (other.placed, other.steps)
            assert one.pending.keys() == other.pending.keys()


def test_new_kinds_of_existing_pods_invalidate_the_cache():
    """Rules of pods can refer to pods that only the next nodes have."""
    kinds = Kinds()
    known = KnownAnswers(kinds=kinds)
    first = SMALL_AND_WHOLE[0]
    kinds.of_shape(first)
    before = known.answers({}, DEFAULT, STEP_BUDGET)
    assert known.answers({}, DEFAULT, STEP_BUDGET) is before
    kinds.of_bound(first.pod, PodView.of(first))
    assert len(known.answers({}, DEFAULT, STEP_BUDGET).rules) == 2


def test_no_counts_within_the_maximum_are_found():
    found = counts(SMALL_AND_WHOLE, pool("a", 2, 2))
    assert found.counts is None
    assert found.complete
    assert [each.order.name for each in found.at_maximum] == [
        each.order.name for each in found.at_packing
    ]
    (ref,) = found.at_maximum[0].pending
    assert ref.name == "whole"


def test_cheaper_pool_grows():
    pools = pool("dear", 2, 9, cost=9, minimum=2), pool("cheap", 0, 9, cost=1)
    found = counts(SMALL_AND_WHOLE, *pools)
    assert found.counts is not None
    assert found.counts["dear"] == 2
    assert found.counts["cheap"] > 0


def test_packing_of_a_pool_shrinks_if_a_cheaper_pool_grows():
    pools = pool("dear", 2, 9, cost=9), pool("cheap", 0, 9, cost=1)
    found = counts(SMALL_AND_WHOLE, *pools)
    assert found.counts == {"dear": 0, "cheap": 5}
    assert found.cheapest
    assert places_everything(SMALL_AND_WHOLE, pools, found.counts)


TWO_AND_WHOLE = [
    workload(shape(claim(request(count=2))), 2, name="two", at=0),
    bare(shape(FOUR_GPUS), "whole", at=1),
]
"""Both pods of two spread over two nodes of four, and the whole one then finds none, unless smaller
nodes take them.
"""


def test_expensive_nodes_are_replaced_by_more_cheap_ones():
    pools = pool("four", 2, 9, cost=4), pool("two", 0, 9, gpus=2, cost=1)
    found = counts(TWO_AND_WHOLE, *pools)
    assert found.counts is not None
    every = [{"four": four, "two": two} for four in range(10) for two in range(10)]
    passing = [each for each in every if places_everything(TWO_AND_WHOLE, pools, each)]
    assert 4 * found.counts["four"] + found.counts["two"] == min(
        4 * each["four"] + each["two"] for each in passing
    )


WHOLE_AND_SMALL = [
    bare(shape(FOUR_GPUS), "whole", at=0),
    workload(shape(ONE_GPU), 4, name="small", at=1),
]
"""Everything is placed on two nodes as long as the whole one comes first."""


def checked(
    *pools: SimulatedPool, checks: Sequence[ArrivalOrder], steps: int = 200_000
) -> SimulatedCounts:
    demand = Demand(shapes=tuple(WHOLE_AND_SMALL))
    question = CountQuestion(
        demand=demand,
        pools=pools,
        classes=CLASSES,
        features=F36,
        orders=(SETTLED,),
        checks=tuple(checks),
    )
    return simulate_counts(question, steps)


def test_counts_that_fail_a_check_are_rejected():
    unchecked, found = (
        checked(pool("a", 2, 9), checks=()),
        checked(pool("a", 2, 9), checks=(AT_ONCE, REVERSED)),
    )
    assert (unchecked.counts, unchecked.orders) == ({"a": 2}, (SETTLED,))
    assert [each.order for each in found.at_packing] == [REVERSED]
    assert found.orders == (SETTLED, REVERSED)
    assert found.counts is not None
    assert found.counts["a"] > 2
    assert checked(pool("a", 2, found.counts["a"] - 1), checks=(REVERSED,)).counts is None


def test_checks_stay_within_the_maximum():
    found = checked(pool("a", 2, 2), checks=(REVERSED,))
    assert (found.counts, found.complete) == (None, True)
    assert [each.order for each in found.at_maximum] == [REVERSED]


def test_checks_use_half_of_the_remaining_steps():
    steps = checked(pool("a", 2, 9), checks=()).spent
    many = check_orders(range(1_000))
    found = checked(pool("a", 2, 9), checks=many, steps=2 * steps)
    assert found.complete
    assert found.spent < 2 * steps + 100
    assert all(order.seed is not None for order in many)


def test_large_demand_is_simulated_at_a_smaller_scale():
    found = counts([workload(shape(ONE_GPU), 8_000)], pool("a", 2_000, 3_000), steps=50_000)
    assert found.scale > 1
    assert found.counts == {"a": 2_000}


def test_counting_is_deterministic():
    assert counts(SMALL_AND_WHOLE, pool("a", 2, 9)) == counts(SMALL_AND_WHOLE, pool("a", 2, 9))


def fixes_of(
    shapes: Sequence[Shape], *pools: SimulatedPool, steps: int = 200_000
) -> tuple[Fix, ...]:
    question = CountQuestion(
        demand=Demand(shapes=tuple(shapes)),
        pools=pools,
        classes=CLASSES,
        features=F36,
        orders=ORDERS,
    )
    found = simulate_counts(question, steps)
    placements = {each.id: {pools[0].offer.name} for each in shapes}
    return find_fixes(question, found, placements, steps, steps)[0]


@pytest.mark.parametrize("multiple", [1, 3, 7])
def test_raised_maximum_can_be_built_and_is_sufficient(
    multiple: int,
):
    a = pool("a", 2, 2)
    a = replace(a, offer=replace(a.offer, count_multiple=multiple))
    (raised,) = [each for each in fixes_of(SMALL_AND_WHOLE, a) if each.kind == "maximum"]
    assert raised.counts["a"] % multiple == 0
    assert counts(SMALL_AND_WHOLE, replace(a, maximum=raised.counts["a"])).counts is not None


def test_no_fix_is_tried_without_steps():
    a = pool("a", 2, 2)
    question = CountQuestion(
        demand=Demand(shapes=tuple(SMALL_AND_WHOLE)),
        pools=(a,),
        classes=CLASSES,
        features=F36,
        orders=ORDERS,
    )
    assert find_fixes(question, simulate_counts(question, 200_000), {}, 0, 200_000) == ((), 0)


@pytest.mark.parametrize(("steps", "complete"), [(200_000, True), (60, False)])
def test_pods_pending_at_a_smaller_scale_are_confirmed_at_full_scale(steps: int, complete: bool):
    question = CountQuestion(
        demand=Demand(shapes=tuple(SMALL_AND_WHOLE)),
        pools=(pool("a", 2, 2),),
        classes=CLASSES,
        features=F36,
        orders=ORDERS,
    )
    found = simulate_counts(question, steps, scale=2)
    assert found.counts is None or found.scale == 2
    assert found.complete is complete
    assert bool(found.at_maximum) is (complete and found.counts is None)

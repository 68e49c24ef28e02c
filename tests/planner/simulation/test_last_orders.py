"""Pod arrival orders in which the pods of one workload come last."""

from __future__ import annotations

from allocation_builders import CLASSES, claim, request, shape
from clusters import F36, bare, offer, simulator, workload
from msgspec.structs import replace

from dra_planner.model import Demand, Shape
from dra_planner.simulation import (
    REVERSED,
    SETTLED,
    ArrivalOrder,
    CountQuestion,
    SimulatedPool,
    simulate_counts,
)
from dra_planner.simulation.arrival_orders import last_orders

SMALL = workload(shape(claim(request())), 4, name="small", at=0)
PAIRS = workload(shape(claim(request(count=2))), 2, name="pairs", at=1)
WHOLE = bare(shape(claim(request(count=4))), "whole", at=2)
SHAPES = (SMALL, PAIRS, WHOLE)


def demand(*shapes: Shape) -> Demand:
    return Demand(shapes=shapes)


def names(order: ArrivalOrder) -> list[str]:
    """The workloads in that order."""
    setting = simulator(SHAPES, [offer("a", 4)]).setting
    return [phase[0].workload.name for phase in order.phases(setting.documents())]


def test_each_workload_comes_last_in_several_orders() -> None:
    orders = last_orders(demand(*SHAPES), "steady")
    found = {tuple(names(order)) for order in orders}
    assert {each[-1] for each in found} == {"small", "pairs", "whole"}
    assert len(found) == 6


def test_workload_with_the_most_devices_is_tried_first() -> None:
    first, second, third, *_ = last_orders(demand(*SHAPES), "steady")
    assert str(first) == "Pod default/whole last (seed 21)"
    assert [each.arrivals[0].name for each in (second, third)] == ["pairs", "small"]


def test_many_pods_are_tried_in_fewer_orders() -> None:
    many = demand(workload(shape(claim(request())), 2_000, name="many", at=3), *SHAPES)
    assert len(last_orders(many, "steady")) == 4
    assert len(last_orders(demand(*SHAPES), "steady")) == 24


def test_single_workload_has_no_last_orders() -> None:
    per_node = workload(shape(claim(request())), 1, name="agent", kind="DaemonSet", at=4)
    assert last_orders(demand(SMALL, per_node), "steady") == ()


def test_counts_grow_if_a_middle_workload_can_come_last() -> None:
    """Given pods that use a whole node, between two workloads that the scheduler spreads over six
    nodes, expect a seventh node, which neither document order nor reversed order needs.
    """
    given = demand(SMALL, WHOLE, PAIRS)
    nodes = replace(offer("a", 4), origin="predicted", count_min=0, count_max=9)
    question = CountQuestion(
        demand=given,
        pools=(SimulatedPool(offer=nodes, packing=3, maximum=9, cost=(1,)),),
        classes=CLASSES,
        features=F36,
        orders=(SETTLED, REVERSED),
    )
    assert simulate_counts(question, 200_000).counts == {"a": 5}
    checked = replace(question, checks=last_orders(given, "steady"))
    assert simulate_counts(checked, 200_000).counts == {"a": 7}

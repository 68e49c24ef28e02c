"""Additional arrival orders with random ties between nodes, for pods with rules about others."""

from __future__ import annotations

from allocation_builders import CLASSES, claim, request, shape
from clusters import F36, ZONE, bare, offer, workload
from msgspec.structs import replace

from dra_planner.model import Demand, LabelSelector, PodAffinityTerm, Requirement, Shape
from dra_planner.simulation import (
    ArrivalOrder,
    CountQuestion,
    SimulatedPool,
    check_orders,
    count_checks,
    simulate_counts,
    standard_orders,
)

NEAR_LEADER = PodAffinityTerm(
    topology_key=ZONE, label_selector=LabelSelector((Requirement("app", "In", ("leader",)),))
)
LEADER = bare(shape(claim(request()), labels={"app": "leader"}), "leader", at=0)
FOLLOWER = bare(shape(claim(request(count=4)), pod_affinity=(NEAR_LEADER,)), "follower", at=1)


def ties(*shapes: Shape) -> list[ArrivalOrder]:
    """The orders that are tried only because of rules between pods."""
    plain = [replace(each, pod=replace(each.pod, pod_affinity=())) for each in shapes]
    usual = count_checks(Demand(shapes=tuple(plain)), "steady")
    return [each for each in count_checks(Demand(shapes=shapes), "steady") if each not in usual]


def pool(name: str, zone: str, nodes: int) -> SimulatedPool:
    own = replace(offer(name, 4, zone=zone), origin="predicted", count_min=nodes, count_max=90)
    return SimulatedPool(offer=own, packing=nodes, maximum=90, cost=(1,))


def test_pods_without_rules_about_others_have_no_further_orders() -> None:
    assert not ties(LEADER)
    assert len(ties(LEADER, FOLLOWER)) == 200


def test_many_pods_are_tried_in_fewer_orders() -> None:
    assert len(ties(workload(shape(claim(request())), 799, at=2), FOLLOWER)) == 5
    assert not ties(workload(shape(claim(request())), 4_000, at=2), FOLLOWER)


def test_counts_grow_if_a_rare_tie_leaves_a_pod_pending() -> None:
    """Given 60 equal nodes in one zone, one in another zone, and a pod that needs a whole node in
    the zone of an earlier pod, expect a second node in the other zone: the earlier pod gets any
    of the 61 nodes.
    """
    demand = Demand(shapes=(LEADER, FOLLOWER))
    question = CountQuestion(
        demand=demand,
        pools=(pool("many", "a", 60), pool("single", "b", 1)),
        classes=CLASSES,
        features=F36,
        orders=standard_orders(4),
        checks=check_orders(range(11, 14)),
    )
    assert simulate_counts(question, 2_000_000).counts == {"many": 60, "single": 1}
    checked = replace(question, checks=count_checks(demand, "steady"))
    assert simulate_counts(checked, 2_000_000).counts == {"many": 60, "single": 2}

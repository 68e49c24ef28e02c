"""Guards on whole platforms: found, proved at full scale, written to the plan file, and applied
again.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from platforms import Platform, platform

from dra_planner.fleet import read_fleet, split_pools
from dra_planner.model import Guards, PoolPart
from dra_planner.placement import GuardedCounts, GuardQuestion, find_guards
from dra_planner.plan import Plan, PlanRequest, judge_document, make_plan, plan_file
from dra_planner.plan.judgement import guarding
from dra_planner.planfile import file_text, parse_document
from dra_planner.simulation import ArrivalOrder, OrderName, Simulator, predicted_nodes
from dra_planner.sizing.bound.certificate import certificate_of
from dra_planner.sources import Source

pytestmark = pytest.mark.long

SEEDS = (
    ("eks", "small", 2),
    ("gke", "small", 1),
    ("aks", "small", 2),
    ("aks", "medium", 2),
    ("gke", "medium", 2),
)


def plan_of(given: Platform, placement: str = "guided") -> Plan:
    fleet = read_fleet({**given.fleet, "placement": placement})
    return make_plan(PlanRequest(sources=(Source("workloads.yaml", given.manifests),), fleet=fleet))


@pytest.fixture(scope="module", params=SEEDS, ids=lambda each: "-".join(map(str, each)))
def guided(request: pytest.FixtureRequest) -> Plan:
    return plan_of(platform(*request.param))


def test_guided_plan_fits_and_lists_its_guards(guided: Plan) -> None:
    assert guided.verdict == "fits"
    assert guided.guards.kinds


def test_guided_plan_costs_no_more_than_a_free_plan(guided: Plan) -> None:
    assert guided.guarded is not None
    assert guided.cost is not None
    free = guided.guarded.free_hourly_usd
    assert free is None or guided.cost.hourly_usd <= free


def test_bounds_also_hold_for_plans_without_guards(guided: Plan) -> None:
    """Guards only restrict placements, so the proven bound of the plan without guards also applies
    at every level.
    """
    assert guided.guarded is not None
    free = guided.guarded.free
    for level, sizing in guided.judgement.sizings.items():
        proved = free.sizings[level]
        assert (sizing.nodes_bound, sizing.hourly_bound) == (
            proved.nodes_bound,
            proved.hourly_bound,
        )
        for pool in sizing.pools:
            given = next((each.bound for each in proved.pools if each.name == pool.name), 0)
            assert pool.bound == given <= pool.plan
    assert guided.nodes_bound <= free.sizing.nodes_plan
    certificate = certificate_of(guided.judgement.sizing)
    assert certificate["bound"] == certificate_of(free.sizing)["bound"]


def test_every_pod_is_placed_in_untried_orders(guided: Plan) -> None:
    """Given other seeds, expect that the nodes of the plan place everything."""
    judgement = guided.judgement
    counts = {pool.name: pool.nodes.desired for pool in guided.pools}
    nodes = predicted_nodes(judgement.offers, counts)
    shapes = tuple(
        shape for shape in guided.demand.shapes if not judgement.on_system.intersection((shape.id,))
    )
    assert len(shapes) == len(guided.demand.shapes)  # nothing runs on the system pool
    simulator = Simulator.of(guided.demand, nodes, judgement.classes, judgement.features)
    for seed in (101, 102):
        assert simulator.run(ArrivalOrder("random", seed)).places_everything
        assert simulator.run(ArrivalOrder("shuffled", seed)).places_everything


def test_proof_tries_orders_by_size_unless_any_order_fits(guided: Plan) -> None:
    """Expect different orders, each of all workloads."""
    assert guided.guarded is not None
    orders = [each for each in guided.guarded.proof.orders if each.name == "by-size"]
    used = {pool.name for pool in guided.pools if pool.nodes.desired}
    assert bool(orders) == (set(guided.guarded.in_any_order) != used)
    if not orders:
        return
    assert len({each.arrivals for each in orders}) == len(orders) > 1
    for order in orders:
        assert set(order.arrivals) == {each.workload for each in guided.workloads}


def test_pools_that_fit_in_any_order_are_listed() -> None:
    """Given a pool whose nodes have one GPU, expect that its pods fit in any order, because each
    has a node.
    """
    plan = plan_of(platform("gke", "small", 1))
    assert plan.guarded is not None
    assert plan.guarded.in_any_order == ("l4",)


def test_pods_run_on_the_pools_of_their_rules(guided: Plan) -> None:
    judgement = guided.judgement
    assert judgement.simulated is not None
    for outcome in judgement.simulated.outcomes:
        for shape in guided.demand.shapes:
            rule = guided.guards.rule_for(shape)
            if rule is not None:
                for member in shape.members:
                    assert set(outcome.workloads[member.workload].groups) == {rule.pool}


def test_plan_file_contains_the_guards_and_has_the_same_verdict(guided: Plan) -> None:
    saved = parse_document(file_text(plan_file(guided)))
    assert saved.guards is not None
    assert saved.guards.guards == guided.guards
    again = judge_document(saved)
    assert again.verdict == "fits"
    assert [pool.name for pool in again.pools] == [pool.name for pool in guided.pools]
    rule_for = guided.guards.rule_for
    assert {each.id: rule_for(each) for each in again.demand.shapes} == {
        each.id: rule_for(each) for each in guided.demand.shapes
    }


def test_planning_is_deterministic() -> None:
    given = platform("gke", "small", 1)
    assert file_text(plan_file(plan_of(given))) == file_text(plan_file(plan_of(given)))


def test_exact_placement_has_a_rule_for_every_workload() -> None:
    plan = plan_of(platform("eks", "small", 2), "exact")
    named = {ref for rule in plan.guards.rules for ref, _ in rule.workloads}
    assert named == {each.workload for each in plan.workloads}
    assert not any(rule.templates for rule in plan.guards.rules)


def test_free_plan_has_no_guards() -> None:
    plan = plan_of(platform("eks", "small", 1), "free")
    assert plan.guarded is None
    assert "guards" not in plan_file(plan).document()


def test_parts_of_a_pool_share_its_maximum() -> None:
    """Given a pool of 4 to 9 nodes that is split, expect the minimum once and one limit of 9
    nodes.
    """
    given = platform("eks", "small", 1).fleet
    first = {**given["pools"][0], "count": {"min": 4, "max": 9}}
    fleet = read_fleet({**given, "pools": [first, *given["pools"][1:]]})
    name = first["name"]
    split = split_pools(fleet, (PoolPart(f"{name}-8", name), PoolPart(f"{name}-1", name)))
    assert [(pool.name, pool.count.min, pool.count.max) for pool in split.pools[:2]] == [
        (f"{name}-8", 4, 9),
        (f"{name}-1", 0, 9),
    ]
    (limit,) = split.limits
    assert limit.most == 9
    assert read_fleet(split.document()) == split


def test_empty_guards_change_nothing() -> None:
    fleet = read_fleet(platform("eks", "small", 1).fleet)
    assert split_pools(fleet, Guards().parts) is fleet


def test_workloads_with_one_template_on_one_pool_share_a_rule(guided: Plan) -> None:
    """Expect a rule by template if all its pods go to one pool, and by workload for other pods."""
    pools: dict[object, set[str]] = {}
    for shape in guided.demand.shapes:
        rule = guided.guards.rule_for(shape)
        for member in shape.members:
            assert member.templates
            for key in member.templates:
                place = "" if rule is None else f"{rule.pool} {rule.spread}"
                pools.setdefault(key, set()).add(place)
    decided = {key for key, found in pools.items() if len(found) == 1 and "" not in found}
    assert {key for rule in guided.guards.rules for key in rule.templates} == decided
    named = {ref for rule in guided.guards.rules for ref, _ in rule.workloads}
    for shape in guided.demand.shapes:
        for member in shape.members:
            assert not (decided.intersection(member.templates) and member.workload in named)


RESILIENT = {"steer pack": ("eks", "small", 40), "steer split spread": ("gke", "medium", 2)}


@pytest.fixture(scope="module", params=RESILIENT)
def resilient(request: pytest.FixtureRequest) -> Plan:
    """Given rollouts with a surge, and any node that may be lost."""
    given = platform(*RESILIENT[request.param])
    surge = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    objects = copy.deepcopy(given.objects)
    for each in objects:
        if each["kind"] == "Deployment":
            each["spec"]["strategy"] = surge
    plan = plan_of(
        replace(given, objects=objects, fleet={**given.fleet, "redundancy": {"nodes": 1}})
    )
    assert " ".join(plan.guards.kinds) == request.param
    return plan


def test_guards_hold_for_rollouts(resilient: Plan) -> None:
    judgement = resilient.judgement
    peak = judgement.simulations["peak"]
    assert judgement.sizings["peak"].verdict == "fits"
    assert peak.counts is not None
    assert resilient.guarded is not None
    assert peak.orders == resilient.guarded.proof.orders


def test_autoscaled_fleet_has_no_spread_guards() -> None:
    """Given pods that arrive before their nodes, expect no guard by which they would spread over
    too few nodes.
    """
    given = platform("gke", "medium", 2)
    plan = plan_of(replace(given, fleet={**given.fleet, "autoscaler": "gke"}))
    assert plan.guards.kinds
    assert "spread" not in plan.guards.kinds


def test_guards_hold_after_the_loss_of_a_node(resilient: Plan) -> None:
    survival = resilient.judgement.survival
    assert resilient.verdict == "fits"
    assert survival is not None
    assert survival.tried
    assert survival.losses == ()


def test_expensive_free_plan_suggests_guards() -> None:
    """Given a platform that costs over half more without guards, expect the nodes of the guided
    plan as the cheapest fix.
    """
    given = platform("aks", "small", 1)
    free, guided = plan_of(given, "free"), plan_of(given)
    assert free.verdict == guided.verdict == "fits"
    fix = free.judgement.fixes[0]
    assert fix.kind == "guards"
    assert fix.guards == guided.guards
    assert sum(fix.counts.values()) == sum(pool.nodes.desired for pool in guided.pools)


def test_guards_of_a_joint_fix_are_searched_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given maximums that are too low, when guards are part of the change for all workloads, then
    the plan that confirms it uses the guards that were found for the fix.
    """
    searches = []

    def counted(question: GuardQuestion) -> GuardedCounts | None:
        searches.append(question)
        return find_guards(question)

    monkeypatch.setattr(guarding, "find_guards", counted)
    given = platform("aks", "small", 1)
    pools = [{**row, "count": {"min": 0, "max": 1}} for row in given.fleet["pools"]]
    given = replace(given, fleet={**given.fleet, "pools": pools})

    found = plan_of(given, "free").joint_fix

    assert found is not None
    assert found.steps[0].startswith("set placement to guided in the fleet")
    assert len(searches) == 1
    again = plan_of(replace(given, fleet=found.fleet.document()))
    assert again.verdict == "fits"


@pytest.mark.parametrize("name", ["at-once", "shuffled"])
def test_guarded_pods_are_rarely_pending_in_other_orders(name: OrderName) -> None:
    """Given controllers that race, or workloads in any order, expect no pod to be pending with the
    seeds of the proof, and hardly ever with others.
    """
    plan = plan_of(platform("aks", "small", 2))
    assert plan.guarded is not None
    assert ArrivalOrder(name, 14) in plan.guarded.proof.orders
    counts = {pool.name: pool.nodes.desired for pool in plan.pools}
    judgement = plan.judgement
    simulator = Simulator.of(
        plan.demand,
        predicted_nodes(judgement.offers, counts),
        judgement.classes,
        judgement.features,
    )
    orders = [ArrivalOrder(name, seed) for seed in range(100, 140)]
    assert sum(not simulator.run(order).places_everything for order in orders) <= 2

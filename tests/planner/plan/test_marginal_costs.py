"""Cost of one more pod or node, free capacity on planned nodes, cost of claims, and reasons for
stranded devices.

The reference search considers only GPUs and prices. It tries every number of nodes in each pool,
and every placement of pods.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from functools import cache
from itertools import product

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan
from dra_planner.plan.nodes.cost_shares import claim_shares, cost_shares, namespace_shares
from dra_planner.plan.nodes.groups import fill_nodes
from dra_planner.plan.nodes.stranded import stranded_reasons
from dra_planner.plan.suggestion.marginal_costs import OneMore, find_one_more
from dra_planner.sources import Source

GPUS = {"g6.2xlarge": 1, "g6.12xlarge": 4, "p5.48xlarge": 8}
Pools = dict[str, int]
Pods = dict[str, tuple[int, int]]  # name: replicas, GPUs of each

CASES: dict[str, tuple[Pools, Pods]] = {
    "full nodes": ({"g6.2xlarge": 5}, {"a": (3, 1)}),
    "free capacity on a large node": ({"g6.12xlarge": 3}, {"a": (1, 2), "b": (1, 1)}),
    "one more small node, or a large one": (
        {"g6.2xlarge": 2, "g6.12xlarge": 2},
        {"a": (5, 1), "b": (1, 3)},
    ),
    "a pool at its maximum moves pods to the expensive pool": (
        {"g6.2xlarge": 2, "g6.12xlarge": 2},
        {"a": (3, 1)},
    ),
    "two pods on one node, filled differently": ({"p5.48xlarge": 3}, {"a": (2, 5), "b": (2, 2)}),
    "no capacity for one more pod": ({"g6.12xlarge": 1}, {"a": (2, 2)}),
}


def fits(pods: list[int], nodes: list[int]) -> bool:
    """Return whether pods that request this number of GPUs each fit on nodes with this number of
    GPUs.
    """
    if not pods:
        return True
    tried = set()
    for at, free in enumerate(nodes):
        if free >= pods[0] and free not in tried:
            tried.add(free)
            if fits(pods[1:], [*nodes[:at], free - pods[0], *nodes[at + 1 :]]):
                return True
    return False


def cheapest(pools: Pools, pods: Pods, prices: dict[str, Decimal]) -> Decimal | None:
    requested = sorted(
        (gpus for replicas, gpus in pods.values() for _ in range(replicas)), reverse=True
    )
    found = [
        sum(
            (prices[machine] * count for machine, count in zip(pools, counts, strict=True)),
            Decimal(0),
        )
        for counts in product(*(range(most + 1) for most in pools.values()))
        if fits(
            requested,
            [
                GPUS[machine]
                for machine, count in zip(pools, counts, strict=True)
                for _ in range(count)
            ],
        )
    ]
    return min(found, default=None)


def planned(pools: Pools, pods: Pods) -> Plan:
    where = fleet(*((machine, {"min": 0, "max": most}) for machine, most in pools.items()))
    return plan_of(where, *(deployment(name, *each) for name, each in pods.items()), steps=0)


@cache
def of_case(case: str) -> tuple[Plan, OneMore]:
    plan = planned(*CASES[case])
    return plan, more_of(plan)


def more_of(plan: Plan) -> OneMore:
    found = find_one_more(plan)
    assert found is not None
    return found


def prices_of(plan: Plan) -> dict[str, Decimal]:
    return {pool.machine: pool.hourly_usd or Decimal(0) for pool in plan.pools}


@pytest.mark.parametrize("case", CASES)
def test_cost_of_one_more_pod_matches_an_exhaustive_search(case: str) -> None:
    pools, pods = CASES[case]
    plan, found = of_case(case)
    prices = prices_of(plan)
    before = cheapest(pools, pods, prices)
    assert plan.cost is not None
    assert plan.cost.hourly_usd == before
    for more in found.pods:
        replicas, gpus = pods[more.workload.name]
        after = cheapest(pools, {**pods, more.workload.name: (replicas + 1, gpus)}, prices)
        assert (more.verdict == "fits") == (after is not None), more
        assert more.hourly_usd == (None if after is None or before is None else after - before), (
            more
        )
        if after is not None and before is not None:
            machines = {pool.name: pool.machine for pool in plan.pools}
            assert (
                sum((prices[machines[name]] * nodes for name, nodes in more.nodes), Decimal(0))
                == after - before
            )


@pytest.mark.parametrize("case", CASES)
def test_free_capacity_matches_the_free_devices_of_the_nodes(case: str) -> None:
    _, pods = CASES[case]
    plan, found = of_case(case)
    free = Counter(
        {
            at: sum(not device.holders for device in group.devices)
            for at, group in enumerate(fill_nodes(plan).groups)
        }
    )
    nodes = [group.nodes for group in fill_nodes(plan).groups]
    for more in found.pods:
        gpus = pods[more.workload.name][1]
        assert more.room == sum(nodes[at] * (left // gpus) for at, left in free.items()), more


@pytest.mark.parametrize("case", CASES)
def test_savings_of_a_raised_maximum_match_an_exhaustive_search(case: str) -> None:
    pools, pods = CASES[case]
    plan, found = of_case(case)
    prices = prices_of(plan)
    before = cheapest(pools, pods, prices)
    by_pool = {each.pool: each for each in found.nodes}
    for pool in plan.pools:
        after = cheapest({**pools, pool.machine: pools[pool.machine] + 1}, pods, prices)
        assert before is not None
        assert after is not None
        assert (by_pool[pool.name].saves_usd, by_pool[pool.name].pods) == (before - after, 0)


def test_savings_of_a_raised_quota_match_its_plan() -> None:
    def quota(limit: int) -> Plan:
        where = fleet(("g6.2xlarge", {"max": 4}), ("g6.12xlarge", {"max": 4})).document()
        where["quotas"] = [
            {"name": "small", "unit": "nodes", "limit": limit, "machines": ["g6.2*"]}
        ]
        return plan_of(read_fleet(where), deployment("a", 3, 1), steps=0)

    costs = [plan.cost.hourly_usd for plan in map(quota, (2, 3, 4)) if plan.cost is not None]
    by_limit = [[each for each in more_of(quota(limit)).nodes if not each.pool] for limit in (2, 3)]
    assert [[(each.name, each.saves_usd, each.pods) for each in nodes] for nodes in by_limit] == [
        [('quota "small"', costs[0] - costs[1], 0)],
        [('quota "small"', Decimal(0), 0)],
    ]
    assert costs[0] > costs[1] == costs[2]


def test_raised_maximum_places_more_pods_if_not_all_fit() -> None:
    (more,) = more_of(planned({"g6.12xlarge": 1}, {"a": (3, 2)})).nodes
    assert (more.pool, more.saves_usd, more.pods) == ("g6-12xlarge", None, 1)


SHARED = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one, namespace: default}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
---
"""


def test_pods_of_a_shared_claim_can_be_added_only_on_its_node() -> None:
    text = deployment("web", 2).text.replace(
        "resourceClaimTemplateName: web", "resourceClaimName: one"
    )
    web = Source("web.yaml", SHARED + text)
    alone = more_of(plan_of(fleet(("g6.2xlarge", {"max": 4})), web, steps=0)).pods
    beside = more_of(
        plan_of(fleet(("g6.2xlarge", {"max": 4})), web, deployment("b", 2), steps=0)
    ).pods
    rooms = [{each.workload.name: each.room for each in pods}["web"] for pods in (alone, beside)]
    assert rooms[0] == rooms[1]
    assert rooms[0]


def test_claims_and_namespaces_have_costs() -> None:
    """Two nodes of 4 GPUs: 2 claims of 2 GPUs, 3 of one; in a namespace each."""
    other = Source(
        "b.yaml", deployment("b", 3, 1).text.replace("namespace: default", "namespace: team")
    )
    plan = plan_of(fleet(("g6.12xlarge", {"max": 4})), deployment("a", 2, 2), other, steps=0)
    filled = fill_nodes(plan)
    gpu = prices_of(plan)["g6.12xlarge"] / 4
    by_workload = {
        each.workload.name: (each.claim, each.claims, each.each_usd)
        for each in claim_shares(plan, filled)
    }
    assert by_workload == {"a": ("gpu", 2, round(2 * gpu, 4)), "b": ("gpu", 3, round(gpu, 4))}
    shares = cost_shares(plan, filled)
    sums = namespace_shares(shares)
    assert list(sums) == ["default", "team"]
    assert sum(sums.values()) + sum(
        each.hourly_usd for each in shares if each.workload is None
    ) == round(plan.cost.hourly_usd if plan.cost else Decimal(0), 4)


def test_shared_claim_is_paid_once() -> None:
    text = deployment("web", 3).text.replace(
        "resourceClaimTemplateName: web", "resourceClaimName: one"
    )
    plan = plan_of(fleet(("g6.2xlarge", {"max": 4})), Source("web.yaml", SHARED + text), steps=0)
    (share,) = claim_shares(plan, fill_nodes(plan))
    assert (share.claim, share.claims, share.each_usd) == (
        "default/one",
        1,
        round(prices_of(plan)["g6.2xlarge"], 4),
    )


def test_reason_for_stranded_devices_is_reported_per_workload() -> None:
    plan = planned({"p5.48xlarge": 4}, {"a": (2, 5), "b": (2, 4)})
    by_workload = {
        each.workload.name: each for each in stranded_reasons(plan) if each.workload is not None
    }
    assert set(by_workload) == {"a", "b"}
    assert by_workload["b"].devices == (("GPU", 6),)
    assert by_workload["b"].nodes == 2
    assert by_workload["b"].lacks == (
        "the pod requests 4 devices, but only 3 of the node's 8 devices are available: 5 are in use"
    )
    assert stranded_reasons(planned({"p5.48xlarge": 4}, {"a": (2, 5), "b": (2, 1)})) == ()

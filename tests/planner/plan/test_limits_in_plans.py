"""Quotas and reservations of a fleet, from its document to the built nodes."""

from __future__ import annotations

from typing import Any

import pytest
from plan_builders import deployment, plan_of

from dra_planner.errors import FleetError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.plan import judge_document, plan_file
from dra_planner.sources import Source

G_QUOTA = {
    "name": "Running On-Demand G and VT instances",
    "unit": "vcpus",
    "limit": 16,
    "machines": ["g*"],
}

CROWD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: crowd}
spec:
  replicas: 12
  selector: {matchLabels: {app: crowd}}
  template:
    metadata: {labels: {app: crowd}}
    spec:
      nodeSelector: {nvidia.com/gpu.present: "true"}
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers: [{name: main, image: crowd, resources: {requests: {cpu: 100m, memory: 100Mi}}}]
"""


def fleet(*pools: dict[str, Any], quotas: list[dict[str, Any]] | None = None, **more: Any) -> Fleet:
    return read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": "1.34",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "quotas": quotas or [],
            "pools": list(pools),
            **more,
        }
    )


def pool(name: str, machine: str = "g6.2xlarge", **more: Any) -> dict[str, Any]:
    return {"name": name, "machine": machine, "count": {"max": 6}, **more}


def built(plan: Any) -> dict[str, int]:
    return {each.name: each.nodes.desired for each in plan.pools}


def test_vcpu_quota_limits_two_pools_together() -> None:
    where = fleet(pool("a"), pool("b", "g6.xlarge"), quotas=[G_QUOTA])
    assert built(plan_of(where, deployment(replicas=4))) == {"a": 0, "b": 4}
    plan = plan_of(where, deployment(replicas=5))
    assert (plan.verdict, sum(each.pending for each in plan.workloads)) == ("does-not-fit", 1)
    (reason,) = [each for each in plan.workloads[0].reasons if each.code == "limit-too-small"]
    # a rollout adds two pods
    assert reason.fix == (
        'raise quota "Running On-Demand G and VT instances" to 28 vCPUs and raise the maximum of '
        'pool "b" to 7 (1 more node)'
    )
    changes = ("quotas.Running On-Demand G and VT instances.limit=28", "pools.b.count.max=7")
    raised = plan_of(change_fleet(where, map(read_change, changes)), deployment(replicas=5))
    assert (raised.verdict, raised.beside) == ("fits", ())


def test_reservation_is_used_before_on_demand_nodes() -> None:
    bought = pool("bought", capacity={"reservation": "cr-0123", "nodes": 2}, pricePerHour=0.5)
    plan = plan_of(fleet(bought, pool("behind")), deployment(replicas=5))
    assert (plan.verdict, built(plan)) == ("fits", {"bought": 2, "behind": 3})
    (use,) = plan.limits
    assert (use.limit.name, use.limit.most, use.used) == ("the reservation of bought", 2, 2)


def test_pools_with_one_capacity_block_share_its_nodes() -> None:
    block = {"capacityBlock": "cr-0123", "nodes": 2}
    pools = [
        pool(name, "p5.48xlarge", zones=["us-east-1a"], capacity=block, pricePerHour=9)
        for name in ("a", "b")
    ]
    assert plan_of(fleet(*pools), deployment(replicas=16)).verdict == "fits"
    plan = plan_of(fleet(*pools), deployment(replicas=17))
    assert plan.verdict == "does-not-fit"
    assert plan.workloads[0].reasons[0].fix == "raise the capacity block of a and b to 3 nodes"


def test_reservation_of_unknown_size_is_noted() -> None:
    unknown = fleet(pool("bought", capacity={"reservation": "cr-0123"}))
    assumption = (
        "pool bought: the number of reserved nodes isn't set, so the plan uses the pool's maximum"
    )
    assert assumption in plan_of(unknown, deployment()).assumptions
    known = fleet(pool("bought", capacity={"reservation": "cr-0123", "nodes": 3}))
    assert assumption not in plan_of(known, deployment()).assumptions


def test_system_pool_counts_toward_a_quota() -> None:
    quota = {"name": "all", "unit": "vcpus", "limit": 20}
    (limit,) = fleet(pool("a"), quotas=[quota]).limits
    assert (limit.most, limit.beside, dict(limit.takes)) == (16, 4, {"a": 8})
    plan = plan_of(fleet(pool("a"), quotas=[quota]), deployment(replicas=3))
    assert (
        plan.workloads[0]
        .reasons[0]
        .message.startswith('quota "all" allows 20 vCPUs, so 1 of 3 pods stays pending')
    )
    assert plan.workloads[0].reasons[0].fix == 'raise quota "all" to 36 vCPUs'  # with a rollout


def test_spot_quota_does_not_limit_other_capacity() -> None:
    quota = {"name": "spot", "unit": "gpus", "limit": 1, "capacity": ["spot"]}
    where = fleet(pool("spot", capacity="spot", pricePerHour=0.1), pool("behind"), quotas=[quota])
    assert built(plan_of(where, deployment(replicas=3))) == {"spot": 1, "behind": 2}


def test_rounded_counts_stay_within_the_quota() -> None:
    document: dict[str, Any] = {
        "cloud": "gke",
        "region": "us-central1",
        "kubernetes": "1.34",
        "network": {"zones": ["us-central1-a", "us-central1-b"]},
        "systemPool": {"machine": "e2-standard-4"},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "quotas": [{"name": "NVIDIA_L4_GPUS", "unit": "gpus", "limit": 3}],
        "pools": [{"name": "l4", "machine": "g2-standard-8", "count": {"max": 6}}],
    }
    plan = plan_of(read_fleet(document), deployment(replicas=3))
    assert built(plan) == {"l4": 3}
    (finding,) = plan.diagnostics
    assert finding.code == "count-does-not-divide"
    assert finding.fix.endswith('or raise quota "NVIDIA_L4_GPUS" to 4 GPUs')
    document["quotas"][0]["limit"] = 4
    plan = plan_of(read_fleet(document), deployment(replicas=3))
    assert (plan.verdict, built(plan)) == ("fits", {"l4": 4})


def test_plan_file_is_evaluated_within_its_fleets_limits() -> None:
    plan = plan_of(fleet(pool("a"), quotas=[G_QUOTA]), deployment(replicas=2))
    again = judge_document(plan_file(plan))
    assert (again.verdict, again.limits) == ("fits", plan.limits)


def test_unknown_amount_in_a_quota_is_an_error() -> None:
    with pytest.raises(
        FleetError,
        match=r"the number of addresses of p6e-gb200\.36xlarge is unknown; count nodes",
    ):
        fleet(
            {"name": "rack", "machine": "p6e-gb200.36xlarge", "count": 1},
            quotas=[{"name": "q", "unit": "addresses", "limit": 100}],
        )


def test_pod_dependent_addresses_are_also_unknown_for_a_plan_file() -> None:
    few = {"name": "subnets", "unit": "addresses", "limit": 70, "machines": ["g6.*"]}
    where = fleet(pool("a"), quotas=[few])
    assert plan_of(where, deployment(replicas=2)).running == "fits"
    crowd = Source("crowd.yaml", CROWD)
    plan = plan_of(where, deployment(replicas=2), crowd)
    assert (plan.running, built(plan)) == ("cannot-tell", {"a": 2})
    (finding,) = plan.diagnostics
    assert (finding.code, finding.fix) == (
        "addresses-may-run-out",
        'raise quota "subnets" to 90 addresses',
    )
    assert judge_document(plan_file(plan)).verdict == "cannot-tell"
    raised = change_fleet(where, [read_change("quotas.subnets.limit=90")])
    assert plan_of(raised, deployment(replicas=2), crowd).verdict == "fits"

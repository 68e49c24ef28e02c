"""Reported minimums are correct: minimum nodes, minimum prices, and the minimum for all pools
together.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from dra_command.plan_report.cost_sentences import costs
from dra_command.plan_report.headline import headline
from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

CLAIMING = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: PODS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
      containers: [{name: a, image: registry.example/a:1, resources: {claims: [{name: gpu}]}}]
"""
GPUS = {"small": ("g6.2xlarge", 1), "large": ("g6.12xlarge", 4)}
ONE, FOUR = "small", "large"


def planned(pods: int, prices: dict[str, float | None], most: int = 4) -> Plan:
    pools: list[dict[str, Any]] = [
        {"name": name, "machine": GPUS[name][0], "count": {"max": most}, "pricePerHour": price}
        if price is not None
        else {
            "name": name,
            "machine": "p5.48xlarge",
            "count": {"max": most},
            "zones": ["us-east-1a"],
            "capacity": {"capacityBlock": "cr-0123"},
        }
        for name, price in prices.items()
    ]
    document = {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.34",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": pools,
    }
    work = Source("web.yaml", CLAIMING.replace("PODS", str(pods)))
    return make_plan(PlanRequest(sources=(work,), fleet=read_fleet(document), steps=0))


def fewest(pods: int, most: int = 4) -> int:
    """Return the minimum number of nodes, by trying every number of nodes for each pool."""
    return min(
        sum(each) for each in product(range(most + 1), repeat=2) if each[0] + 4 * each[1] >= pods
    )


@pytest.mark.parametrize(
    ("case", "pods", "prices", "expected"),
    [
        ("two cheap nodes instead of one", 2, {ONE: 1, FOUR: 5},
         "2 GPU nodes, USD 2.00 per hour, prices from the fleet; no plan costs less"),
        ("the cheapest is the fewest", 4, {ONE: 2, FOUR: 5},
         ("1 GPU node (provably the fewest), USD 5.00 per hour, prices from the fleet; no "
         "plan costs less")),
        ("either pool would do, so that none must have a node", 1, {ONE: 1, FOUR: 1},
         ("1 GPU node (provably the fewest), USD 1.00 per hour, prices from the fleet; no "
         "plan costs less")),
        ("a pool without a price that is not used", 2, {ONE: 1, "block": None},
         "2 GPU nodes, USD 2.00 per hour, prices from the fleet; it's unknown whether "
         "another plan costs less, because the price of pool block is unknown"),
        ("a pool without a price that is used", 5, {ONE: 1, "block": None},
         "1 GPU node (provably the fewest); cost unknown, because block doesn't have a price (set "
         "pricePerHour)"),
    ],
)  # fmt: skip
def test_each_bound_belongs_to_its_objective(
    case: str, pods: int, prices: dict[str, float | None], expected: str
) -> None:
    assert costs(planned(pods, prices)) == (expected,), case


@pytest.mark.parametrize("pods", [1, 2, 3, 4, 5, 8, 9, 15])
@pytest.mark.parametrize("large", [3, 9])
def test_fewest_nodes_are_reported_if_they_differ(pods: int, large: float) -> None:
    """The bounds of pools aren't added up, because each pool might not be needed."""
    plan = planned(pods, {ONE: 2, FOUR: large})
    built = sum(pool.nodes.desired for pool in plan.pools)
    assert sum(pool.bound for pool in plan.pools) <= plan.nodes_bound <= fewest(pods) <= built
    (sentence,) = costs(plan)
    assert ("provably the fewest" in sentence) == (plan.nodes_bound == built)
    assert "provably the fewest" not in sentence or built == fewest(pods)


WATCHING = """\
apiVersion: v1
kind: Namespace
metadata: {name: watch, labels: {resource.kubernetes.io/admin-access: "true"}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: all, namespace: watch}
spec:
  spec:
    devices:
      requests: [{name: gpus, exactly: {deviceClassName: gpu.nvidia.com, allocationMode: All, adminAccess: true}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: watch, namespace: watch}
spec:
  selector: {matchLabels: {app: watch}}
  template:
    metadata: {labels: {app: watch}}
    spec:
      resourceClaims: [{name: gpus, resourceClaimTemplateName: all}]
      containers: [{name: a, image: registry.example/a:1, resources: {claims: [{name: gpus}]}}]
"""


def test_daemon_set_pods_on_system_nodes_are_not_counted() -> None:
    fleet = planned(1, {ONE: 1.0}).fleet
    plan = make_plan(PlanRequest(sources=(Source("watch.yaml", WATCHING),), fleet=fleet))
    assert headline(plan).endswith(
        "up to 2 pods pending in 7 of 7 pod arrival orders even with every pool at its maximum"
    )

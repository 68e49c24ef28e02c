"""Pods on the system pool: their own fix, and a suggested fleet that is large enough for them."""

from __future__ import annotations

import pytest
from plan_builders import deployment

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.plan.suggestion.suggest import suggest_fleets
from dra_planner.plan.suggestion.suggestions import SuggestRequest
from dra_planner.sources import Source

API = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: api}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: api}}}}
  template:
    metadata: {{labels: {{app: api}}}}
    spec:
      containers: [{{name: main, image: i, resources: {{requests: {{cpu: "1", memory: 1Gi}}}}}}]
"""


def api(replicas: int) -> Source:
    return Source("api.yaml", API.format(replicas=replicas))


def test_pods_on_the_system_pool_keep_their_fix() -> None:
    document = {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.35",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "0.5.0"}},
        "pools": [{"name": "l4", "machine": "g6.xlarge", "count": {"max": 1}}],
    }

    plan = make_plan(
        PlanRequest(sources=(api(3), deployment(replicas=2)), fleet=read_fleet(document))
    )

    fixes = {each.workload.name: [reason.fix for reason in each.reasons] for each in plan.workloads}
    assert fixes["api"] == ['set the count of pool "system" to 4 (2 more nodes)']  # with a rollout
    assert fixes["web"][0].startswith('raise the maximum of pool "l4" to ')


SYSTEM = {"a pod for each default node": (1, 2), "more pods than the default nodes hold": (3, 3)}


@pytest.mark.parametrize("name", SYSTEM)
def test_suggested_fleet_has_enough_system_nodes(name: str) -> None:
    replicas, expected = SYSTEM[name]

    found = suggest_fleets(
        SuggestRequest(
            sources=(api(replicas), deployment()),
            cloud="eks",
            region="us-east-1",
            kubernetes="1.35",
            machines=("g6.xlarge",),
        )
    )

    assert found.best is not None
    assert found.best.fleet.system_pool.count == expected

"""Pods that spread over nodes, while the scheduler also counts the system nodes."""

from __future__ import annotations

from typing import Any

import pytest
from plan_builders import fleet

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
"""
SPREAD = """
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 4
  template:
    metadata: {labels: {app: train}}
    spec:
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      containers: [{name: c, image: x, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      topologySpreadConstraints:
        - maxSkew: SKEW
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: train}}
"""
ALSO_COUNTED = """
---
apiVersion: v1
kind: Pod
metadata: {name: proxy, labels: {app: train}}
spec: {containers: [{name: c, image: x}]}
"""


def plan(skew: int = 1, more: str = "", nodes: int = 1, **changes: Any) -> Plan:
    text = CLAIM + SPREAD.replace("SKEW", str(skew)) + more
    given = fleet(("g6.12xlarge", {"max": nodes})).document()
    request = PlanRequest(sources=(Source("m.yaml", text),), fleet=read_fleet({**given, **changes}))
    return make_plan(request)


@pytest.mark.parametrize(("skew", "nodes", "most"), [(1, 1, 1), (1, 3, 3), (3, 1, 3)])
def test_more_pods_than_the_nodes_can_run_do_not_fit(skew: int, nodes: int, most: int) -> None:
    made = plan(skew, nodes=nodes)

    assert made.verdict == "does-not-fit"
    (reason,) = made.workload("Job", "default", "train").reasons
    assert reason.code == "pod-cannot-be-scheduled"
    assert reason.message.endswith(f"so only {most} of 4 pods can run")
    assert reason.fix.startswith("add a required node affinity to the pods")


def test_enough_nodes_for_the_pods_fit() -> None:
    assert plan(nodes=4).verdict == "fits"


def test_fix_makes_the_pods_fit() -> None:
    affinity = """      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions: [{key: pulumi-dra/pool, operator: In, values: [g6-12xlarge]}]
"""
    assert plan(more=affinity).verdict == "fits"


@pytest.mark.parametrize(
    ("more", "changes"),
    [
        pytest.param(ALSO_COUNTED, {}, id="other counted pods on the system nodes"),
        pytest.param("", {"placement": "guided"}, id="guards"),
    ],
)
def test_result_is_not_certain_if_the_system_nodes_may_not_be_empty_or_counted(
    more: str, changes: dict[str, Any]
) -> None:
    assert plan(more=more, **changes).verdict != "does-not-fit"

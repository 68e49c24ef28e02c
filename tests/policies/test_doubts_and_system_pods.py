"""Estimates lead to advisory findings only; pods without claims are judged on the system pool."""

from __future__ import annotations

import pytest

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of

FLEET = read_fleet(
    {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.34",
        "systemPool": {"machine": "m5.large", "count": 2},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}}],
    }
)
TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
"""
TRAIN = (
    TEMPLATE
    + """
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
  containers: [{name: main, image: t, resources: {requests: {memory: %s}, claims: [{name: gpu}]}}]
"""
)
WEB = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: w, resources: {requests: {cpu: "%s"}}}]}
"""
FITTING = {
    "pod-fits-no-system-pool",
    "claim-fits-no-pool",
    "pool-maximum-too-small",
    "claim-cannot-be-judged",
}


@pytest.mark.parametrize(
    ("manifest", "codes"),
    [
        (TRAIN % "28Gi", set()),
        (TRAIN % "30Gi", {"claim-cannot-be-judged"}),
        (TRAIN % "40Gi", {"claim-fits-no-pool"}),
        (WEB % "1", set()),
        (WEB % "8", {"pod-fits-no-system-pool"}),
    ],
    ids=[
        "fits the estimate",
        "between estimate and machine",
        "beyond the machine",
        "a small pod",
        "a large pod",
    ],
)
def test_pods_get_the_expected_fitting_findings(manifest: str, codes: set[str]) -> None:
    plan = make_plan(PlanRequest(fleet=FLEET, sources=(Source("pod.yaml", manifest),)))
    assert plan.manifests is not None
    found = {
        finding.code
        for finding in check_all(
            view_of(plan.manifests, features_of(34), plan, lambda: plan.judgement)
        )
    }
    assert found & FITTING == codes


def test_the_message_names_the_system_pool() -> None:
    plan = make_plan(PlanRequest(fleet=FLEET, sources=(Source("pod.yaml", WEB % "8"),)))
    assert plan.manifests is not None
    messages = [
        finding.message
        for finding in check_all(
            view_of(plan.manifests, features_of(34), plan, lambda: plan.judgement)
        )
    ]
    assert any("doesn't fit on the system pool" in message for message in messages)


TWO_GROUPS = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray}
spec:
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: [{name: head, image: r}]}}
  workerGroupSpecs:
    - {groupName: fast, replicas: 1, rayStartParams: {}, template: {spec: {nodeSelector: {disk: fast},
       containers: [{name: main, image: r}]}}}
    - {groupName: zonal, replicas: 1, rayStartParams: {}, template: {spec: {nodeSelector:
       {topology.kubernetes.io/zone: us-east-1a}, containers: [{name: main, image: r}]}}}
"""


def test_only_pods_that_certainly_do_not_fit_are_errors() -> None:
    plan = make_plan(PlanRequest(fleet=FLEET, sources=(Source("ray.yaml", TWO_GROUPS),)))
    assert plan.manifests is not None
    found = {
        finding.message.partition(" on the system pool")[0]: finding.severity
        for finding in check_all(
            view_of(plan.manifests, features_of(34), plan, lambda: plan.judgement)
        )
        if finding.code == "pod-fits-no-system-pool"
    }
    assert found == {
        "RayCluster default/ray (fast) doesn't fit": "error",
        "RayCluster default/ray (zonal) might not fit": "note",
    }

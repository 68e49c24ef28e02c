"""Estimates, and facts known only at run time, cause *cannot tell*, never *does not fit*."""

from __future__ import annotations

from typing import Any

import pytest

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.sources import Source

FLEET = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}}],
}
POD = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: %(pods)s
  completions: %(pods)s
  template:
    spec:
      restartPolicy: Never
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      nodeSelector: %(labels)s
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
      containers:
      - name: main
        image: train
        resources: {requests: {memory: %(memory)s}, claims: [{name: gpu}]}
"""


def verdict_of(
    memory: str = "1Gi", labels: str = "{}", pods: int = 1, **pool: Any
) -> tuple[str, set[str]]:
    fleet = read_fleet({**FLEET, "pools": [{**FLEET["pools"][0], **pool}]})  # type: ignore[dict-item,index]
    text = POD % {"memory": memory, "labels": labels, "pods": pods}
    plan = make_plan(PlanRequest(fleet=fleet, sources=(Source("job.yaml", text),)))
    return plan.verdict, {reason.code for workload in plan.workloads for reason in workload.reasons}


# A g6.2xlarge has 32 GiB, of which the estimate subtracts 7.5%.
@pytest.mark.parametrize(
    ("memory", "verdict", "codes"),
    [
        ("28Gi", "fits", set()),
        ("30Gi", "cannot-tell", {"estimate-too-close"}),
        ("40Gi", "does-not-fit", {"insufficient-memory", "pool-missing"}),
    ],
)
def test_memory_between_estimate_and_maximum_is_a_doubt(
    memory: str, verdict: str, codes: set[str]
) -> None:
    assert verdict_of(memory) == (verdict, codes)


@pytest.mark.parametrize(
    ("labels", "zones", "verdict", "codes"),
    [
        ("{topology.kubernetes.io/zone: us-east-1a}", ["us-east-1a"], "fits", set()),
        (
            "{topology.kubernetes.io/zone: us-east-1b}",
            ["us-east-1a"],
            "does-not-fit",
            {"node-selector"},
        ),
        ("{topology.kubernetes.io/zone: us-east-1a}", [], "cannot-tell", {"label-unknown"}),
        ("{team: vision}", ["us-east-1a"], "does-not-fit", {"node-selector"}),
    ],
)
def test_unknown_cluster_labels_are_a_doubt(
    labels: str, zones: list[str], verdict: str, codes: set[str]
) -> None:
    assert verdict_of(labels=labels, zones=zones) == (verdict, codes)


def test_doubt_does_not_hide_missing_devices() -> None:
    assert verdict_of("30Gi", pods=9)[0] == "cannot-tell"
    assert verdict_of("28Gi", pods=9)[0] == "does-not-fit"

"""MIG slices that a constraint ties to one GPU: the bound counts them GPU by GPU."""

from __future__ import annotations

import pytest

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

FLEET = read_fleet(
    {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.36",
        "systemPool": {"machine": "m7i.large", "count": 2},
        "drivers": {"nvidia": {"version": "25.12.0", "featureGates": {"DynamicMIG": True}}},
        "pools": [{"name": "h100", "machine": "p5.48xlarge", "count": {"min": 0, "max": 2}}],
    }
)  # 16 GPUs of 8 memory slices
TIED = "constraints: [{matchAttribute: gpu.nvidia.com/parentUUID}]"
ONE_TIED = "constraints: [{requests: [r0], matchAttribute: gpu.nvidia.com/parentUUID}]"


def plan(pods: int, profiles: tuple[str, ...], constraints: str) -> Plan:
    requests = ", ".join(
        f"{{name: r{at}, exactly: {{deviceClassName: mig.nvidia.com, selectors: [{{cel: {{expression: "
        f"\"device.attributes['gpu.nvidia.com'].profile == '{profile}'\"}}}}]}}}}"
        for at, profile in enumerate(profiles)
    )
    text = f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: slices}}
spec: {{spec: {{devices: {{requests: [{requests}], {constraints}}}}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: web}}
spec:
  replicas: {pods}
  podManagementPolicy: Parallel
  serviceName: web
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      tolerations: [{{key: nvidia.com/gpu, operator: Exists}}]
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: slices}}]
      containers: [{{name: main, image: w, resources: {{claims: [{{name: gpu}}]}}}}]
"""
    return make_plan(PlanRequest(sources=(Source("w.yaml", text),), fleet=FLEET, steps=0))


@pytest.mark.parametrize(
    ("pods", "profiles", "constraints", "verdict"),
    [
        (20, ("3g.40gb", "1g.10gb"), TIED, "does-not-fit"),
        (17, ("3g.40gb", "1g.10gb"), TIED, "does-not-fit"),
        (16, ("3g.40gb", "1g.10gb"), TIED, "fits"),
        (17, ("3g.40gb", "1g.10gb"), "", "fits"),
        (17, ("3g.40gb", "1g.10gb"), ONE_TIED, "fits"),
        (32, ("2g.20gb", "1g.10gb"), TIED, "fits"),
        (33, ("2g.20gb", "1g.10gb"), TIED, "does-not-fit"),
    ],
    ids=[
        "4 pairs too many",
        "1 pair too many",
        "one pair on each GPU",
        "slices of any GPU",
        "only one of the slices is tied",
        "two smaller pairs on each GPU",
        "1 smaller pair too many",
    ],
)
def test_matched_partitions_are_counted_by_gpu(
    pods: int, profiles: tuple[str, ...], constraints: str, verdict: str
) -> None:
    assert plan(pods, profiles, constraints).judgement.sizing.verdict == verdict

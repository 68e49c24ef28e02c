"""Fleets and manifests in a few words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source, read_sources

EXAMPLES = Path(__file__).parents[3] / "examples"

DEPLOYMENT = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}, namespace: default}}
spec:
  spec:
    devices:
      requests: [{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com, count: {gpus}}}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: default}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      tolerations: [{{key: nvidia.com/gpu, operator: Exists}}]
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: {name}}}]
      containers:
        - name: main
          image: registry.example.com/app
          resources: {{requests: {{cpu: 500m, memory: {memory}}}, claims: [{{name: gpu}}]}}
"""


def deployment(name: str = "web", replicas: int = 1, gpus: int = 1, memory: str = "1Gi") -> Source:
    return Source(
        f"{name}.yaml", DEPLOYMENT.format(name=name, replicas=replicas, gpus=gpus, memory=memory)
    )


def fleet(
    *pools: tuple[str, Any], cloud: str = "eks", kubernetes: str = "1.34", autoscaler: str = "none"
) -> Fleet:
    """Return a fleet with these pools, each given as (machine, count). The name of a pool is its
    machine type.
    """
    region, system = (
        ("us-east-1", "m7i.large") if cloud == "eks" else ("us-central1", "e2-standard-4")
    )
    rows = [
        {"name": machine.replace(".", "-"), "machine": machine, "count": count}
        for machine, count in pools
    ]
    return read_fleet(
        {
            "cloud": cloud,
            "region": region,
            "kubernetes": kubernetes,
            "autoscaler": autoscaler,
            "systemPool": {"machine": system},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "pools": rows,
        }
    )


def example(name: str) -> tuple[Source, ...]:
    return read_sources([EXAMPLES / f"{name}.yaml"])


def plan_of(where: Fleet, *sources: Source, **options: Any) -> Plan:
    return make_plan(PlanRequest(sources=sources, fleet=where, **options))

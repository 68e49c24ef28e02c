"""Small plans to rehearse."""

from __future__ import annotations

import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
network: {zones: 2}
systemPool: {machine: m7i.large, count: 1}
drivers:
  nvidia: {version: 25.8.1}
pools:
  - {name: l4, machine: g6.2xlarge, count: {min: 0, max: 4}}
  - {name: a10g, machine: g5.12xlarge, count: {min: 0, max: 2}}
"""

TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly: {deviceClassName: gpu.nvidia.com}
"""

POD = """\
{
  tolerations: [{key: nvidia.com/gpu, operator: Exists}],
  containers: [{name: main, image: any, resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}}],
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}],
  }"""


def deployment(name: str, replicas: int) -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {POD}
"""


def sources(*documents: str) -> tuple[Source, ...]:
    return (Source("workloads.yaml", "---\n".join((TEMPLATE, *documents))),)


def plan_of(given: tuple[Source, ...], fleet: str = FLEET) -> Plan:
    return make_plan(PlanRequest(sources=given, fleet=read_fleet(yaml.safe_load(fleet))))

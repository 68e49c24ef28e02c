"""Small plans to rehearse."""

from __future__ import annotations

import yaml

import gpu_manifests
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

TEMPLATE = gpu_manifests.template("one-gpu")
POD = gpu_manifests.pod_spec("one-gpu", cpu="1")


def deployment(name: str, replicas: int) -> str:
    return gpu_manifests.deployment(name, replicas, "one-gpu", cpu="1")


def sources(*documents: str) -> tuple[Source, ...]:
    return (Source("workloads.yaml", "---\n".join((TEMPLATE, *documents))),)


def plan_of(given: tuple[Source, ...], fleet: str = FLEET) -> Plan:
    return make_plan(PlanRequest(sources=given, fleet=read_fleet(yaml.safe_load(fleet))))

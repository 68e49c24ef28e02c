"""Custom rules and reports about pods that the simulated scheduler places in other pools than the
packing.

The packing places the three pods of `embed` in the pool l4. The scheduler fills the free GPUs of
the pool h100 first, so the plan builds only nodes of h100.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from command_project import Project

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.35"
autoscaler: karpenter
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 0.4.1}}
pools:
  - {name: l4, machine: g6.2xlarge, zones: [us-east-1a], count: {min: 0, max: 6}}
  - {name: h100, machine: p5.48xlarge, capacity: spot, zones: [us-east-1a], count: {min: 0, max: 2}}
"""
WORKLOAD = """\
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: NAME}
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
            count: COUNT
            selectors: [{cel: {expression: "SELECTOR"}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: NAME}]
      containers: [{name: main, image: i:1, resources: {claims: [{name: gpu}]}}]
"""
RULE = """\
rules:
  no-spot-for-services:
    for: workload
    expression: workload.pools.all(name, plan.pools.all(p, p.name != name || p.capacity != "spot"))
    message: a service runs on Spot nodes
"""
H100 = "device.attributes['gpu.nvidia.com'].productName.lowerAscii().contains('h100')"
AT_LEAST_20_GI = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0"
RUN = ("k8s", "--fleet", "fleet.yaml")


def workload(name: str, count: int, replicas: int, selector: str) -> str:
    text = WORKLOAD.replace("NAME", name).replace("COUNT", str(count))
    return text.replace("REPLICAS", str(replicas)).replace("SELECTOR", selector)


@pytest.fixture
def built(project: Project) -> Project:
    project.write("fleet.yaml", FLEET)
    both = workload("embed", 1, 3, AT_LEAST_20_GI) + workload("llm", 4, 2, H100)
    project.write("k8s/all.yaml", both)
    return project


def test_rule_reads_the_pools_that_are_built(built: Project) -> None:
    built.write("pulumi-dra.yaml", RULE)
    done = built.run("check", *RUN)
    assert done.status == 1
    assert "Deployment default/embed: a service runs on Spot nodes" in done.out


def test_objects_describe_the_nodes_that_are_built(built: Project) -> None:
    plan: Mapping[str, Any] = yaml.safe_load(built.run("rules", "objects", *RUN).out)["plan"]
    pools = [(each["nodes"], each["devices"], each["usedDevices"]) for each in plan["pools"]]
    assert pools == [(0, 0, 0), (2, 16, 11)]
    assert [each["pools"] for each in plan["workloads"]] == [["h100"], ["h100"]]


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_reports_name_the_pool_that_is_built(built: Project, form: str) -> None:
    done = built.run("plan", *RUN, "--format", form, COLUMNS="200")
    assert "pool: as simulated, order settled" in done.out
    table = " ".join(
        done.out.partition("Pods per demand" if form == "html" else "steady")[2].split()
    )
    row = re.search("default/embed(.*?)✓", table)
    assert row is not None
    assert ("h100" in row[1], "l4" in row[1]) == (True, False)


def test_packing_has_its_own_column(built: Project) -> None:
    rows = built.run("plan", *RUN, "--format", "json").json["pools"]
    counts = [(row["count"]["packing"], row["count"]["simulated"]) for row in rows]
    assert counts == [(3, 0), (1, 2)]

"""Tables of a plan on narrow terminals: each workload has one line, and no two names are equal."""

from __future__ import annotations

import re

import pytest
from command_project import Project

WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: NAME}]
      containers: [{name: main, image: registry.example/c:1, resources: {claims: [{name: gpu}]}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: NAME, namespace: NAMESPACE}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
pools: [{name: inference-with-l4-in-zone-a, machine: g6.2xlarge, count: {max: 9}}]
"""


@pytest.mark.parametrize("columns", [80, 60])
def test_names_of_workloads_differ_on_narrow_terminals(columns: int, project: Project) -> None:
    names = [(f"team-{team}", f"recommendations-{number}") for team in (1, 2) for number in (1, 2)]
    texts = [WORKLOAD.replace("NAMESPACE", space).replace("NAME", name) for space, name in names]
    project.write("m.yaml", "---\n".join(texts))
    project.write("fleet.yaml", FLEET)

    words = ("plan", "m.yaml", "--fleet", "fleet.yaml")
    out = project.run(*words, COLUMNS=str(columns)).out

    table = out[out.index("Workloads") :].partition("\nfloor:")[0].splitlines()
    assert len(table) == 2 + len(names)
    assert max(map(len, table)) <= columns
    letters, cut = zip(
        *(re.split(r" {2,}", line)[0].split(" ", 1) for line in table[2:]), strict=True
    )
    assert (len(set(letters)), len(set(cut))) == (4, 4)

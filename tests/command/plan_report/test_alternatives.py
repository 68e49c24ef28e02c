"""Plans state which firstAvailable alternatives pods use, in agreement with the devices of
`--detail`.
"""

from __future__ import annotations

from collections import Counter

import pytest
from command_project import Project

WORKLOAD = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: any}
spec:
  spec:
    devices:
      requests:
        - name: gpu
          firstAvailable:
            - {name: two, deviceClassName: gpu.nvidia.com, count: 2}
            - {name: one, deviceClassName: gpu.nvidia.com, count: 1}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: any}]
      containers: [{name: main, image: registry.example/c:1, resources: {claims: [{name: gpu}]}}]
"""
FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
pools: [{name: l4, machine: MACHINE, count: {max: 4}}]
"""


@pytest.mark.parametrize(
    ("machine", "replicas"), [("g6.2xlarge", 3), ("g6.12xlarge", 2), ("g6.12xlarge", 5)]
)
def test_alternatives_are_counted_per_claim(machine: str, replicas: int, project: Project) -> None:
    project.write("m.yaml", WORKLOAD.replace("REPLICAS", str(replicas)))
    project.write("fleet.yaml", FLEET.replace("MACHINE", machine))
    words = ("plan", "m.yaml", "--fleet", "fleet.yaml")
    claims = project.run(*words, "--detail", "--format", "json").json["claims"]
    used = Counter(
        name for claim in claims for name in {each["request"] for each in claim["devices"]}
    )
    assert sum(used.values()) == replicas
    text = " ".join(project.run(*words).out.split())
    for form in (text, project.run(*words, "--format", "markdown").out):
        assert "of request gpu in claim default/web-gpu." in form
        for name, number in used.items():
            alternative = name.removeprefix("gpu/")
            pods = "1 pod uses" if number == 1 else f"{number} pods use"
            assert f"{pods} alternative {alternative}" in form


def test_no_alternatives_are_printed_without_them(project: Project) -> None:
    assert "alternative" not in project.run("plan", "--stack", "dev").out

"""`check` explains how to request devices of a driver that prepares only all devices of a node."""

from __future__ import annotations

import pytest
from command_project import Project

FLEET = """\
cloud: gke
region: us-central1
kubernetes: "1.36"
systemPool: {machine: e2-standard-4}
drivers: {tpu: true}
pools:
  - {name: tpu, machine: ct5lp-hightpu-4t, count: {min: 0, max: 4}}
"""
JOB = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: chips}
spec:
  spec:
    devices: {requests: [{name: tpu, exactly: {deviceClassName: tpu.google.com, count: 2}}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: half}
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations: [{key: google.com/tpu, operator: Exists}]
      resourceClaims: [{name: chips, resourceClaimTemplateName: chips}]
      containers: [{name: main, image: registry.example/a:1, resources: {claims: [{name: chips}]}}]
"""


@pytest.mark.parametrize("fixed", ["count: 4", "allocationMode: All"])
def test_fix_for_a_claim_of_some_chips_works(project: Project, fixed: str) -> None:
    project.write("fleet.yaml", FLEET)
    project.write("job.yaml", JOB)
    done = project.run("check", "job.yaml", "--fleet", "fleet.yaml")
    assert "→ request 4 devices, or set allocationMode to All" in done.out
    project.write("job.yaml", JOB.replace("count: 2", fixed))
    assert "claim-fits-no-pool" not in project.run("check", "job.yaml", "--fleet", "fleet.yaml").out

"""A Kubeflow Profile limits the pods in its namespace, and creates the namespace's objects."""

from __future__ import annotations

import pytest
from command_project import Project

WORKLOAD = """\
apiVersion: kubeflow.org/v1
kind: Profile
metadata: {name: team-a}
spec:
  owner: {kind: User, name: ann@example.com}
  resourceQuotaSpec: {hard: {pods: "1"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: team-a}
spec:
  replicas: 2
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec:
      serviceAccountName: default-editor
      containers: [{name: main, image: i}]
"""
CASES = {
    "the quota is too small": (WORKLOAD, 1),
    "the quota is enough": (WORKLOAD.replace('pods: "1"', 'pods: "3"'), 0),
    "the pods are in another namespace": (
        WORKLOAD.replace("namespace: team-a", "namespace: default").replace(
            "      serviceAccountName: default-editor\n", ""
        ),
        0,
    ),
}


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize("name", CASES)
def test_quota_of_a_profile_limits_its_namespace(project: Project, name: str, command: str) -> None:
    text, status = CASES[name]
    project.stack("kubernetes:", "manifests: complete\n    kubernetes:")
    project.write("pods.yaml", text)

    done = project.run(command, "pods.yaml", "--stack", "dev")

    assert done.status == status, done.out + done.err
    assert ("kf-resource-quota" in done.out) == bool(status)

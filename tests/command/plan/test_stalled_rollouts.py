"""A rollout that never finishes: the same severity and exit status in every subcommand."""

from __future__ import annotations

import pytest
from command_project import Project

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 0.4.1}}
pools: [{name: l4, machine: g6.2xlarge, count: MOST}]
"""
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
"""
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 1
  selector: {matchLabels: {app: NAME}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: LESS}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: c, image: registry.example/c, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      tolerations: [{operator: Exists}]
---
"""
RULE = "rollout-cannot-finish"


@pytest.fixture
def given(project: Project) -> Project:
    """Return a project with two nodes for the pods of two Deployments, of which only one can delete
    a pod first.
    """
    project.write("fleet.yaml", FLEET.replace("MOST", "2"))
    stuck = WEB.replace("NAME", "stuck").replace("LESS", "0")
    project.write("m.yaml", CLAIM + stuck + WEB.replace("NAME", "other").replace("LESS", "1"))
    return project


def test_check_and_plan_fail_although_the_pods_fit(given: Project) -> None:
    words = ("m.yaml", "--fleet", "fleet.yaml")
    plan, check = given.run("plan", *words), given.run("check", *words)

    assert (plan.status, check.status) == (1, 1)
    assert plan.out.startswith("✓ Fits: all 2 workloads on 2 GPU nodes")
    assert "1 rollout never finishes" in plan.out
    for done in (plan, check):
        assert f"error {RULE}: Deployment default/stuck fits, but" in " ".join(done.out.split())


def test_json_keeps_the_verdict_of_the_pods_and_of_the_rollout(given: Project) -> None:
    words = ("m.yaml", "--fleet", "fleet.yaml", "--format", "json")
    answer = given.run("plan", *words).json

    assert answer["verdict"] == "fits"
    assert {each["code"] for each in answer["diagnostics"] if each["severity"] == "error"} == {RULE}


@pytest.mark.parametrize(("name", "status"), [("stuck", 1), ("other", 0)])
def test_explain_fails_only_for_the_workload_with_the_rollout(
    given: Project, name: str, status: int
) -> None:
    words = ("m.yaml", "--fleet", "fleet.yaml")
    pod = given.run("explain", *words, "--pod", name)
    claim = given.run("explain", *words, "--claim", f"default/{name}-gpu")

    assert (pod.status, claim.status) == (status, status)
    assert ("its rollouts never finish" in pod.out) == bool(status)
    assert ("its rollouts never finish" in claim.out) == bool(status)


def test_matrix_fails_if_a_rollout_never_finishes(given: Project) -> None:
    words = ("plan", "m.yaml", "--fleet", "fleet.yaml", "--matrix")

    assert given.run(*words, "pools.l4.count=2,3").status == 1
    assert given.run(*words, "pools.l4.count=3,4").status == 0

"""Pods on nodes that the plan doesn't contain are counted apart from objects that aren't read."""

from __future__ import annotations

import pytest
from command_project import Project

ENGINE = """\
---
apiVersion: ai.example.com/v1
kind: Engine
metadata: {name: e, namespace: ml}
spec: {gpus: 2}
"""


def pod(name: str) -> str:
    return f"""\
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: ml}}
spec: {{nodeName: gpu-7, containers: [{{name: c, image: i}}]}}
"""


@pytest.mark.parametrize(
    ("manifests", "headline"),
    [
        (pod("a"), "Cannot tell: 1 pod names a node that isn't in the plan"),
        (pod("a") + pod("b"), "Cannot tell: 2 pods name nodes that aren't in the plan"),
        (
            pod("a") + ENGINE,
            "Cannot tell: 1 object isn't read, 1 pod names a node that isn't in the plan",
        ),
    ],
    ids=["one pod", "two pods", "a pod and an object"],
)
def test_headline_counts_pods_on_unknown_nodes(
    project: Project, manifests: str, headline: str
) -> None:
    project.write("all.yaml", manifests)

    done = project.run("plan", "all.yaml", "--stack", "dev")

    assert done.status == 3
    assert headline in " ".join(done.out.split())


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ml}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {nodeName: gpu-7, containers: [{name: c, image: i}]}
"""


@pytest.mark.parametrize("command", ["plan", "check"])
def test_finding_names_the_node_name(project: Project, command: str) -> None:
    project.write("all.yaml", pod("a"))

    done = project.run(command, "all.yaml", "--stack", "dev", "--format", "json")

    codes = [each["code"] for each in done.json["diagnostics"] if "gpu-7" in each["message"]]
    assert codes == ["node-name-set"]


def test_pods_of_a_workload_have_the_same_finding(project: Project) -> None:
    project.write("all.yaml", DEPLOYMENT)

    done = project.run("check", "all.yaml", "--stack", "dev", "--format", "json")

    assert done.status == 3
    codes = [each["code"] for each in done.json["diagnostics"] if "gpu-7" in each["message"]]
    assert codes == ["node-name-set"]
    planned = project.run("plan", "all.yaml", "--stack", "dev", "--format", "json")
    (workload,) = planned.json["workloads"]
    assert [each["code"] for each in workload["reasons"]] == ["node-name-set"]

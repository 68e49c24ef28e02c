"""Rollouts of DaemonSets with maxSurge on the nodes of a snapshot."""

from __future__ import annotations

import pytest
from command_project import Project

NODE = """\
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
status:
  nodeInfo: {{kubeletVersion: v1.36.3}}
  allocatable: {{cpu: 8, memory: 32Gi, pods: 30, nvidia.com/gpu: {gpus}}}
---
"""
AGENT = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent, namespace: default, uid: u1}}
spec:
  selector: {{matchLabels: {{app: agent}}}}
  updateStrategy: {{rollingUpdate: {{{strategy}}}}}
  template:
    metadata: {{labels: {{app: agent}}}}
    spec: {{containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}
---
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, labels: {{app: {app}}}{owner}}}
spec:
  nodeName: a
  containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]
status: {{phase: Running, conditions: [{{type: Ready, status: "True"}}]}}
---
"""
OWNER = (
    ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u1, "
    "controller: true}]"
)
SURGE = AGENT.format(strategy="maxSurge: 1, maxUnavailable: 0")
ONE = NODE.format(name="a", gpus=1)
TWO = NODE.format(name="a", gpus=2)
OLD = POD.format(name="agent-x", app="agent", owner=OWNER)
OTHER = POD.format(name="other", app="other", owner="")

# the snapshot and the manifests → the nodes without capacity for a second pod
CASES = {
    "a new DaemonSet on a node with one GPU": (ONE, SURGE, "node a has"),
    "a DaemonSet that runs on a node with one GPU": (ONE + SURGE + OLD, SURGE, "node a has"),
    "two nodes": (ONE + NODE.format(name="b", gpus=1), SURGE, "nodes a, b have"),
    "a second GPU that another pod uses": (TWO + OTHER, SURGE, "node a has"),
    "a second GPU for the surge": (TWO, SURGE, ""),
    "pods that are deleted first": (
        ONE,
        AGENT.format(strategy="maxSurge: 0, maxUnavailable: 1"),
        "",
    ),
}


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize("name", CASES)
def test_daemon_rollout(project: Project, name: str, command: str) -> None:
    snapshot, manifests, nodes = CASES[name]
    project.write("snapshot.yaml", snapshot)
    project.write("agent.yaml", manifests)

    done = project.run(command, "agent.yaml", "--observed", "snapshot.yaml")

    text = " ".join(done.out.split())
    assert done.status == (1 if nodes else 0), text
    assert ("DaemonSet default/agent never completes" in text) is bool(nodes)
    assert not nodes or f"but {nodes} capacity for only one" in text

"""The kubelet, not the scheduler, decides about new pods that name a node of the snapshot."""

from __future__ import annotations

import pytest
from command_project import Project

SNAPSHOT = """\
apiVersion: v1
kind: Node
metadata: {name: a, labels: {kubernetes.io/hostname: a}}
spec: {taints: [{key: drain, value: soon, effect: NoExecute}]}
status:
  nodeInfo: {kubeletVersion: v1.36.3}
  allocatable: {cpu: 8, memory: 32Gi, pods: 3, nvidia.com/gpu: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: old, namespace: default}
spec:
  nodeName: a
  containers:
  - name: c
    image: i
    ports: [{containerPort: 80, hostPort: 8080}]
    resources: {requests: {cpu: 6, nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}
status: {phase: Running}
"""
TOLERATES = "tolerations: [{operator: Exists}]"


def pod(name: str, spec: str = TOLERATES, container: str = "image: i") -> str:
    return (
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n"
        f"spec: {{nodeName: a, {spec}, containers: [{{name: c, {container}}}]}}\n"
    )


def requests(amounts: str) -> str:
    return f"image: i, resources: {{limits: {{{amounts}}}}}"


# manifests → words of the reason; "" if the kubelet admits all pods
NEW = {
    "a pod that fits": (pod("b", container=requests("cpu: 2")), ""),
    "too little CPU": (
        pod("b", container=requests("cpu: 3")),
        "it requests 3 CPUs, but only 2 of 8 CPUs are free",
    ),
    "no free GPU": (
        pod("b", container=requests("nvidia.com/gpu: 1")),
        "it requests 1 nvidia.com/gpu, but none is free on the node",
    ),
    "a resource that the node doesn't have": (pod("b", container=requests("amd.com/gpu: 1")), ""),
    "the second of two pods": (
        pod("b", container=requests("cpu: 2")) + pod("c", container=requests("cpu: 1")),
        "Pod default/c: spec.nodeName binds the pod to node a",
    ),
    "too many pods": (
        pod("b") + pod("c") + pod("d"),
        "the node already runs its maximum of 3 pods",
    ),
    "a used host port": (
        pod("b", container="image: i, ports: [{containerPort: 1, hostPort: 8080}]"),
        "another pod on the node already uses host port 8080",
    ),
    "another node's label": (
        pod("b", f"{TOLERATES}, nodeSelector: {{kubernetes.io/hostname: b}}"),
        "the pod's node selector or affinity doesn't select the node",
    ),
    "no toleration": (
        pod("b", "restartPolicy: Never"),
        "it doesn't tolerate the node's taint drain=soon:NoExecute",
    ),
}


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize("name", NEW)
def test_kubelet_decides(project: Project, name: str, command: str) -> None:
    manifests, reason = NEW[name]
    project.write("snapshot.yaml", SNAPSHOT)
    project.write("new.yaml", manifests)

    done = project.run(command, "new.yaml", "--observed", "snapshot.yaml")

    text = " ".join(done.out.split())
    assert done.status == (1 if reason else 0), text
    assert reason in text
    assert ("kubelet rejects" in text) is bool(reason)
    if reason:
        assert "remove spec.nodeName, so that the scheduler chooses a node" in text


def test_headline_says_that_pods_name_their_node(project: Project) -> None:
    project.write("snapshot.yaml", SNAPSHOT)
    project.write("new.yaml", pod("b"))

    done = project.run("plan", "new.yaml", "--observed", "snapshot.yaml")

    assert "Nothing to place: every pod in the manifests names its node" in done.out

"""Reasons of observed nodes: each names its node, and the fix helps on a running cluster."""

from __future__ import annotations

import pytest
from command_project import Project

PODS = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 2
  strategy: {type: Recreate}
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]
"""
CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 8, memory: 30Gi, pods: 58}, nodeInfo: {kubeletVersion: v1.36.0}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
spec: SPEC
status: {allocatable: {cpu: 8, memory: 30Gi, pods: 58}, nodeInfo: {kubeletVersion: v1.36.0}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: device.driver == "gpu.nvidia.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  {driver: gpu.nvidia.com, nodeName: n1, devices: [{name: gpu-0}],
   pool: {name: n1, generation: 1, resourceSliceCount: 1}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s2}
spec:
  {driver: gpu.nvidia.com, nodeName: n2, devices: [{name: gpu-0}],
   pool: {name: n2, generation: 1, resourceSliceCount: 1}}
"""
NOT_READY = "{taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}"


def words_of(project: Project, command: str, spec: str, pods: str = PODS) -> str:
    project.write("m.yaml", pods)
    project.write("cluster.yaml", CLUSTER.replace("SPEC", spec))
    return " ".join(project.run(command, "m.yaml", "--observed", "cluster.yaml").out.split())


@pytest.mark.parametrize(
    ("spec", "problem", "fix"),
    [
        ("{unschedulable: true}", "the node is cordoned", "run `kubectl uncordon n2`"),
        (
            NOT_READY,
            "the node isn't ready (taint node.kubernetes.io/not-ready:NoSchedule)",
            "repair the node",
        ),
    ],
)
def test_check_names_the_nodes_and_every_fix_of_the_plan(
    project: Project, spec: str, problem: str, fix: str
) -> None:
    checked, planned = (words_of(project, each, spec) for each in ("check", "plan"))
    assert f"on node n2, {problem}" in checked
    assert f"→ add a node; or {fix}" in checked
    assert f"n2: {problem} → {fix}" in planned


def test_problem_of_a_node_is_never_tolerated(project: Project) -> None:
    for command in ("check", "plan"):
        assert "add to the pod's tolerations" not in words_of(project, command, NOT_READY)


def test_priority_does_not_free_devices(project: Project) -> None:
    pods = PODS.replace(
        "      resourceClaims:", "      priorityClassName: high\n      resourceClaims:"
    )
    pods += "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 9\n"
    pods = pods.replace("replicas: 2", "replicas: 3")
    for command in ("check", "plan"):
        words = words_of(project, command, "{}", pods)
        assert "Preemption doesn't free devices, regardless of the pod's priority" in words


def test_taint_rule_of_a_running_cluster_is_applied(project: Project) -> None:
    rule = """---
apiVersion: resource.k8s.io/v1alpha3
kind: DeviceTaintRule
metadata: {name: broken}
spec:
  deviceSelector: {driver: gpu.nvidia.com, pool: n2}
  taint: {key: example.com/broken, effect: NoSchedule}
"""
    project.write("m.yaml", PODS)
    project.write("cluster.yaml", CLUSTER.replace("SPEC", "{}") + rule)
    for command in ("check", "plan"):
        done = project.run(command, "m.yaml", "--observed", "cluster.yaml")
        words = " ".join(done.out.split())
        assert "example.com/broken:NoSchedule (of DeviceTaintRule broken)" in words
        assert "no matches for kind" not in words
        assert done.status == 1


def test_class_that_the_snapshot_lacks_is_not_installed_again(project: Project) -> None:
    parts = CLUSTER.replace("SPEC", "{}").split("---\n")
    project.write("m.yaml", PODS)
    project.write("cluster.yaml", "---\n".join(each for each in parts if "DeviceClass" not in each))
    for command in ("check", "plan"):
        done = project.run(command, "m.yaml", "--observed", "cluster.yaml")
        words = " ".join(done.out.split())
        assert "although its driver publishes devices" in words
        assert "include the cluster's DeviceClasses in the snapshot" in words
        assert done.status == 3


def test_used_part_of_a_quota_is_named(project: Project) -> None:
    quota = """---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: default}
spec: {hard: {pods: "2"}}
status: {hard: {pods: "2"}, used: {pods: "1"}}
"""
    project.write("m.yaml", PODS)
    project.write("cluster.yaml", CLUSTER.replace("SPEC", "{}") + quota)
    words = " ".join(project.run("plan", "m.yaml", "--observed", "cluster.yaml").out.split())
    assert "limits pods to 2, of which 1 is used, which isn't enough for all pods" in words

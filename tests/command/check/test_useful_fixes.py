"""Fixes in `check` and `plan` that don't lead to the next finding."""

from __future__ import annotations

from command_project import Project

FLEET = """\
cloud: gke
region: us-central1
kubernetes: "1.36"
systemPool: {machine: e2-standard-4}
drivers: {nvidia: {version: 0.4.1}}
pools:
  - name: h100
    machine: a3-highgpu-1g
    count: {max: 2}
    capacity: spot
    taints: [{key: example.com/dedicated, value: x, effect: NoSchedule}]
  - {name: l4, machine: g2-standard-24, count: {max: 2}}
"""
WORKLOADS = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  nodeSelector: {node.kubernetes.io/instance-type: a3-highgpu-1g}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: two}]
  containers: [{name: main, image: registry.example/web:1, resources: {claims: [{name: gpu}]}}]
"""


def test_toleration_for_nodes_without_enough_devices_is_not_a_fix(project: Project) -> None:
    """A node of the tainted pool has one GPU, but the pod needs two."""
    project.write("fleet.yaml", FLEET)
    project.write("m.yaml", WORKLOADS)
    planned = project.run("plan", "m.yaml", "--fleet", "fleet.yaml", "--format", "json").json
    (workload,) = planned["workloads"]
    (fix,) = {reason["fix"] for reason in workload["reasons"]} - {""}
    checked = project.run("check", "m.yaml", "--fleet", "fleet.yaml", "--format", "json").json
    (error,) = [each for each in checked["diagnostics"] if each["severity"] == "error"]
    assert error["fix"] == fix
    assert fix.endswith("remove node.kubernetes.io/instance-type from the pod's nodeSelector")

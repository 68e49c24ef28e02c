"""Devices that a device plugin and a DRA driver allocate, in the text of a plan."""

from __future__ import annotations

from command_project import Project

SNAPSHOT = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  allocatable: {cpu: "48", memory: 192Gi, pods: "110", nvidia.com/gpu: "2"}
  nodeInfo: {kubeletVersion: v1.36.1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.nvidia.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.nvidia.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}]
"""
PODS = """\
apiVersion: v1
kind: Pod
metadata: {name: old}
spec: {containers: [{name: a, image: example/a:1, resources: {limits: {nvidia.com/gpu: 1}}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: new}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
  containers: [{name: a, image: example/a:1, resources: {claims: [{name: gpu}]}}]
"""


def test_quiet_plan_explains_why_it_cannot_tell(
    project: Project,
) -> None:
    project.write("cluster.yaml", SNAPSHOT)
    project.write("pods.yaml", PODS)

    done = project.run("plan", "pods.yaml", "--observed", "cluster.yaml", "--quiet")

    assert done.status == 3
    assert "Cannot tell" in done.out
    assert "don't know about each other's allocations" in " ".join(done.out.split())

"""Devices that a device plugin and a DRA driver allocate, in the text of a plan."""

from __future__ import annotations

import pytest
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


FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 0.4.1}}
pools: [{name: l4, machine: g6.2xlarge, count: 1}]
"""
OPERATOR = """\
---
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: cluster-policy}
spec:
  daemonsets: {}
  dcgm: {}
  dcgmExporter: {}
  driver: {}
  gfd: {}
  nodeStatusExporter: {}
  operator: {}
  toolkit: {}
  devicePlugin: PLUGIN
"""
PLUGIN = """\
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: nvidia-device-plugin}
spec:
  selector: {matchLabels: {app: plugin}}
  template:
    metadata: {labels: {app: plugin}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: nvidia-device-plugin-ctr, image: example/plugin:1}]
"""


@pytest.mark.parametrize(
    "plugin",
    [PLUGIN, OPERATOR.replace("PLUGIN", "{}"), OPERATOR.replace("PLUGIN", "{enabled: true}")],
    ids=["DaemonSet", "operator", "operator with the default"],
)
@pytest.mark.parametrize("command", ["plan", "check"])
def test_device_plugin_on_the_pools_is_an_error(
    project: Project, plugin: str, command: str
) -> None:
    project.write("fleet.yaml", FLEET)
    project.write("m.yaml", PODS.split("---\n", 1)[1] + plugin)
    done = project.run(command, "m.yaml", "--fleet", "fleet.yaml")
    assert "error device-plugin-on-dra-node" in done.out
    assert done.status == 1


def test_operator_without_device_plugin_is_no_finding(project: Project) -> None:
    project.write("fleet.yaml", FLEET)
    project.write(
        "m.yaml", PODS.split("---\n", 1)[1] + OPERATOR.replace("PLUGIN", "{enabled: false}")
    )
    assert "device-plugin" not in project.run("check", "m.yaml", "--fleet", "fleet.yaml").out


def test_operator_of_an_unknown_cluster_is_a_warning(project: Project) -> None:
    project.write("m.yaml", PODS + OPERATOR.replace("PLUGIN", "{}"))
    done = project.run("check", "m.yaml")
    assert "warning device-plugin-on-dra-node" in done.out
    assert done.status == 0


def test_plugin_of_a_machine_image_outside_the_fleet_is_a_note(project: Project) -> None:
    node_class = """\
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec: {amiSelectorTerms: [{alias: bottlerocket@latest}], role: nodes}
"""
    project.write("fleet.yaml", FLEET)
    project.write("m.yaml", PODS.split("---\n", 1)[1] + node_class)
    done = project.run("check", "m.yaml", "--fleet", "fleet.yaml")
    assert "note device-plugin-on-dra-node: EC2NodeClass" in done.out
    assert "error device-plugin-on-dra-node" not in done.out

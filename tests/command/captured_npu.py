"""A node with an accelerator that isn't in any table, a fleet of such nodes, and a job for them."""

from __future__ import annotations

import json
from typing import Any

from command_project import Project

SIZE = {"cpu": "96", "memory": "1800Gi", "pods": "110"}
NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n0", "labels": {"node.kubernetes.io/instance-type": "npu9-8x"}},
    "status": {"capacity": SIZE, "allocatable": SIZE},
}
SLICE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "n0-npu"},
    "spec": {
        "driver": "npu.example.org",
        "nodeName": "n0",
        "pool": {"name": "n0", "generation": 1, "resourceSliceCount": 1},
        "devices": [
            {
                "name": f"npu-{index}",
                "attributes": {"model": {"string": "NPU9"}},
                "capacity": {"memory": {"value": "95Gi"}},
            }
            for index in range(8)
        ],
    },
}
CLASS: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "npu.example.org"},
    "spec": {"selectors": [{"cel": {"expression": "device.driver == 'npu.example.org'"}}]},
}
FLEET = """\
# Our pools.
cloud: eks
region: us-east-1
kubernetes: "1.36"
network: {zones: [us-east-1a]}
systemPool: {machine: m7i.large}
drivers: {}
pools:
  - {name: npu, machine: npu9-8x, count: {min: 0, max: 4}} # new
"""
WORK = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: npus}
spec: {spec: {devices: {requests: [{name: npu, exactly: {deviceClassName: npu.example.org, count: 5}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      resourceClaims: [{name: npus, resourceClaimTemplateName: npus}]
      containers: [{name: main, image: registry.example/train:1, resources: {claims: [{name: npus}]}}]
"""


def capture(project: Project, *objects: dict[str, Any]) -> None:
    project.write(
        "cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
    )

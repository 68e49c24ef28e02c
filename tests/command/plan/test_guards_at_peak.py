"""Guards that are right for the declared replicas, but leave no room for a rollout: the fix is
other guards, and not a node of the largest pool.
"""

from __future__ import annotations

import json

from command_project import Project

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.35"
placement: guided
network: {zones: [us-east-1a]}
systemPool: {machine: m6i.large, count: 2}
drivers: {nvidia: {version: 25.8.1}}
pools:
  - {name: train, machine: p5.48xlarge, count: {min: 2, max: 2}}
  - {name: legacy, machine: p4d.24xlarge, count: {min: 1, max: 1}}
"""
TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: %s}
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
            count: %d
            selectors: [{cel: {expression: 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("%s")) >= 0'}}]
---
"""
POD = """\
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: %s}]
      containers:
        - name: main
          image: registry.example/app:1
          resources: {requests: {cpu: "2", memory: 8Gi}, claims: [{name: gpu}]}
---
"""
WORKLOADS = (
    TEMPLATE % ("small", 1, "10Gi")
    + TEMPLATE % ("pair", 2, "70Gi")
    + TEMPLATE % ("whole", 8, "70Gi")
    + """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: embed}
spec:
  replicas: 4
  selector: {matchLabels: {app: embed}}
  template:
    metadata: {labels: {app: embed}}
    spec:
"""
    + POD % "small"
    + """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: serve}
spec:
  replicas: 2
  serviceName: serve
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec:
"""
    + POD % "pair"
    + """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      restartPolicy: Never
"""
    + POD % "whole"
)


def test_fix_for_a_rollout_is_a_plan_with_guards(project: Project) -> None:
    project.write("fleet.yaml", FLEET)
    project.write("w.yaml", WORKLOADS)
    words = ("plan", "w.yaml", "--fleet", "fleet.yaml", "--format", "json")

    (found,) = (
        each
        for each in project.run(*words).json["diagnostics"]
        if each["code"] == "peak-does-not-fit"
    )
    at_peak = project.run(*words, "--demand", "peak")

    assert "the workload fits without them" in found["message"]
    assert found["fix"] == "plan with --demand peak, which chooses guards for this demand"
    assert (at_peak.status, json.loads(at_peak.out)["verdict"]) == (0, "fits")

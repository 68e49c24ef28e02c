"""`pulumi-dra check` on claims that share a GPU on purpose."""

from __future__ import annotations

import json

import pytest
from command_project import Project

CONFIG = """\
    config:
      - requests: [gpu]
        opaque:
          driver: gpu.nvidia.com
          parameters:
            apiVersion: resource.nvidia.com/v1beta1
            kind: GpuConfig
            sharing: {strategy: TimeSlicing}
"""
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: video, namespace: video}
spec:
  devices:
    requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]
"""
WORKLOAD = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: video}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimName: video}]
      containers: [{name: main, image: example/video:1, resources: {claims: [{name: gpu}]}}]
"""
USERS = WORKLOAD.replace("NAME", "decode") + WORKLOAD.replace("NAME", "encode")
FLEET = """\
cloud: CLOUD
region: REGION
kubernetes: "1.35"
systemPool: {machine: SYSTEM}
drivers: {nvidia: {version: 0.4.1, featureGates: {GATE}}}
pools: [{name: l4, machine: MACHINE, count: {max: 2}}]
"""
EKS = (
    FLEET.replace("CLOUD", "eks")
    .replace("REGION", "us-east-1")
    .replace("MACHINE", "g6.4xlarge")
    .replace("SYSTEM", "m7i.large")
)
GKE = (
    FLEET.replace("CLOUD", "gke")
    .replace("REGION", "us-central1")
    .replace("MACHINE", "g2-standard-16")
    .replace("SYSTEM", "e2-standard-4")
    .replace("GATE", "")
)
ADVICE = "use a ResourceClaimTemplate"


@pytest.mark.parametrize(("config", "is_advised"), [(CONFIG, False), ("", True)])
def test_claim_of_two_workloads_gets_advice_only_without_sharing(
    project: Project, config: str, is_advised: bool
) -> None:
    project.write("fleet.yaml", EKS.replace("GATE", "TimeSlicingSettings: true"))
    project.write("video.yaml", CLAIM + config + USERS)

    done = project.run("check", "video.yaml", "--fleet", "fleet.yaml")

    assert (ADVICE in done.out) is is_advised


@pytest.mark.parametrize(
    ("fleet", "expected", "refused"),
    [
        (
            GKE,
            "remove the sharing configuration, or use a pool with `allocation: device-plugin` and "
            "`sharing`, because GKE doesn't support TimeSlicingSettings with DRA",
            "featureGates",
        ),
        (EKS.replace("GATE", ""), "featureGates.TimeSlicingSettings=true", "device-plugin"),
    ],
)
def test_fix_for_sharing_without_its_gate_is_supported_by_the_cloud(
    project: Project, fleet: str, expected: str, refused: str
) -> None:
    project.write("fleet.yaml", fleet)
    project.write("video.yaml", CLAIM + CONFIG + USERS)

    done = project.run("check", "video.yaml", "--fleet", "fleet.yaml")

    assert "driver-config-refused" in done.out
    assert expected in " ".join(done.out.split())
    assert refused not in done.out


@pytest.mark.parametrize(("least", "is_error"), [(2, True), (1, False)])
def test_daemons_on_several_nodes_do_not_share_a_claim(
    project: Project, least: int, *, is_error: bool
) -> None:
    daemon = WORKLOAD.replace("NAME", "decode").replace("Deployment", "DaemonSet")
    daemon = daemon.replace(
        "    spec:\n",
        "    spec:\n      nodeSelector: {pulumi-dra/pool: l4}\n"
        "      tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n",
    )
    fleet = {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.36",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "0.4.1"}},
        "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": least, "max": 4}}],
    }
    project.write("m.yaml", CLAIM + daemon)
    project.write("fleet.json", json.dumps(fleet))
    for command in ("check", "plan"):
        done = project.run(command, "m.yaml", "--fleet", "fleet.json")
        words = " ".join(done.out.split())
        assert (done.status == 1) == is_error
        assert ("the pods on other nodes stay pending" in words) == is_error

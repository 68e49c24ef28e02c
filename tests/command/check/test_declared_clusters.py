"""Without a fleet, kind and kubeadm configurations next to manifests describe the cluster."""

from __future__ import annotations

import pytest
from command_project import Project

CLAIM = """\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: one}
spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.nvidia.com}]}}
"""
KIND = "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n"
KUBEADM = "apiVersion: kubeadm.k8s.io/{}\nkind: ClusterConfiguration\napiServer:\n  extraArgs:\n"
PATCH = """\
nodes:
- role: control-plane
  kubeadmConfigPatches:
  - |
    kind: ClusterConfiguration
    apiServer: {extraArgs: {runtime-config: "resource.k8s.io/v1beta1=true"}}
"""
NAME = "resource.k8s.io/v1beta1"

# The configuration of a cluster → whether its API server serves resource.k8s.io/v1beta1
CLUSTERS = {
    "kind": (KIND + f'runtimeConfig: {{"{NAME}": "true"}}\n', True),
    "kind, every beta version": (KIND + "runtimeConfig: {api/beta: true}\n", True),
    "kind, every alpha version": (KIND + "runtimeConfig: {api/alpha: true}\n", False),
    "kind, turned off": (KIND + f'runtimeConfig: {{"{NAME}": "false"}}\n', False),
    "kind, another version": (KIND + "runtimeConfig: {resource.k8s.io/v1beta2: true}\n", False),
    "a patch of a kind node": (KIND + PATCH, True),
    "kubeadm": (KUBEADM.format("v1beta3") + f"    runtime-config: {NAME}=true\n", True),
    "kubeadm, a list": (
        KUBEADM.format("v1beta4")
        + f"  - {{name: runtime-config, value: 'batch/v2=true,{NAME}'}}\n",
        True,
    ),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_configured_versions_are_served(project: Project, name: str) -> None:
    text, is_served = CLUSTERS[name]
    project.write("all/claim.yaml", CLAIM)
    project.write("all/cluster.yaml", text)

    done = project.run("check", "all", "--format", "json")

    codes = {each["code"] for each in done.json["diagnostics"]}
    assert ("version-not-served" in codes) is not is_served


GATED = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec:
  devices:
    requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, capacity: {requests: {memory: 1Gi}}}}]
"""


@pytest.mark.parametrize("is_on", [True, False])
def test_configured_gates_are_on(project: Project, is_on: bool) -> None:
    project.write("all/claim.yaml", GATED)
    if is_on:
        project.write("all/kind.yaml", KIND + "featureGates: {DRAConsumableCapacity: true}\n")

    done = project.run("check", "all", "--kubernetes", "1.34", "--format", "json")

    dropped = [each for each in done.json["diagnostics"] if "DRAConsumableCapacity" in str(each)]
    assert bool(dropped) is not is_on


def test_fleet_decides_if_it_is_given(project: Project) -> None:
    project.write("all/claim.yaml", CLAIM)
    project.write("all/kind.yaml", CLUSTERS["kind"][0])

    done = project.run("check", "all", "--stack", "dev", "--format", "json")

    assert "version-not-served" in {each["code"] for each in done.json["diagnostics"]}


OLD_KIND = KIND + "nodes: [{role: worker, image: 'kindest/node:v1.29.0'}]\n"
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: main, image: i}]}\n"
)
# manifests next to the configuration of an old cluster → whether its version is reported
OLD_CLUSTERS = {
    "only the cluster": ({}, True),
    "a claim": ({"claim.yaml": CLAIM}, True),
    "a pod without claims": ({"pod.yaml": POD}, False),
    "a pod and a claim": ({"pod.yaml": POD, "claim.yaml": CLAIM}, True),
    "a pod of a missing claim": (
        {
            "pod.yaml": POD.replace(
                "spec: {", "spec: {resourceClaims: [{name: gpu, resourceClaimName: one}], "
            )
        },
        True,
    ),
}


@pytest.mark.parametrize("name", OLD_CLUSTERS)
def test_old_cluster_is_reported_only_for_claims(project: Project, name: str) -> None:
    files, is_reported = OLD_CLUSTERS[name]
    for path, text in {**files, "kind.yaml": OLD_KIND}.items():
        project.write(f"all/{path}", text)

    done = project.run("check", "all", "--format", "json")

    codes = {each["code"] for each in done.json["diagnostics"]}
    assert ("kubernetes-too-old" in codes) is is_reported

"""`verify` reports devices that kubelets call unhealthy in the status of pods."""

from __future__ import annotations

import json
from typing import Any

from command_project import Project

FLEET = """\
cloud: eks
region: us-east-2
kubernetes: "1.36"
network: {zones: [us-east-2a]}
systemPool: {machine: m7i.large}
drivers: {gaudi: true}
pools:
  - {name: gaudi, machine: dl1.24xlarge, count: {min: 0, max: 2}}
"""
NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"pulumi-dra/pool": "gaudi"}},
    "status": {"allocatable": {"cpu": "95", "memory": "700Gi", "pods": "110"}},
}


def pod(name: str, *health: dict[str, Any], key: str = "containerStatuses") -> dict[str, Any]:
    resources = [{"name": "claim:hpus/hpu", "resources": list(health)}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "train"},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]},
        "status": {key: [{"name": "c", "allocatedResourcesStatus": resources}]},
    }


def found(project: Project, *objects: dict[str, Any]) -> list[tuple[str, ...]]:
    project.write("fleet.yaml", FLEET)
    listed = {"apiVersion": "v1", "kind": "List", "items": [NODE, *objects]}
    project.write("cluster.json", json.dumps(listed))
    words = ("--observed", "cluster.json", "--fleet", "fleet.yaml", "--format", "json")
    return [
        (each["pool"], each["node"], each["subject"], each["field"], each["observed"])
        for each in project.run("verify", *words).json["differences"]
        if each["aspect"] == "device-health"
    ]


def test_unhealthy_device_is_reported_with_its_pod_and_message(project: Project) -> None:
    broken = {"resourceID": "gaudi.intel.com/n1/0000-19", "health": "Unhealthy"}
    rows = found(
        project,
        pod("a", {**broken, "message": "ECC errors"}, {"resourceID": "x", "health": "Healthy"}),
        pod("b", broken, key="initContainerStatuses"),
    )
    start = ("gaudi", "n1", "gaudi.intel.com/n1/0000-19")
    assert rows == [
        (*start, "claim:hpus/hpu of Pod train/a", "Unhealthy: ECC errors"),
        (*start, "claim:hpus/hpu of Pod train/b", "Unhealthy"),
    ]


def test_healthy_unknown_and_odd_states_are_no_differences(project: Project) -> None:
    odd = pod("odd", {"resourceID": "x", "health": "Unknown"}, {"resourceID": 3, "health": None})
    nothing = {**pod("none"), "status": {"containerStatuses": [{"allocatedResourcesStatus": "x"}]}}
    assert found(project, odd, nothing, {**pod("empty"), "status": None}) == []

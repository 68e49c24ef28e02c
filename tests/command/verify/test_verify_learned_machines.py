"""`verify` prints the rows with which a fleet predicts the devices of its nodes."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
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
    "metadata": {
        "name": "n1",
        "labels": {"pulumi-dra/pool": "gaudi", "node.kubernetes.io/instance-type": "dl1.24xlarge"},
    },
    "status": {"allocatable": {"cpu": "95", "memory": "700Gi", "pods": "110"}},
}


def device(index: int, model: str) -> dict[str, Any]:
    attributes = {
        "model": {"string": model},
        "serial": {"string": ""},
        "healthy": {"bool": True},
        "pciRoot": {"string": f"0{index}"},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:0{index}"},
    }
    return {"name": f"0000-0{index}-00-0-0x1020", "attributes": attributes}


def captured(*models: str) -> str:
    devices = [device(index, model) for index, model in enumerate(models)]
    spec = {
        "driver": "gaudi.intel.com",
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": devices,
    }
    published = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "n1-gaudi"},
        "spec": spec,
    }
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, published]})


def differences(project: Project) -> set[tuple[str, str]]:
    words = ("--observed", "cluster.json", "--fleet", "fleet.yaml", "--format", "json")
    found = project.run("verify", *words).json["differences"]
    return {
        (each["aspect"], each["field"])
        for each in found
        if each["aspect"] in ("driver", "count", "attribute", "capacity")
    }


def test_printed_command_corrects_the_prediction(project: Project) -> None:
    project.write("fleet.yaml", FLEET)
    project.write("cluster.json", captured(*["Gaudi9"] * 6))
    assert differences(project)

    text = project.run("verify", "--observed", "cluster.json", "--fleet", "fleet.yaml").out
    (command,) = [line for line in text.splitlines() if line.startswith("pulumi-dra catalog add")]
    assert project.run(*shlex.split(command)[1:]).status == 0
    assert not differences(project)


def test_rows_equal_those_of_catalog_add(project: Project) -> None:
    project.write("fleet.yaml", FLEET)
    project.write("cluster.json", captured(*["Gaudi9"] * 6))
    words = ("--observed", "cluster.json", "--fleet", "fleet.yaml", "--format", "json")
    rows = project.run("verify", *words).json["learned_machines"]
    added = project.run(
        "catalog", "add", "--from", "cluster.json", "--cloud", "eks", "--format", "json"
    )
    assert rows == added.json["catalog"]


@pytest.mark.parametrize("models", [["Gaudi"] * 8, []])
def test_no_rows_are_suggested_without_other_devices(project: Project, models: list[str]) -> None:
    project.write("fleet.yaml", FLEET)
    project.write("cluster.json", captured(*models))
    words = ("--observed", "cluster.json", "--fleet", "fleet.yaml", "--format", "json")
    assert project.run("verify", *words).json["learned_machines"] == []

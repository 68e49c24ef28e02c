"""Claims for devices of several drivers on one node, with constraints on standard attributes.

The expected counts were computed by hand. Each node is written as `driver: attribute value of each
device`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from dra_planner.plan import PlanRequest, make_plan
from dra_planner.sources import Source

ROOT, NUMA = "resource.kubernetes.io/pcieRoot", "resource.kubernetes.io/numaNode"
GPU, NIC, OTHER = "gpu.nvidia.com", "dra.net", "gpu.amd.com"
Devices = Mapping[str, Sequence[Mapping[str, Any]]]


class Joined(NamedTuple):
    """Devices by driver, requests by driver, constraints, replicas, and how many of these fit on a
    node.
    """

    devices: Devices
    requests: Mapping[str, int]
    constraints: Sequence[Mapping[str, Any]]
    replicas: int
    placed: int
    reason: str = ""


def at(attribute: str, *values: str | int) -> list[dict[str, Any]]:
    """Return one device for each value of an attribute."""
    return [
        {"attributes": {attribute: {"int" if isinstance(each, int) else "string": each}}}
        for each in values
    ]


def match(attribute: str, **more: Any) -> dict[str, Any]:
    return {"matchAttribute": attribute, **more}


CASES = {
    "a GPU and a NIC below each of two roots": Joined(
        {GPU: at(ROOT, "a", "b"), NIC: at(ROOT, "a", "b")}, {GPU: 1, NIC: 1}, [match(ROOT)], 2, 2
    ),
    "two GPUs below a root with one NIC": Joined(
        {GPU: at(ROOT, "a", "a"), NIC: at(ROOT, "a")}, {GPU: 1, NIC: 1}, [match(ROOT)], 2, 1
    ),
    "a NIC below another root": Joined(
        {GPU: at(ROOT, "a"), NIC: at(ROOT, "b")}, {GPU: 1, NIC: 1}, [match(ROOT)], 1, 0, ROOT
    ),
    "two GPUs and a NIC of one root": Joined(
        {GPU: at(ROOT, "a", "a", "b", "b"), NIC: at(ROOT, "a", "b")},
        {GPU: 2, NIC: 1},
        [match(ROOT)],
        3,
        2,
    ),
    "a driver without the attribute": Joined(
        {GPU: at(ROOT, "a"), NIC: [{}]}, {GPU: 1, NIC: 1}, [match(ROOT)], 1, 0, ROOT
    ),
    "a constraint on the GPUs only": Joined(
        {GPU: at(ROOT, "a", "a"), NIC: [{}]},
        {GPU: 2, NIC: 1},
        [match(ROOT, requests=["r0"])],
        1,
        1,
    ),
    "a NUMA node as int in both": Joined(
        {GPU: at(NUMA, 0, 1), NIC: at(NUMA, 1, 1)}, {GPU: 1, NIC: 1}, [match(NUMA)], 2, 1
    ),
    "a NUMA node as text in one": Joined(
        {GPU: at(NUMA, 0), NIC: at(NUMA, "0")}, {GPU: 1, NIC: 1}, [match(NUMA)], 1, 0, NUMA
    ),
    "two vendors' GPUs in one claim": Joined(
        {GPU: at(NUMA, 0, 1), OTHER: at(NUMA, 0, 1)}, {GPU: 1, OTHER: 1}, [match(NUMA)], 3, 2
    ),
    "two vendors' GPUs without a constraint": Joined(
        {GPU: [{}, {}], OTHER: [{}]}, {GPU: 1, OTHER: 1}, [], 2, 1
    ),
    "three drivers of one root": Joined(
        {GPU: at(ROOT, "a", "b"), NIC: at(ROOT, "b", "a"), OTHER: at(ROOT, "b")},
        {GPU: 1, NIC: 1, OTHER: 1},
        [match(ROOT)],
        2,
        1,
    ),
    "two constraints at once": Joined(
        {
            GPU: [
                {"attributes": {ROOT: {"string": "a"}, NUMA: {"int": 0}}},
                {"attributes": {ROOT: {"string": "b"}, NUMA: {"int": 0}}},
            ],
            NIC: [
                {"attributes": {ROOT: {"string": "a"}, NUMA: {"int": 1}}},
                {"attributes": {ROOT: {"string": "b"}, NUMA: {"int": 0}}},
            ],
        },
        {GPU: 1, NIC: 1},
        [match(ROOT), match(NUMA)],
        2,
        1,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_claim_over_several_drivers(name: str) -> None:
    case = CASES[name]

    plan = make_plan(
        PlanRequest(sources=(_source(_workload(case)),), observed=(_source(_node(case.devices)),))
    )

    (workload,) = plan.workloads
    assert case.replicas - workload.pending == case.placed
    assert plan.verdict == ("fits" if case.placed == case.replicas else "does-not-fit")
    assert case.reason in " ".join(each.message for each in workload.reasons)


def _source(objects: Sequence[Mapping[str, Any]]) -> Source:
    return Source("objects.yaml", "---\n".join(f"{json.dumps(each)}\n" for each in objects))


def _node(devices: Devices) -> list[dict[str, Any]]:
    size = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n0"},
        "status": {
            "capacity": size,
            "allocatable": size,
            "nodeInfo": {"kubeletVersion": "v1.36.1"},
        },
    }
    slices = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"n0-{number}"},
            "spec": {
                "driver": driver,
                "nodeName": "n0",
                "pool": {"name": "n0", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": f"d{index}", **each} for index, each in enumerate(own)],
            },
        }
        for number, (driver, own) in enumerate(devices.items())
    ]
    return [node, *slices]


def _workload(case: Joined) -> list[dict[str, Any]]:
    classes = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": driver},
            "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]},
        }
        for driver in case.requests
    ]
    requests = [
        {"name": f"r{number}", "exactly": {"deviceClassName": driver, "count": count}}
        for number, (driver, count) in enumerate(case.requests.items())
    ]
    devices = {"requests": requests, "constraints": list(case.constraints)}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "joined"},
        "spec": {"spec": {"devices": devices}},
    }
    container = {
        "name": "main",
        "image": "example/main:1",
        "resources": {"claims": [{"name": "devices"}]},
    }
    pod = {
        "restartPolicy": "Never",
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "joined"}],
        "containers": [container],
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "joined"},
        "spec": {
            "parallelism": case.replicas,
            "completions": case.replicas,
            "template": {"spec": pod},
        },
    }
    return [*classes, template, job]

"""Nodes on which a device plugin and a DRA driver allocate the same GPUs: scheduled isn't safe."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu.nvidia.com"},
    "spec": {"selectors": [{"cel": {"expression": 'device.driver == "gpu.nvidia.com"'}}]},
}
TEMPLATE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "gpu"},
    "spec": {
        "spec": {
            "devices": {
                "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]
            }
        }
    },
}


def node(units: int) -> list[dict[str, Any]]:
    """Return a node with 4 published GPUs and units of the device plugin."""
    amounts = {"cpu": "48", "memory": "192Gi", "pods": "110", "nvidia.com/gpu": str(units)}
    device = {"attributes": {"type": {"string": "gpu"}}}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n1"},
            "status": {"allocatable": amounts, "nodeInfo": {"kubeletVersion": "v1.36.1"}},
        },
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": "n1-gpu"},
            "spec": {
                "driver": "gpu.nvidia.com",
                "nodeName": "n1",
                "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": f"gpu-{index}", **device} for index in range(4)],
            },
        },
        CLASS,
    ]


def running(count: int, status: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return pods on the node that have a unit of the device plugin each."""
    resources = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"old-{index}"},
            "spec": {
                "nodeName": "n1",
                "containers": [{"name": "main", "image": "example/a:1", "resources": resources}],
            },
            "status": {"phase": "Running", **(status or {})},
        }
        for index in range(count)
    ]


def job(name: str, pods: int, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "template": {"spec": {"restartPolicy": "Never", **spec}},
        },
    }


def plain(pods: int) -> dict[str, Any]:
    resources = {"limits": {"nvidia.com/gpu": 1}}
    container = {"name": "main", "image": "example/a:1", "resources": resources}
    return job("plain", pods, {"containers": [container]})


def claims(pods: int) -> dict[str, Any]:
    container = {"name": "main", "image": "example/a:1", "resources": {"claims": [{"name": "gpu"}]}}
    entry = {"name": "gpu", "resourceClaimTemplateName": "gpu"}
    return job("claims", pods, {"resourceClaims": [entry], "containers": [container]})


def planned(cluster: list[dict[str, Any]], *workloads: dict[str, Any]) -> Plan:
    sources = (Source("jobs.yaml", yaml.safe_dump_all([TEMPLATE, *workloads])),)
    observed = (Source("cluster.yaml", yaml.safe_dump_all(cluster)),)
    return make_plan(PlanRequest(sources=sources, observed=observed))


def test_plugin_pods_and_claims_for_all_gpus_do_not_fit() -> None:
    plan = planned(node(4), plain(4), claims(4))

    assert plan.verdict == "does-not-fit"
    (finding,) = plan.diagnostics
    assert "at least 4 devices are used by two pods" in finding.message
    assert finding.fix == (
        "drain the node, because pods keep the plugin's devices until they terminate. Then remove "
        "either the device plugin or the DRA driver from the node"
    )


def test_plugin_pods_and_claims_that_may_collide_cannot_be_decided() -> None:
    plan = planned(node(4), plain(2), claims(2))

    assert plan.verdict == "cannot-tell"
    assert "two pods can get the same device" in plan.diagnostics[0].message


@pytest.mark.parametrize("workload", [plain(4), claims(4)], ids=["the plugin", "the driver"])
def test_pods_of_only_one_allocator_fit(workload: dict[str, Any]) -> None:
    assert planned(node(4), workload).verdict == "fits"


def test_running_pods_of_a_removed_device_plugin_keep_their_gpus() -> None:
    plan = planned([*node(0), *running(3)], claims(4))

    assert plan.verdict == "does-not-fit"
    assert "at least 3 devices are used by two pods" in plan.diagnostics[0].message


def test_pods_served_by_a_claim_use_no_plugin_gpu() -> None:
    served = {"extendedResourceClaimStatus": {"resourceClaimName": "old-0-gpus"}}

    assert planned([*node(0), *running(1, served)], claims(2)).verdict == "fits"

"""What NVIDIA and the clouds add to NVIDIA's pools: GPUCluster, lent nodes, and Local Zones."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from driver_fleets import fleet, job, planned, reasons, request

from dra_planner.errors import FleetError
from dra_planner.fleet import read_fleet
from dra_planner.plan.provider_notes import provider_notes

GPU = request("gpu", "gpu.nvidia.com", 1)
NVIDIA: dict[str, Any] = {"nvidia": {"version": "0.5.0"}}
OPERATOR: dict[str, Any] = {"nvidia": {"version": "0.5.0", "installer": "gpu-operator"}}
QUEUED = "cloud.google.com/gke-queued"
POOL: dict[str, Any] = {
    "name": "lent",
    "machine": "a3-highgpu-8g",
    "capacity": "flex-start",
    "count": {"max": 4},
}


def with_plugin_resource() -> str:
    container = {
        "name": "main",
        "image": "registry.example/work:1",
        "resources": {"limits": {"nvidia.com/gpu": 1}},
    }
    spec = {
        "containers": [container],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    }
    return yaml.safe_dump(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    )


def lent(capacity: Any, **changes: Any) -> dict[str, Any]:
    document = {**fleet("gke", "a3-highgpu-8g", NVIDIA), "autoscaler": "gke", **changes}
    document["pools"][0]["capacity"] = capacity
    return document


@pytest.mark.parametrize(
    ("drivers", "work", "verdict"),
    [
        (OPERATOR, job(1, GPU, tolerates="nvidia.com/gpu"), "fits"),
        (NVIDIA, with_plugin_resource(), "fits"),
        (OPERATOR, with_plugin_resource(), "does-not-fit"),
    ],
    ids=["claims", "nvidia.com/gpu with the chart", "nvidia.com/gpu with the operator"],
)
def test_gpu_cluster_serves_claims_but_no_extended_resource(
    drivers: dict[str, Any], work: str, verdict: str
) -> None:
    """NVIDIA/gpu-operator:manifests/state-dra-driver/0400_deviceclass-gpu.yaml@a22dbf6."""
    plan = planned(fleet("eks", "g6.xlarge", drivers), work)
    assert plan.verdict == verdict
    is_noted = any(
        "a GPUCluster managed by the GPU Operator runs driver 0.5.0" in each
        for each in plan.assumptions
    )
    assert is_noted is (drivers is OPERATOR)


def test_fleet_that_installs_the_chart_does_not_set_the_installer() -> None:
    written = read_fleet(fleet("eks", "g6.xlarge", NVIDIA)).document()["drivers"]["nvidia"]
    assert "installer" not in written


@pytest.mark.parametrize("capacity", ["flex-start", "queued"])
def test_borrowed_nodes_are_planned_without_a_price(capacity: str) -> None:
    work = job(1, GPU, tolerates="nvidia.com/gpu")
    if capacity == "queued":
        refused = planned(lent(capacity), work)
        assert refused.verdict == "does-not-fit"
        assert QUEUED in reasons(refused)
        documents = list(yaml.safe_load_all(work))
        tolerations = documents[1]["spec"]["template"]["spec"]["tolerations"]
        tolerations.append({"key": QUEUED, "operator": "Exists"})
        work = yaml.safe_dump_all(documents)
    plan = planned(lent(capacity), work)
    assert plan.verdict == "fits"
    assert any("after at most seven days" in each for each in plan.assumptions)
    assert any(f"the price of {capacity} nodes is unknown" in each for each in plan.assumptions)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (lent("queued", autoscaler="none"), "queued nodes need an autoscaler"),
        (
            {**lent("queued"), "pools": [{**POOL, "count": {"min": 1, "max": 4}}]},
            "count.min",
        ),
        (
            {**fleet("eks", "g6.xlarge", NVIDIA), "pools": [{**POOL, "machine": "g6.xlarge"}]},
            "EKS doesn't offer flex-start",
        ),
    ],
    ids=["no autoscaler", "a minimum", "another cloud"],
)
def test_invalid_borrowed_nodes_are_rejected(document: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FleetError) as caught:
        read_fleet(document)
    assert any(sentence in str(each) for each in (caught.value, *caught.value.others))


@pytest.mark.parametrize(
    ("zone", "is_reported"), [("us-east-1a", True), ("us-east-1-dfw-2a", False)]
)
def test_zone_without_the_machine_type_is_reported(zone: str, is_reported: bool) -> None:
    document = fleet("eks", "p6e-gb200.36xlarge", {"nvidia": {"version": "0.5.0"}})
    document |= {"region": "us-east-1", "network": {"zones": [zone]}}
    document["pools"][0]["capacity"] = {"capacityBlock": "cr-0123456789abcdef0"}
    notes = " ".join(provider_notes(read_fleet(document)))
    assert ("Set the pool's zones to one or more of us-east-1-dfw-2a" in notes) is is_reported

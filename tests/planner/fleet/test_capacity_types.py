"""If a cloud doesn't offer a machine type with a capacity type, the fleet is rejected. For on
demand, the plan prints a note.
"""

from typing import Any

import pytest

from dra_planner.errors import FleetError
from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.sources import Source

GKE: dict[str, Any] = {
    "cloud": "gke",
    "region": "us-central1",
    "kubernetes": "1.35",
    "network": {"zones": ["us-central1-a"]},
    "systemPool": {"machine": "e2-standard-4"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
}
EKS: dict[str, Any] = {
    **GKE,
    "cloud": "eks",
    "region": "us-east-1",
    "systemPool": {"machine": "m7i.large"},
}
EKS.pop("network")
POD = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: asks}
spec:
  tolerations: [{operator: Exists}]
  containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimName: one}]
"""
BOUGHT = {"reservation": "cr-0a"}
BLOCK = {"capacityBlock": "cr-0a"}


@pytest.mark.parametrize(
    ("fleet", "machine", "capacity", "message"),
    [
        (GKE, "a3-ultragpu-8g", "spot", ""),
        (GKE, "a3-highgpu-2g", BOUGHT, "a3-highgpu-2g can't be reserved"),
        (GKE, "a3-highgpu-2g", "spot", ""),
        (GKE, "a3-highgpu-8g", "on-demand", ""),
        (GKE, "a4x-highgpu-4g", "spot", "a4x-highgpu-4g isn't available as spot"),
        (GKE, "a4x-highgpu-4g", BOUGHT, ""),
        (EKS, "p6e-gb200.36xlarge", "spot", "p6e-gb200.36xlarge isn't available as spot"),
        (EKS, "p6e-gb200.36xlarge", BLOCK, ""),
        (EKS, "p5.48xlarge", "on-demand", ""),
    ],
)
def test_capacity_type_must_be_available_for_the_machine_type(
    fleet: dict[str, Any], machine: str, capacity: Any, message: str
) -> None:
    pool = {
        "name": "gpus",
        "machine": machine,
        "count": {"max": 2},
        "capacity": capacity,
        "zones": [],
    }
    if capacity == BLOCK:
        pool["zones"] = ["us-east-1a"]
    document = {**fleet, "pools": [pool]}
    if not message:
        assert read_fleet(document).pools[0].machine == machine
        return
    with pytest.raises(FleetError) as error:
        read_fleet(document)
    assert error.value.message == message
    assert error.value.fix.startswith("use ")


@pytest.mark.parametrize(
    ("fleet", "machine", "ways"),
    [
        (GKE, "a4-highgpu-8g", "spot, flex-start, queued, or a reservation"),
        (GKE, "a3-highgpu-1g", "spot, flex-start, or queued"),
        (EKS, "p6e-gb200.36xlarge", "a capacity block"),
        (GKE, "a3-highgpu-8g", ""),
    ],
)
def test_unavailable_on_demand_capacity_is_reported_and_planned(
    fleet: dict[str, Any], machine: str, ways: str
) -> None:
    pool = {"name": "gpus", "machine": machine, "count": {"max": 2}}
    sources = (Source("w", POD),)
    made = make_plan(PlanRequest(sources=sources, fleet=read_fleet({**fleet, "pools": [pool]})))

    found = [
        (each.severity, each.message, each.fix)
        for each in made.diagnostics
        if each.code == "not-on-demand"
    ]

    title = fleet["cloud"].upper()
    message = (
        f"pool \"gpus\": {machine} isn't available on demand, so {title} can't create its nodes"
    )
    assert found == ([("warning", message, f"in the pool's capacity, use {ways}")] if ways else [])
    assert made.pools[0].nodes.desired == 1

"""Devices of several drivers for one pod: on one node, in one claim, joined by standard
attributes.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from captures import Values, as_captured, learned, node, predicted, with_cpu_groups
from driver_fleets import fleet, job, nodes, planned, reasons, request

from dra_planner import catalog

ROOT = "resource.kubernetes.io/pcieRoot"
NUMA = "resource.kubernetes.io/numaNode"
GPU = request("gpu", "gpu.nvidia.com", 1)
NIC = request("nic", "efa.networking.k8s.aws", 1)
H100 = with_cpu_groups(
    fleet("eks", "p5.48xlarge", {"nvidia": {"version": "0.5.0"}, "dranet": True, "cpu": True}),
    (96, 96),
)
TOLERATES = "nvidia.com/gpu"
CPUS = {
    "name": "cpus",
    "exactly": {"deviceClassName": "dra.cpu", "capacity": {"requests": {"dra.cpu/cpu": "24"}}},
}


@pytest.mark.parametrize(
    ("requests", "match", "pods", "wanted"),
    [
        ((GPU, NIC), ROOT, 8, ("fits", 1)),
        ((GPU, NIC), ROOT, 9, ("fits", 2)),
        ((GPU, request("nic", "efa.networking.k8s.aws", 4)), ROOT, 8, ("fits", 1)),
        ((GPU, request("nic", "efa.networking.k8s.aws", 5)), ROOT, 1, ("does-not-fit", 0)),
        ((GPU, CPUS), "", 8, ("fits", 1)),
        ((GPU, NIC, CPUS), "", 9, ("fits", 2)),
    ],
    ids=["pairs", "nine pairs", "four interfaces", "five interfaces", "GPU and CPUs", "all three"],
)
def test_claim_with_several_drivers_is_planned_on_one_node(
    requests: tuple[dict[str, Any], ...], match: str, pods: int, wanted: tuple[str, int]
) -> None:
    plan = planned(H100, job(pods, *requests, match=match, tolerates=TOLERATES))
    assert (plan.verdict, nodes(plan)) == wanted


def test_constraint_on_an_unpublished_root_does_not_fit() -> None:
    plan = planned(H100, job(1, GPU, CPUS, match=ROOT, tolerates=TOLERATES))
    assert plan.verdict == "does-not-fit"
    assert f"doesn't publish {ROOT}" in " ".join(each.message for each in plan.blockers)


def amd_with_nics() -> dict[str, Any]:
    """Return a fleet that has learned AMD's GPUs together with another vendor's NICs, one below
    each PCIe root.
    """
    machine = catalog.machine("aks", "Standard_ND96isr_MI300X_v5")
    values: Values = {}
    (gpus,) = as_captured(predicted("amd", machine, {}, "n0"), values, 1)
    nics = deepcopy(gpus)
    nics["metadata"]["name"], nics["spec"]["driver"] = "n0-nics", "nic.example.org"
    for index, (gpu, nic) in enumerate(
        zip(gpus["spec"]["devices"], nics["spec"]["devices"], strict=True)
    ):
        root = {"string": f"pci000{index}:00"}
        gpu["attributes"] |= {ROOT: root, NUMA: {"int": index // 4}}
        nic.pop("capacity")
        nic["name"], nic["attributes"] = (
            f"nic-{index}",
            {ROOT: root, NUMA: {"int": index // 4}, "speed": {"int": 400}},
        )
    found = learned(
        [node("n0", machine, {"cpu": "90", "memory": "1800Gi", "pods": "100"}), gpus, nics], "aks"
    )
    classes = [{"name": "nic.example.org", "selectors": ["device.driver == 'nic.example.org'"]}]
    return {
        **fleet("aks", machine.name, {"amd": True}, most=2),
        "catalog": [dict(row) for row in found.rows],
        "deviceClasses": classes,
    }


AMD_GPU = request("gpu", "gpu.amd.com", 1)
OTHER_NIC = request("nic", "nic.example.org", 1)


@pytest.mark.parametrize("match", [ROOT, NUMA])
def test_gpu_and_nic_of_different_vendors_can_be_matched(match: str) -> None:
    own = amd_with_nics()
    together = planned(own, job(9, AMD_GPU, OTHER_NIC, match=match))
    assert (together.verdict, nodes(together)) == ("fits", 2)
    assert any("both publish" in each.message for each in together.blockers)


def test_request_for_more_devices_than_a_root_has_does_not_fit() -> None:
    two = request("nic", "nic.example.org", 2)
    plan = planned(amd_with_nics(), job(1, AMD_GPU, two, match=ROOT))
    assert plan.verdict == "does-not-fit"
    assert "1 for nic" in reasons(plan)
    assert planned(amd_with_nics(), job(1, AMD_GPU, two, match=NUMA)).verdict == "fits"


def test_claims_of_two_vendors_share_a_pools_nodes() -> None:
    """Each vendor's devices are counted by themselves, so the pool is as large as the larger
    demand.
    """
    own = amd_with_nics()
    both = (
        job(16, AMD_GPU)
        + "---\n"
        + job(4, OTHER_NIC)
        .replace("name: work", "name: other")
        .replace("name: t\n", "name: u\n")
        .replace("resourceClaimTemplateName: t", "resourceClaimTemplateName: u")
    )
    plan = planned(own, both)
    assert (plan.verdict, nodes(plan)) == ("fits", 2)

"""Fleets with drivers other than NVIDIA's: what is planned on their devices, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dra_planner import catalog
from dra_planner.drivers import DriverNode, driver
from dra_planner.errors import FleetError
from dra_planner.fleet import read_fleet
from dra_planner.model import AttributeValue, Unknown
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.releases import features_of
from dra_planner.sources import Source

CLOUDS: dict[str, dict[str, Any]] = {
    "eks": {"region": "us-east-2", "network": {"zones": ["us-east-2a"]}, "systemPool": {"machine": "m7i.large"}},
    "gke": {"region": "us-central1", "systemPool": {"machine": "e2-standard-4"}},
    "aks": {"region": "centralus", "systemPool": {"machine": "Standard_D4s_v5"}},
}


def fleet(cloud: str, machine: str, drivers: dict[str, Any], most: int = 4) -> dict[str, Any]:
    pool = {"name": "pool", "machine": machine, "count": {"min": 0, "max": most}}
    return {"cloud": cloud, "kubernetes": "1.36", **CLOUDS[cloud], "drivers": drivers, "pools": [pool]}


def request(name: str, device_class: str, count: int | str, selector: str = "") -> dict[str, Any]:
    many = {"allocationMode": "All"} if count == "All" else {"count": count}
    chosen = {"selectors": [{"cel": {"expression": selector}}]} if selector else {}
    return {"name": name, "exactly": {"deviceClassName": device_class, **many, **chosen}}


def job(pods: int, *requests: dict[str, Any], match: str = "", tolerates: str = "") -> str:
    together = {"constraints": [{"requests": [each["name"] for each in requests], "matchAttribute": match}]}
    devices = {"requests": list(requests), **(together if match else {})}
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "registry.example/work:1", "resources": {"claims": [{"name": "d"}]}}],
        "resourceClaims": [{"name": "d", "resourceClaimTemplateName": "t"}],
        "tolerations": [{"key": tolerates, "operator": "Exists"}] if tolerates else [],
    }
    return yaml.safe_dump_all(
        [
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaimTemplate",
                "metadata": {"name": "t"},
                "spec": {"spec": {"devices": devices}},
            },
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "work"},
                "spec": {"parallelism": pods, "completions": pods, "template": {"spec": pod}},
            },
        ]
    )


def planned(document: dict[str, Any], manifests: str) -> Plan:
    return make_plan(PlanRequest(fleet=read_fleet(document), sources=(Source("work.yaml", manifests),)))


def nodes(plan: Plan) -> int:
    return plan.pools[0].nodes.desired


def reasons(plan: Plan) -> str:
    return " ".join(f"{each.message} {each.fix}" for workload in plan.workloads for each in workload.reasons)


TPUS = fleet("gke", "ct5lp-hightpu-4t", {"tpu": True})


@pytest.mark.parametrize("count", [4, "All"])
def test_claims_for_all_chips_of_a_node_take_a_node_each(count: int | str) -> None:
    plan = planned(TPUS, job(2, request("tpu", "tpu.google.com", count), tolerates="google.com/tpu"))

    assert (plan.verdict, nodes(plan)) == ("fits", 2)


def test_a_claim_for_half_of_a_tpu_node_does_not_fit() -> None:
    """kubernetes-sigs/dra-driver-google-tpu:cmd/tpu-dra-kubeletplugin/state.go@f5a9d8c (prepareDevices)."""
    plan = planned(TPUS, job(2, request("tpu", "tpu.google.com", 2), tolerates="google.com/tpu"))

    assert plan.verdict == "does-not-fit"
    assert "prepares only claims for all 4 devices of a node, not for 2" in reasons(plan)


def test_gke_taints_tpu_nodes_by_itself() -> None:
    assert planned(TPUS, job(1, request("tpu", "tpu.google.com", 4))).verdict == "does-not-fit"


QUARTER = (
    request("neuron", "neuron.aws.com", 4, 'device.attributes["neuron.aws.com"].instanceType == "trn2.48xlarge"'),
    request("efa", "efa.networking.k8s.aws", 4),
)
GROUP_OF_4 = "resource.aws.com/devicegroup4_id"


def test_neuron_devices_and_their_efa_interfaces_are_claimed_in_groups() -> None:
    plan = planned(fleet("eks", "trn2.48xlarge", {"neuron": True, "dranet": True}), job(5, *QUARTER, match=GROUP_OF_4))

    assert (plan.verdict, nodes(plan)) == ("fits", 2)  # four groups of four on each node


def test_a_trn1_has_two_efa_interfaces_for_four_devices() -> None:
    pools = fleet("eks", "trn1.32xlarge", {"neuron": True, "dranet": True})
    two = (request("neuron", "neuron.aws.com", 4), request("efa", "efa.networking.k8s.aws", 2))
    four = (request("neuron", "neuron.aws.com", 4), request("efa", "efa.networking.k8s.aws", 4))

    assert planned(pools, job(4, *two, match=GROUP_OF_4)).verdict == "fits"
    assert planned(pools, job(1, *four, match=GROUP_OF_4)).verdict == "does-not-fit"


AMD = fleet("aks", "Standard_ND96isr_MI300X_v5", {"amd": True})
MEMORY = 'device.capacity["gpu.amd.com"].memory.compareTo(quantity("{}")) >= 0'


@pytest.mark.parametrize(("memory", "verdict"), [("196592Mi", "fits"), ("191Gi", "fits"), ("192Gi", "does-not-fit")])
def test_an_mi300x_publishes_less_than_192_gib(memory: str, verdict: str) -> None:
    """ROCm/k8s-gpu-dra-driver:docs/demo.md@2622427."""
    plan = planned(AMD, job(1, request("gpu", "gpu.amd.com", 2, MEMORY.format(memory))))

    assert plan.verdict == verdict


def test_no_other_vendors_toleration_is_asked_for() -> None:
    plan = planned(AMD, job(5, request("gpu", "gpu.amd.com", 8)))

    assert reasons(plan)
    assert "nvidia" not in reasons(plan).lower()


def test_the_example_driver_has_eight_gpus_on_any_node() -> None:
    plan = planned(fleet("eks", "m7i.4xlarge", {"example": True}), job(9, request("gpu", "gpu.example.com", 1)))

    assert (plan.verdict, nodes(plan)) == ("fits", 2)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (fleet("eks", "g6.2xlarge", {"amd": True}), "doesn't run on EKS"),
        (fleet("gke", "g2-standard-8", {"neuron": True}), "AWS Neuron devices exist only on EC2 instances"),
        (fleet("aks", "Standard_NC4as_T4_v3", {"tpu": True}), "TPUs exist only on Google Cloud"),
        (fleet("gke", "tpu7x-standard-4t", {"tpu": True}), "doesn't know tpu7x"),
        (fleet("eks", "inf2.48xlarge", {"neuron": True}), "runs on Trainium only"),
        (fleet("gke", "ct5lp-hightpu-4t", {"nvidia": {"version": "25.8.1"}}), "has no NVIDIA GPU"),
        ({**TPUS, "pools": [{**TPUS["pools"][0], "mig": "all-1g.10gb"}]}, "none of the fleet's drivers partitions"),
    ],
)
def test_a_driver_that_cannot_run_is_refused(document: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FleetError) as caught:
        read_fleet(document)
    assert any(sentence in str(each) for each in (caught.value, *caught.value.others))


def published(cloud: str, name: str, machine: str) -> list[dict[str, AttributeValue]]:
    member = driver(name)
    node = DriverNode(machine=catalog.machine(cloud, machine), name="node", features=features_of(36))
    return [dict(each.attributes) for part in member.slices(member.options(), node) for each in part.devices]


def test_group_ids_are_the_hashes_that_the_library_makes() -> None:
    """aws-neuron/connected-device-maps-over-efa-for-neuron:lookup/lookup.go@d571025 (constructDeviceGroupHash)."""
    devices = published("eks", "neuron", "trn2.48xlarge")

    groups = [str(each[GROUP_OF_4]) for each in devices]
    assert groups[::4] == ["13713e551cd37c19", "671622785349fddf", "237e3ef7b968b4d3", "b3d6ce1919d29f8f"]
    assert {str(each["resource.aws.com/devicegroup8_id"]) for each in devices} == {
        "3593812b8066a078",
        "614e16dab9ba2f1f",
    }
    assert {str(each["resource.aws.com/devicegroup16_id"]) for each in devices} == {"821d14afaf11327d"}


@pytest.mark.parametrize("machine", ["trn1.2xlarge", "trn2.3xlarge"])
def test_machines_outside_the_map_have_no_groups(machine: str) -> None:
    assert not any("devicegroup" in name for each in published("eks", "neuron", machine) for name in each)


@pytest.mark.parametrize(
    ("machine", "generation", "chips", "topology"),
    [
        ("ct5lp-hightpu-1t", "v5litepod", 1, "1x1"),
        ("ct5lp-hightpu-8t", "v5litepod", 8, "2x4"),
        ("ct6e-standard-4t", "v6e", 4, "2x2"),
        ("ct5p-hightpu-4t", "v5p", 4, None),
    ],
)
def test_what_a_machine_type_says_of_its_chips(machine: str, generation: str, chips: int, topology: str | None) -> None:
    devices = published("gke", "tpu", machine)

    assert [each["index"] for each in devices] == list(range(chips))
    assert {str(each["tpuGen"]) for each in devices} == {generation}
    assert {each["chipCount"] for each in devices} == {chips}
    assert devices[0]["topology"] == (topology or Unknown("node"))

"""Machine types learned from captured nodes plan like those of the tables, and wrong captures are
explained.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
import yaml
from captures import Values, as_captured, learned, node, predicted
from driver_fleets import fleet, job, nodes, request

from dra_planner import catalog
from dra_planner.clouds import cloud as cloud_of
from dra_planner.drivers import driver
from dra_planner.errors import FleetError, PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.manifests import render_device_class
from dra_planner.offers.learning import Learned
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.releases import features_of
from dra_planner.sources import Source

SIZE = {"cpu": "190", "memory": "1900Gi", "pods": "100", "ephemeral-storage": "190Gi"}
ROOT = "resource.kubernetes.io/pcieRoot"
NVIDIA = {"nvidia": {"version": "0.5.0"}}
GPU = request("gpu", "gpu.nvidia.com", 1)
LARGE = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{}")) >= 0'
AMD_MEMORY = 'device.capacity["gpu.amd.com"].memory.compareTo(quantity("{}")) >= 0'
MACHINES: dict[str, tuple[str, str, dict[str, Any], list[str]]] = {
    "H100": (
        "eks",
        "p5.48xlarge",
        NVIDIA,
        [
            job(9, GPU, tolerates="nvidia.com/gpu"),
            job(
                2,
                request("gpu", "gpu.nvidia.com", 8, LARGE.format("80Gi")),
                tolerates="nvidia.com/gpu",
            ),
            job(
                2,
                request("gpu", "gpu.nvidia.com", 8, LARGE.format("79Gi")),
                tolerates="nvidia.com/gpu",
            ),
        ],
    ),
    "H100 with EFA": (
        "eks",
        "p5.48xlarge",
        {**NVIDIA, "dranet": True},
        [
            job(
                9,
                GPU,
                request("nic", "efa.networking.k8s.aws", 1),
                match=ROOT,
                tolerates="nvidia.com/gpu",
            ),
            job(
                9,
                GPU,
                request("nic", "efa.networking.k8s.aws", 5),
                match=ROOT,
                tolerates="nvidia.com/gpu",
            ),
        ],
    ),
    "L4": ("eks", "g6.12xlarge", NVIDIA, [job(5, GPU, tolerates="nvidia.com/gpu")]),
    "A100 in GKE": (
        "gke",
        "a2-highgpu-8g",
        NVIDIA,
        [job(3, request("gpu", "gpu.nvidia.com", 3), tolerates="nvidia.com/gpu")],
    ),
    "H200 in GKE with RDMA": (
        "gke",
        "a3-ultragpu-8g",
        {**NVIDIA, "dranet": True},
        [job(8, GPU, request("nic", "mrdma.google.com", 1), tolerates="nvidia.com/gpu")],
    ),
    "H100 in AKS": (
        "aks",
        "Standard_ND96isr_H100_v5",
        NVIDIA,
        [job(2, request("gpu", "gpu.nvidia.com", 5), tolerates="nvidia.com/gpu")],
    ),
    "MI300X": (
        "aks",
        "Standard_ND96isr_MI300X_v5",
        {"amd": True},
        [
            job(2, request("gpu", "gpu.amd.com", 2, AMD_MEMORY.format("192Gi"))),
            job(5, request("gpu", "gpu.amd.com", 2, AMD_MEMORY.format("191Gi"))),
        ],
    ),
    "TPU v5e": (
        "gke",
        "ct5lp-hightpu-4t",
        {"tpu": True},
        [job(2, request("tpu", "tpu.google.com", 4), tolerates="google.com/tpu")],
    ),
    "Trainium with EFA": (
        "eks",
        "trn2.48xlarge",
        {"neuron": True, "dranet": True},
        [
            job(
                5,
                request("neuron", "neuron.aws.com", 4),
                request("efa", "efa.networking.k8s.aws", 4),
                match="resource.aws.com/devicegroup4_id",
            ),
            job(
                5,
                request("neuron", "neuron.aws.com", 4),
                request("efa", "efa.networking.k8s.aws", 5),
            ),
        ],
    ),
    "Gaudi": (
        "eks",
        "dl1.24xlarge",
        {"gaudi": True},
        [job(9, request("hpu", "gaudi.intel.com", 1))],
    ),
    "CPUs": (
        "eks",
        "m7i.4xlarge",
        {"cpu": {"mode": "individual"}},
        [job(5, request("cpus", "dra.cpu", 4)), job(1, request("cpus", "dra.cpu", 17))],
    ),
    "simulated GPUs": (
        "eks",
        "m7i.4xlarge",
        {"example": True},
        [job(9, request("gpu", "gpu.example.com", 1))],
    ),
}


def captured(name: str, count: int = 1) -> list[dict[str, Any]]:
    """Return what `kubectl get nodes,resourceslices,deviceclasses` prints of so many nodes."""
    cloud, machine_name, drivers, _ = MACHINES[name]
    machine = catalog.machine(cloud, machine_name)
    found: list[dict[str, Any]] = []
    for index in range(count):
        found.append(node(f"n{index}", machine, SIZE))
        values: Values = {}
        for each, options in drivers.items():
            given = {} if options is True else options
            found += as_captured(predicted(each, machine, given, f"n{index}"), values, index + 1)
    for each, options in drivers.items():
        member = driver(each)
        settings = member.options.model_validate({} if options is True else options)
        found += map(
            render_device_class, member.classes(settings, cloud_of(cloud), features_of(36))
        )
    return found


def planned(document: dict[str, Any], manifests: str) -> Plan:
    return make_plan(
        PlanRequest(
            fleet=read_fleet(document), sources=(Source("work.yaml", manifests),), with_fixes=False
        )
    )


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 2], ids=["one node", "two nodes"])
@pytest.mark.parametrize("name", MACHINES)
def test_learned_machine_gives_the_same_plan_as_the_tables(name: str, count: int) -> None:
    cloud, machine, drivers, workloads = MACHINES[name]
    known = fleet(cloud, machine, drivers)
    own = {**known, "catalog": [dict(row) for row in learned(captured(name, count), cloud).rows]}
    for manifests in workloads:
        before, after = planned(known, manifests), planned(own, manifests)
        assert (after.verdict, nodes(after)) == (before.verdict, nodes(before))


@pytest.mark.parametrize("name", ["MI300X", "H100", "Gaudi", "simulated GPUs"])
def test_learned_machine_type_outside_the_tables_can_be_planned(name: str) -> None:
    cloud, machine, drivers, workloads = MACHINES[name]
    objects = captured(name)
    objects[0]["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "new-machine-8x"
    rows = [dict(row) for row in learned(objects, cloud).rows]
    # the others run in the cluster without being installed by the platform
    installed = drivers if name == "H100" else {}
    own = {**fleet(cloud, "new-machine-8x", installed), "catalog": rows}
    known = planned(fleet(cloud, machine, drivers), workloads[-1])
    assert (planned(own, workloads[-1]).verdict, nodes(planned(own, workloads[-1]))) == (
        known.verdict,
        nodes(known),
    )


def test_learned_driver_outside_the_tables_can_be_planned() -> None:
    objects = yaml.safe_load(
        json.dumps(captured("Gaudi")).replace("gaudi.intel.com", "npu.example.org")
    )
    objects[0]["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "npu-8x"
    own = {
        **fleet("eks", "npu-8x", {}),
        "catalog": [dict(row) for row in learned(objects, "eks").rows],
    }
    model = 'device.attributes["npu.example.org"].model == "Gaudi"'

    fits = planned(own, job(9, request("npu", "npu.example.org", 1, model)))
    assert (fits.verdict, nodes(fits)) == ("fits", 2)
    assert planned(own, job(1, request("npu", "npu.example.org", 9))).verdict == "does-not-fit"
    serial = 'device.attributes["npu.example.org"].serial == "A1"'
    assert (
        planned(own, job(1, request("npu", "npu.example.org", 1, serial))).verdict == "cannot-tell"
    )


def row_of(found: Learned, device: int = 0) -> dict[str, Any]:
    attributes: dict[str, Any] = found.rows[0]["drivers"][0]["devices"][device]["attributes"]
    return attributes


def test_node_specific_values_are_unknown_for_the_machine_type() -> None:
    attributes = row_of(learned(captured("H100"), "eks"))

    assert attributes["productName"] == {"string": "NVIDIA H100 80GB HBM3"}
    assert attributes["uuid"] == {"unknown": "device"}
    assert attributes["driverVersion"] == {"unknown": "node"}
    assert attributes[ROOT] == {"equal": "g0"}


def test_two_nodes_show_which_values_vary() -> None:
    objects = captured("Gaudi", 2)
    for each in objects:
        if each["kind"] == "ResourceSlice":
            for index, device in enumerate(each["spec"]["devices"]):
                device["attributes"]["firmware"] = {"string": each["spec"]["nodeName"]}
                device["attributes"]["slot"] = {"int": index}
    found = learned(objects, "eks")

    assert row_of(found, 3)["slot"] == {"int": 3}
    assert row_of(found, 3)["firmware"] == {"unknown": "node"}
    assert (
        "gaudi.intel.com: firmware differs between nodes, so its values are unknown"
        in found.remarks
    )


def remarks(objects: list[dict[str, Any]], cloud: str = "eks") -> str:
    return " ".join(learned(objects, cloud).remarks)


def slices(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in objects if each["kind"] == "ResourceSlice"]


def test_missing_device_is_reported() -> None:
    objects = captured("Gaudi")
    del slices(objects)[0]["spec"]["devices"][3]
    assert "publishes 7 devices, but the machine type has 8 Gaudi HL-205" in remarks(objects)


def test_node_with_the_most_devices_is_the_example() -> None:
    objects = captured("Gaudi", 2)
    del slices(objects)[0]["spec"]["devices"][3]
    found = learned(objects, "eks")
    assert len(found.rows[0]["drivers"][0]["devices"]) == 8
    assert "publishes 7 or 8 devices, depending on the node. The catalog uses 8" in " ".join(
        found.remarks
    )


def test_device_taints_are_node_specific() -> None:
    objects = captured("Gaudi")
    slices(objects)[0]["spec"]["devices"][0]["taints"] = [{"key": "broken", "effect": "NoExecute"}]
    assert "taints of gaudi-0 are specific to these nodes" in remarks(objects)
    assert "taints" not in learned(objects, "eks").rows[0]["drivers"][0]["devices"][0]


def test_node_specific_device_names_are_numbered() -> None:
    objects = captured("Gaudi")
    for index, device in enumerate(slices(objects)[0]["spec"]["devices"]):
        device["name"] = f"0000-{25 + 20 * index:02x}-00-0-0x1020"
    found = learned(objects, "eks")
    assert [each["name"] for each in found.rows[0]["drivers"][0]["devices"][:2]] == [
        "gaudi-0",
        "gaudi-1",
    ]
    assert "names are specific to each node" in " ".join(found.remarks)


def test_amount_of_zero_is_reported() -> None:
    objects = captured("MI300X")
    for device in slices(objects)[0]["spec"]["devices"]:
        device["capacity"]["memory"] = {"value": "0"}
    assert "memory is 0, possibly because the driver couldn't read the amount" in remarks(
        objects, "aks"
    )


def test_incomplete_pool_is_not_learned() -> None:
    objects = captured("H100 with EFA")
    slices(objects)[0]["spec"]["pool"]["resourceSliceCount"] = 2
    assert "pool n0 has 2 slices, but the snapshot contains only 1" in remarks(objects)


def test_capture_without_classes_is_reported() -> None:
    objects = [each for each in captured("Gaudi") if each["kind"] != "DeviceClass"]
    assert "gaudi.intel.com: the snapshot doesn't contain a DeviceClass for this driver" in remarks(
        objects
    )


def without(kind: str) -> list[dict[str, Any]]:
    return [each for each in captured("Gaudi") if each["kind"] != kind]


def shared_slice() -> list[dict[str, Any]]:
    objects = captured("Gaudi")
    spec = slices(objects)[0]["spec"]
    del spec["nodeName"]
    spec["allNodes"] = True
    return objects


def unlabeled() -> list[dict[str, Any]]:
    objects = deepcopy(captured("Gaudi"))
    del objects[0]["metadata"]["labels"]["node.kubernetes.io/instance-type"]
    return objects


@pytest.mark.parametrize(
    ("objects", "message", "fix"),
    [
        (without("Node"), "doesn't contain a Node", "add the nodes to the snapshot"),
        (
            without("ResourceSlice"),
            "doesn't contain a ResourceSlice",
            "kubectl get nodes,resourceslices",
        ),
        (
            shared_slice(),
            "the snapshot doesn't contain a usable ResourceSlice",
            "add a Node with all its ResourceSlices",
        ),
        (
            unlabeled(),
            "node n0 doesn't have the label node.kubernetes.io/instance-type",
            "--machine",
        ),
    ],
)
def test_useless_capture_is_explained(
    objects: list[dict[str, Any]], message: str, fix: str
) -> None:
    with pytest.raises(PlannerError) as caught:
        learned(objects)
    assert message in caught.value.message
    assert fix in caught.value.fix


def test_machine_type_of_unlabeled_nodes_can_be_set() -> None:
    assert learned(unlabeled(), machine="dl1.24xlarge").rows[0]["machine"] == "dl1.24xlarge"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows + rows, "use one row per machine type"),
        (
            lambda rows: [{**rows[0], "drivers": rows[0]["drivers"] * 2}],
            "an earlier entry",
        ),
        (
            lambda rows: [
                {
                    "machine": "x",
                    "drivers": [{"driver": "a.b", "devices": [{"name": "d"}, {"name": "d"}]}],
                }
            ],
            "an earlier device",
        ),
        (
            lambda rows: [
                {
                    "machine": "x",
                    "drivers": [
                        {
                            "driver": "a.b",
                            "devices": [
                                {"name": "d", "attributes": {"m": {"int": 1, "string": "a"}}}
                            ],
                        }
                    ],
                }
            ],
            "must have exactly one of",
        ),
    ],
)
def test_contradictory_catalog_is_rejected(change: Any, sentence: str) -> None:
    rows = [dict(row) for row in learned(captured("Gaudi"), "eks").rows]
    with pytest.raises(FleetError) as caught:
        read_fleet({**fleet("eks", "dl1.24xlarge", {"gaudi": True}), "catalog": change(rows)})
    assert any(sentence in str(each) for each in (caught.value, *caught.value.others))

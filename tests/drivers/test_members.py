"""Fleets with drivers other than NVIDIA's: plans for their devices, and rejected settings."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from captures import with_cpu_groups
from driver_fleets import fleet, job, nodes, planned, reasons, request

from dra_planner import catalog
from dra_planner.clouds import cloud
from dra_planner.drivers import DriverNode, driver
from dra_planner.errors import FleetError
from dra_planner.fleet import read_fleet
from dra_planner.model import AttributeValue, Unknown
from dra_planner.offers import Offer, predict_offers, verify_offers
from dra_planner.releases import features_of

TPUS = fleet("gke", "ct5lp-hightpu-4t", {"tpu": True})


@pytest.mark.parametrize("count", [4, "All"])
def test_claims_for_all_chips_use_one_node_each(count: int | str) -> None:
    plan = planned(
        TPUS, job(2, request("tpu", "tpu.google.com", count), tolerates="google.com/tpu")
    )

    assert (plan.verdict, nodes(plan)) == ("fits", 2)


def test_claim_for_half_of_a_tpu_node_does_not_fit() -> None:
    """kubernetes-sigs/dra-driver-google-tpu:cmd/tpu-dra-kubeletplugin/state.go@f5a9d8c
    (prepareDevices).
    """
    plan = planned(TPUS, job(2, request("tpu", "tpu.google.com", 2), tolerates="google.com/tpu"))

    assert plan.verdict == "does-not-fit"
    assert (
        "prepares a claim only if it requests all 4 devices on a node. This claim requests 2"
        in reasons(plan)
    )


def test_fix_for_a_partial_tpu_claim_works() -> None:
    half = planned(TPUS, job(2, request("tpu", "tpu.google.com", 2), tolerates="google.com/tpu"))
    assert "request 4 devices, or set allocationMode to All" in reasons(half)
    assert "claim requests partial tpu devices (2)" in reasons(half)
    for count in (4, "All"):
        whole = planned(
            TPUS, job(2, request("tpu", "tpu.google.com", count), tolerates="google.com/tpu")
        )
        assert (whole.verdict, nodes(whole)) == ("fits", 2)


def test_gke_taints_tpu_nodes_automatically() -> None:
    assert planned(TPUS, job(1, request("tpu", "tpu.google.com", 4))).verdict == "does-not-fit"


QUARTER = (
    request(
        "neuron",
        "neuron.aws.com",
        4,
        'device.attributes["neuron.aws.com"].instanceType == "trn2.48xlarge"',
    ),
    request("efa", "efa.networking.k8s.aws", 4),
)
GROUP_OF_4 = "resource.aws.com/devicegroup4_id"


def test_neuron_devices_and_their_efa_interfaces_are_claimed_in_groups() -> None:
    plan = planned(
        fleet("eks", "trn2.48xlarge", {"neuron": True, "dranet": True}),
        job(5, *QUARTER, match=GROUP_OF_4),
    )

    assert (plan.verdict, nodes(plan)) == ("fits", 2)  # four groups of four on each node


def test_a_trn1_has_two_efa_interfaces_for_four_devices() -> None:
    pools = fleet("eks", "trn1.32xlarge", {"neuron": True, "dranet": True})
    two = (request("neuron", "neuron.aws.com", 4), request("efa", "efa.networking.k8s.aws", 2))
    four = (request("neuron", "neuron.aws.com", 4), request("efa", "efa.networking.k8s.aws", 4))

    assert planned(pools, job(4, *two, match=GROUP_OF_4)).verdict == "fits"
    assert planned(pools, job(1, *four, match=GROUP_OF_4)).verdict == "does-not-fit"


AMD = fleet("aks", "Standard_ND96isr_MI300X_v5", {"amd": True})
MEMORY = 'device.capacity["gpu.amd.com"].memory.compareTo(quantity("{}")) >= 0'


@pytest.mark.parametrize(
    ("memory", "verdict"), [("196592Mi", "fits"), ("191Gi", "fits"), ("192Gi", "does-not-fit")]
)
def test_an_mi300x_publishes_less_than_192_gib(memory: str, verdict: str) -> None:
    """ROCm/k8s-gpu-dra-driver:docs/demo.md@2622427."""
    plan = planned(AMD, job(1, request("gpu", "gpu.amd.com", 2, MEMORY.format(memory))))

    assert plan.verdict == verdict


def test_other_vendors_tolerations_are_not_suggested() -> None:
    plan = planned(AMD, job(5, request("gpu", "gpu.amd.com", 8)))

    assert reasons(plan)
    assert "nvidia" not in reasons(plan).lower()


def test_example_driver_has_eight_gpus_on_any_node() -> None:
    plan = planned(
        fleet("eks", "m7i.4xlarge", {"example": True}), job(9, request("gpu", "gpu.example.com", 1))
    )

    assert (plan.verdict, nodes(plan)) == ("fits", 2)


def test_inferentia_is_supported() -> None:
    """aws-neuron/neuron-helm-charts 1.10.0: the value neuronInstances contains inf1 and inf2."""
    plan = planned(
        fleet("eks", "inf2.48xlarge", {"neuron": True}),
        job(2, request("neuron", "neuron.aws.com", 6)),
    )

    assert (plan.verdict, nodes(plan)) == ("fits", 1)


def test_gaudis_are_selected_by_model() -> None:
    model = 'device.attributes["gaudi.intel.com"].model == "Gaudi"'
    plan = planned(
        fleet("eks", "dl1.24xlarge", {"gaudi": True}),
        job(9, request("hpu", "gaudi.intel.com", 1, model)),
    )

    assert (plan.verdict, nodes(plan)) == ("fits", 2)


def test_efa_interfaces_are_claimed_without_a_gpu_driver() -> None:
    interfaces = request("efa", "efa.networking.k8s.aws", 16)
    plan = planned(
        fleet("eks", "p5.48xlarge", {"dranet": True}),
        job(3, interfaces, tolerates="nvidia.com/gpu"),
    )

    assert (plan.verdict, nodes(plan)) == ("fits", 2)


def cpus(count: int) -> dict[str, Any]:
    amounts = {"requests": {"dra.cpu/cpu": str(count)}}
    return {"name": "cpus", "exactly": {"deviceClassName": "dra.cpu", "capacity": amounts}}


def test_cpus_of_a_numa_node_are_capacity() -> None:
    numa = with_cpu_groups(fleet("eks", "p5.48xlarge", {"cpu": True}), (96, 96))
    plan = planned(numa, job(4, cpus(48), tolerates="nvidia.com/gpu"))

    assert (plan.verdict, nodes(plan)) == ("fits", 1)
    assert (
        planned(numa, job(1, cpus(100), tolerates="nvidia.com/gpu")).verdict == "does-not-fit"
    )  # one request uses one device


@pytest.mark.parametrize("machine", ["m7i.4xlarge", "p5.48xlarge"])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_predicted_number_of_cpu_groups_is_unknown(machine: str, count: int) -> None:
    """Devices on two NUMA nodes show that there are two at least, not that there are two."""
    requested = cpus(4)
    requested["exactly"]["count"] = count
    plan = planned(
        fleet("eks", machine, {"cpu": True}), job(1, requested, tolerates="nvidia.com/gpu")
    )

    assert plan.verdict == "cannot-tell"


@pytest.mark.parametrize(
    ("version", "key", "is_published"),
    [("", "args", False), ("0.2.0", "args", False), ("0.3.0", "driverConfig", True)],
)
def test_cpu_driver_is_planned_and_configured_per_version(
    version: str, key: str, is_published: bool
) -> None:
    """kubernetes-sigs/dra-driver-cpu:deployment/helm and pkg/device@v0.2.0, and @de98098."""
    options = {"version": version, "mode": "individual"}
    (offer,) = offers_of(fleet("eks", "m7i.4xlarge", {"cpu": options}))
    attributes = {name for each in offer.slices for dev in each.devices for name in dev.attributes}
    cpu = driver("cpu")
    values = cpu.chart_values(cpu.options(**options), cloud("eks"), ())

    assert ("resource.kubernetes.io/numaNode" in attributes) is is_published
    assert values == {key: {"cpuDeviceMode": "individual"}}


def test_attribute_missing_from_every_cpu_group_does_not_fit() -> None:
    requested = request("cpus", "dra.cpu", 1, '"memory" in device.capacity["dra.cpu"]')
    plan = planned(fleet("eks", "m7i.4xlarge", {"cpu": True}), job(1, requested))

    assert plan.verdict == "does-not-fit"


def test_more_cpu_groups_than_predicted_are_not_a_difference() -> None:
    predicted = offers_of(fleet("eks", "m7i.4xlarge", {"cpu": True}))
    observed = offers_of(with_cpu_groups(fleet("eks", "m7i.4xlarge", {"cpu": True}), (8, 8)))

    assert [
        each for each in verify_offers(predicted, observed).differences if each.subject == "dra.cpu"
    ] == []
    swapped = verify_offers(observed, predicted).differences
    assert [
        (each.aspect, each.predicted, each.observed)
        for each in swapped
        if each.subject == "dra.cpu"
    ] == [("count", "2", "1")]


def offers_of(document: dict[str, Any]) -> tuple[Offer, ...]:
    return predict_offers(read_fleet(document), features_of(36))


@pytest.mark.parametrize(("pods", "verdict"), [(3, "fits"), (17, "does-not-fit")])
def test_individual_cpus_are_allocated(pods: int, verdict: str) -> None:
    single = fleet(
        "eks", "m7i.4xlarge", {"cpu": {"mode": "individual", "reservedCPUs": "0-1"}}, most=1
    )

    assert planned(single, job(pods, request("cpus", "dra.cpu", 4))).verdict == verdict


def test_cpu_claim_serves_one_container() -> None:
    second = {
        "name": "second",
        "image": "registry.example/work:1",
        "resources": {"claims": [{"name": "d"}]},
    }
    documents = list(yaml.safe_load_all(job(1, cpus(4))))
    documents[1]["spec"]["template"]["spec"]["containers"].append(second)
    plan = planned(fleet("eks", "p5.48xlarge", {"cpu": True}), yaml.safe_dump_all(documents))

    assert plan.verdict == "does-not-fit"
    assert "supports only one container per claim" in reasons(plan)
    assert "use a separate claim for each container" in reasons(plan)


def test_cpu_claim_requests_whole_cpus() -> None:
    part = {
        "name": "cpus",
        "exactly": {
            "deviceClassName": "dra.cpu",
            "capacity": {"requests": {"dra.cpu/cpu": "1500m"}},
        },
    }
    pool = with_cpu_groups(fleet("eks", "p5.48xlarge", {"cpu": True}), (96, 96))
    plan = planned(pool, job(1, part, tolerates="nvidia.com/gpu"))

    assert plan.verdict == "does-not-fit"
    assert "request 2 of dra.cpu/cpu" in reasons(plan)
    assert planned(pool, job(1, cpus(2), tolerates="nvidia.com/gpu")).verdict == "fits"


def test_invalid_cpu_driver_settings_are_rejected() -> None:
    grouped = {**fleet("eks", "m7i.4xlarge", {"cpu": True}), "kubernetes": "1.35"}
    with pytest.raises(FleetError) as caught:
        read_fleet(grouped)
    assert "set drivers.cpu.mode to individual, or use Kubernetes 1.36 or later" in str(
        caught.value
    )
    read_fleet({**grouped, "drivers": {"cpu": {"mode": "individual"}}})
    with pytest.raises(FleetError) as caught:
        read_fleet(fleet("eks", "m7i.4xlarge", {"cpu": {"reservedCPUs": "0-15"}}))
    assert "reserve fewer CPUs in drivers.cpu.reservedCPUs" in str(caught.value)
    read_fleet(fleet("eks", "m7i.4xlarge", {"cpu": {"reservedCPUs": "0-1"}}))
    read_fleet(fleet("eks", "m7i.4xlarge", {"cpu": {"reservedCPUs": "1-900"}}))  # CPU 0 remains


@pytest.mark.parametrize(
    ("name", "parameters", "fix"),
    [
        ("cpu", {"apiVersion": "v1", "cpuConfig": {"cpuset": "2-5"}}, "set apiVersion to v1alpha1"),
        (
            "cpu",
            {"apiVersion": "v1alpha1", "cpuConfig": {"cpuset": "all"}},
            'set cpuConfig to {cpuset: "2-5"}',
        ),
        ("intel", {"apiVersion": "v1", "kind": "GpuConfig"}, "remove the configuration"),
        ("gaudi", {"apiVersion": "v1", "kind": "GpuConfig"}, "remove the configuration"),
        ("tpu", {"apiVersion": "v1", "kind": "TpuConfig"}, "remove the configuration"),
        (
            "neuron",
            {"apiVersion": "neuron.aws.com/v1", "kind": "Neuron"},
            "use kind: NeuronConfig",
        ),
        (
            "neuron",
            {"apiVersion": "neuron.aws.com/v1", "kind": "NeuronConfig", "logicalNeuronCore": 4},
            "set logicalNeuronCore to 2",
        ),
        ("dranet", {"interface": {"mtu": 9000, "speed": 100}}, "remove speed"),
        (
            "dranet",
            {"interface": {"name": "interface-number-1"}},
            "use a name with at most 15 characters",
        ),
        ("dranet", {"interface": {"mtu": 60}}, "set mtu to at least 68"),
        (
            "dranet",
            {"interface": {"dhcp": True, "addresses": ["10.0.0.2/24"]}},
            "remove either dhcp or addresses",
        ),
        (
            "dranet",
            {"interface": {"vrf": {"name": "red"}}, "rules": [{}]},
            "remove either rules or vrf",
        ),
        ("dranet", {"interface": {"arpIgnore": 5}}, "set arpIgnore to 0"),
        ("dranet", {"apiVersion": "v1", "kind": "NetworkConfig"}, "remove apiVersion and kind"),
    ],
)
def test_rejected_opaque_configuration_has_a_fix(
    name: str, parameters: dict[str, Any], fix: str
) -> None:
    member = driver(name)
    assert fix in [each.fix for each in member.config_faults(member.domains[0], parameters, None)]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("cpu", {"apiVersion": "v1alpha1", "cpuConfig": {"cpuset": "0,2-5"}}),
        (
            "neuron",
            {"apiVersion": "neuron.aws.com/v1", "kind": "NeuronConfig", "logicalNeuronCore": 1},
        ),
        (
            "neuron",
            {"apiVersion": "neuron.aws.com/v1", "kind": "UltraServerConfig", "ultraserverMode": 4},
        ),
        (
            "dranet",
            {"interface": {"name": "net1", "mtu": 9000, "dhcp": True}, "ethtool": {"features": {}}},
        ),
    ],
)
def test_valid_opaque_configuration_has_no_fault(name: str, parameters: dict[str, Any]) -> None:
    member = driver(name)
    assert list(member.config_faults(member.domains[0], parameters, None)) == []


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (fleet("eks", "g6.2xlarge", {"amd": True}), "doesn't run on EKS"),
        (
            fleet("gke", "g2-standard-8", {"neuron": True}),
            "AWS Neuron devices exist only on EC2 instances",
        ),
        (fleet("aks", "Standard_NC4as_T4_v3", {"tpu": True}), "TPUs exist only on Google Cloud"),
        (fleet("gke", "tpu7x-standard-4t", {"tpu": True}), "doesn't support tpu7x"),
        (
            fleet("eks", "g6.2xlarge", {"intel": True}),
            "no EC2 instance type in the tables has Intel GPUs",
        ),
        (
            fleet("gke", "g2-standard-8", {"gaudi": True}),
            "no Google Cloud machine type has Gaudi accelerators",
        ),
        (
            fleet("aks", "Standard_NC4as_T4_v3", {"intel": True}),
            "no Azure size in the tables has Intel GPUs",
        ),
        (
            {**fleet("eks", "m7i.4xlarge", {"cpu": True}), "kubernetes": "1.35"},
            "DRAConsumableCapacity",
        ),
        (
            fleet("eks", "m7i.4xlarge", {"cpu": {"reservedCPUs": "0-15"}}),
            "all 16 CPUs on",
        ),
        (
            fleet("eks", "m7i.4xlarge", {"cpu": {"reservedCPUs": "0-99999999"}}),
            "all 16 CPUs on",
        ),
        (
            fleet("eks", "m7i.4xlarge", {"cpu": {"reservedCPUs": "all"}}),
            "isn't a list of CPUs, such as 0-1,4",
        ),
        (
            fleet("eks", "m7i.4xlarge", {"cpu": {"reservedCPUs": "1,,2"}}),
            "isn't a list of CPUs, such as 0-1,4",
        ),
        (
            fleet("eks", "m7i.4xlarge", {"cpu": {"reservedCPUs": "9" * 5000}}),
            "isn't a list of CPUs, such as 0-1,4",
        ),
        (
            fleet("eks", "m7i.4xlarge", {"cpu": {"reservedCPUs": "5-2"}}),
            'the first CPU in the range "5-2" is higher than the last',
        ),
        (
            fleet("gke", "ct5lp-hightpu-4t", {"nvidia": {"version": "25.8.1"}}),
            "doesn't have an NVIDIA GPU",
        ),
        (
            fleet("gke", "e2-standard-8", {"nvidia": {"version": "25.8.1"}}),
            "doesn't have an NVIDIA GPU",
        ),
        (
            {**TPUS, "pools": [{**TPUS["pools"][0], "mig": "all-1g.10gb"}]},
            "none of the fleet's drivers partitions",
        ),
    ],
)
def test_driver_that_cannot_run_is_rejected(document: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FleetError) as caught:
        read_fleet(document)
    assert any(sentence in str(each) for each in (caught.value, *caught.value.others))


@pytest.mark.parametrize(
    ("cloud", "machine", "drivers"),
    [
        ("gke", "e2-standard-8", {"example": True}),
        ("aks", "Standard_D16s_v5", {"example": True}),
        ("gke", "n2-standard-32", {"example": True, "cpu": True}),
    ],
)
def test_software_drivers_need_no_accelerators(
    cloud: str, machine: str, drivers: dict[str, Any]
) -> None:
    plan = planned(fleet(cloud, machine, drivers), job(2, request("gpu", "gpu.example.com", 4)))
    assert (plan.verdict, nodes(plan) > 0) == ("fits", True)


@pytest.mark.parametrize(
    ("document", "requested", "message", "fix"),
    [
        (
            fleet("eks", "dl1.24xlarge", {"cpu": True}),
            "gaudi.intel.com",
            "but no driver in the fleet provides such devices",
            'set `drivers.gaudi=true` in the fleet, so that pool "pool" publishes these devices',
        ),
        (
            fleet("aks", "Standard_ND96isr_MI300X_v5", {"amd": True}),
            "gpu.nvidia.com",
            "but no driver in the fleet provides such devices",
            "set `drivers.nvidia.version` in the fleet",
        ),
        (
            fleet("gke", "a4-highgpu-8g", {"nvidia": {"version": "0.5.0"}, "dranet": True}),
            "efa.networking.k8s.aws",
            "which DRANET doesn't create in this fleet",
            "request DeviceClass mrdma.google.com or netdev.google.com",
        ),
        (
            fleet("eks", "g6.xlarge", {"nvidia": {"version": "0.5.0"}}),
            "gpu.intel.com",
            "but no driver in the fleet provides such devices",
            "request devices that the fleet provides, or use --observed",
        ),
    ],
    ids=["not installed", "no such pool", "a class of another cloud", "not on this cloud"],
)
def test_class_without_its_driver_cannot_be_decided_and_has_a_fix(
    document: dict[str, Any], requested: str, message: str, fix: str
) -> None:
    plan = planned(document, job(1, request("device", requested, 1)))
    assert plan.verdict == "cannot-tell"
    assert message in reasons(plan)
    assert fix in reasons(plan)


def test_extended_resource_of_a_device_plugin_does_not_fit() -> None:
    pod = yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p"},
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example/work:1",
                        "resources": {"limits": {"aws.amazon.com/neuron": 1}},
                    }
                ]
            },
        }
    )
    assert planned(fleet("eks", "trn2.48xlarge", {"neuron": True}), pod).verdict == "does-not-fit"


@pytest.mark.parametrize("driver", ["example", "cpu", "tpu", "amd", "gaudi", "neuron"])
def test_fleet_with_explicit_defaults_is_the_same(driver: str) -> None:
    clouds = {"tpu": ("gke", "ct5lp-hightpu-4t"), "amd": ("aks", "Standard_ND96isr_MI300X_v5")}
    cloud, machine = clouds.get(driver, ("eks", "m7i.4xlarge"))
    read = read_fleet(fleet(cloud, machine, {driver: True}))
    assert read_fleet(read.document()) == read


def test_cpu_group_is_no_larger_than_its_node() -> None:
    cpus = {"deviceClassName": "dra.cpu", "capacity": {"requests": {"dra.cpu/cpu": "40"}}}
    document = fleet("gke", "n2-standard-32", {"cpu": True})
    plan = planned(document, job(1, {"name": "cpus", "exactly": cpus}))
    assert plan.verdict == "does-not-fit"
    assert "dra.cpu/cpu: requested 40, at most 32 allowed" in reasons(plan)
    cpus["capacity"]["requests"]["dra.cpu/cpu"] = "32"
    assert planned(document, job(1, {"name": "cpus", "exactly": cpus})).verdict == "cannot-tell"


def published(cloud: str, name: str, machine: str) -> list[dict[str, AttributeValue]]:
    member = driver(name)
    node = DriverNode(
        machine=catalog.machine(cloud, machine), name="node", features=features_of(36)
    )
    return [
        dict(each.attributes)
        for part in member.slices(member.options(), node)
        for each in part.devices
    ]


def test_group_ids_match_the_hashes_of_the_upstream_library() -> None:
    """aws-neuron/connected-device-maps-over-efa-for-neuron:lookup/lookup.go@d571025
    (constructDeviceGroupHash).
    """
    devices = published("eks", "neuron", "trn2.48xlarge")

    groups = [str(each[GROUP_OF_4]) for each in devices]
    assert groups[::4] == [
        "13713e551cd37c19",
        "671622785349fddf",
        "237e3ef7b968b4d3",
        "b3d6ce1919d29f8f",
    ]
    assert {str(each["resource.aws.com/devicegroup8_id"]) for each in devices} == {
        "3593812b8066a078",
        "614e16dab9ba2f1f",
    }
    assert {str(each["resource.aws.com/devicegroup16_id"]) for each in devices} == {
        "821d14afaf11327d"
    }


@pytest.mark.parametrize("machine", ["trn1.2xlarge", "trn2.3xlarge"])
def test_machines_outside_the_map_have_no_groups(machine: str) -> None:
    assert not any(
        "devicegroup" in name for each in published("eks", "neuron", machine) for name in each
    )


@pytest.mark.parametrize(
    ("machine", "generation", "chips", "topology"),
    [
        ("ct5lp-hightpu-1t", "v5litepod", 1, "1x1"),
        ("ct5lp-hightpu-8t", "v5litepod", 8, "2x4"),
        ("ct6e-standard-4t", "v6e", 4, "2x2"),
        ("ct5p-hightpu-4t", "v5p", 4, None),
    ],
)
def test_tpu_attributes_match_the_machine_type(
    machine: str, generation: str, chips: int, topology: str | None
) -> None:
    devices = published("gke", "tpu", machine)

    assert [each["index"] for each in devices] == list(range(chips))
    assert {str(each["tpuGen"]) for each in devices} == {generation}
    assert {each["chipCount"] for each in devices} == {chips}
    assert devices[0]["topology"] == (topology or Unknown("node"))


@pytest.mark.parametrize(
    ("machine", "is_assumed"), [("inf2.48xlarge", True), ("trn1.2xlarge", False)]
)
def test_inferentia_support_is_an_assumption(machine: str, is_assumed: bool) -> None:
    work = job(1, request("one", "neuron.aws.com", 1), tolerates="aws.amazon.com/neuron")
    plan = planned(fleet("eks", machine, {"neuron": True}), work)
    assert any("supports Inferentia" in each for each in plan.assumptions) == is_assumed

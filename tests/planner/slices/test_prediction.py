"""What nodes publish: devices, attributes and capacities per machine and release."""

from __future__ import annotations

import pytest

from dra_planner import catalog
from dra_planner.drivers import nvidia
from dra_planner.drivers.dranet import predict_network_slices
from dra_planner.drivers.nvidia import (
    COMPUTE_DOMAIN_DRIVER,
    GPU_DRIVER,
    PublishingSettings,
    predict_slices,
)
from dra_planner.errors import CatalogError, UnsupportedFeature
from dra_planner.model import Device, ResourceSlice, Unknown, Version
from dra_planner.quantity import Quantity
from dra_planner.releases import features_of


def predict(
    machine: str,
    driver: str = "25.8.1",
    *,
    cloud: str = "eks",
    minor: int = 34,
    mig: str = "none",
    settings: PublishingSettings | None = None,
) -> tuple[ResourceSlice, ...]:
    return predict_slices(
        catalog.machine(cloud, machine),
        nvidia.driver_release(driver),
        node_name="node-0",
        features=features_of(minor),
        mig=mig,
        settings=settings or PublishingSettings(),
    )


def devices(*args: object, **kwargs: object) -> tuple[Device, ...]:
    return tuple(device for each in predict(*args, **kwargs) for device in each.devices)  # type: ignore[arg-type]  # passed on


DYNAMIC = PublishingSettings(gates={"DynamicMIG": True})


def test_l4_node_publishes_one_gpu() -> None:
    (published,) = predict("g6.2xlarge")
    assert (published.driver, published.pool, published.node_name) == (
        GPU_DRIVER,
        "node-0",
        "node-0",
    )
    assert published.slice_count == 1
    (device,) = published.devices
    assert device.name == "gpu-0"
    assert device.attributes == {
        "type": "gpu",
        "uuid": Unknown("gpu-0"),
        "productName": "NVIDIA L4",
        "brand": "Nvidia",
        "architecture": "Ada Lovelace",
        "cudaComputeCapability": Version("8.9.0"),
        "driverVersion": Unknown("node", like=Version("0.0.0")),
        "cudaDriverVersion": Unknown("node", like=Version("0.0.0")),
        "pcieBusID": Unknown("gpu-0"),
        "resource.kubernetes.io/pcieRoot": Unknown("pci0000:30"),
    }
    assert str(device.capacity["memory"].value) == "23034Mi"


def test_attributes_missing_from_the_table_are_unknown() -> None:
    for device in (
        *devices("p3.2xlarge"),
        *devices("n1-standard-8+nvidia-tesla-v100", cloud="gke"),
    ):
        assert device.attributes["architecture"] == "Volta"
        assert device.attributes["brand"] == Unknown("model")


def test_fractional_gpu_has_an_architecture_but_unknown_memory() -> None:
    (device,) = devices("g4-standard-12", cloud="gke")
    assert device.attributes["architecture"] == "Blackwell"
    assert device.attributes["productName"] == Unknown("model")
    assert device.capacity["memory"].value == Unknown()


def test_machine_type_may_override_the_memory_of_its_gpu() -> None:
    assert {str(device.capacity["memory"].value) for device in devices("g5g.metal")} == {"16Gi"}
    assert {str(device.capacity["memory"].value) for device in devices("g5g.16xlarge")} == {"15Gi"}


def test_gpus_on_one_pcie_root_share_a_group() -> None:
    groups = [
        device.attributes["resource.kubernetes.io/pcieRoot"] for device in devices("p4d.24xlarge")
    ]
    assert [groups.count(group) for group in groups] == [2] * 8
    assert Unknown() not in groups


@pytest.mark.parametrize(
    ("driver", "minor", "present", "absent"),
    [
        (
            "25.3.2",
            34,
            {"index", "minor", "pcieBusID"},
            {"addressingMode", "resource.kubernetes.io/pciBusID"},
        ),
        ("25.8.1", 34, {"pcieBusID"}, {"index", "minor", "addressingMode"}),
        ("25.12.0", 34, {"resource.kubernetes.io/pciBusID", "addressingMode"}, {"pcieBusID"}),
        ("0.4.1", 36, {"resource.kubernetes.io/pciBusID"}, {"resource.kubernetes.io/numaNode"}),
        ("0.5.0", 36, {"resource.kubernetes.io/numaNode"}, {"pcieBusID"}),
    ],
)
def test_attributes_depend_on_the_driver_version(
    driver: str, minor: int, present: set[str], absent: set[str]
) -> None:
    (first, *_) = devices("p5.48xlarge", driver, minor=minor)
    assert present <= set(first.attributes)
    assert not absent & set(first.attributes)


@pytest.mark.parametrize(
    ("driver", "names"),
    [
        ("25.8.1", ["gpu-0-mig-9-0-4", "gpu-0-mig-9-4-4"]),
        ("0.4.1", ["gpu-0-mig-3g40gb-9-0", "gpu-0-mig-3g40gb-9-4"]),
    ],
)
def test_mig_device_names_depend_on_the_driver_version(driver: str, names: list[str]) -> None:
    cut = devices("p5.4xlarge", driver, mig="all-3g.40gb")
    assert [device.name for device in cut] == names
    assert cut[1].capacity["memorySlice4"].value == Quantity.from_int(1)
    assert cut[1].attributes["parentUUID"] == Unknown("gpu-0")


def test_dynamic_mig_publishes_every_placement_and_the_gpu() -> None:
    slices = predict("p5.48xlarge", "0.4.1", minor=36, settings=DYNAMIC)
    assert [len(each.devices) for each in slices] == [0] + [26] * 8
    assert all(each.slice_count == 9 for each in slices)
    whole, first = slices[1].devices[:2]
    assert str(whole.capacity["memory"].value) == "81152Mi"
    assert "uuid" not in first.attributes
    assert str(first.consumes_counters[0].counters["memory-slice-0"]) == "1"


def test_ampere_is_partitioned_only_with_mig_enabled() -> None:
    off = devices("p4d.24xlarge", "0.4.1", minor=36, settings=DYNAMIC)
    on = devices("p4d.24xlarge", "0.4.1", minor=36, mig="all-enabled", settings=DYNAMIC)
    assert len(off) == 8
    assert len(on) == 8 * 25
    assert {device.attributes["type"] for device in on} == {"mig"}


def test_shares_are_published_by_number() -> None:
    settings = PublishingSettings(gates={"ConsumableShares": True}, consumable_shares="4")
    (device,) = devices("g6.2xlarge", "0.5.0", minor=36, settings=settings)
    assert device.allow_multiple_allocations
    policy = device.capacity["shares"].request_policy
    assert policy is not None
    assert policy.default == Quantity.from_int(1)
    assert str(device.capacity["shares"].value) == "4"


def test_lists_are_published_only_if_the_api_supports_them() -> None:
    gates = PublishingSettings(gates={"DRAListTypeAttributes": True})
    machine, release = catalog.machine("eks", "p4d.24xlarge"), nvidia.driver_release("0.5.0")
    features = features_of(36).with_gates(list_attributes=True)
    (published,) = predict_slices(
        machine, release, node_name="node-0", features=features, settings=gates
    )
    assert published.devices[7].attributes["resource.kubernetes.io/numaNode"] == (1,)
    with pytest.raises(UnsupportedFeature, match="DRAListTypeAttributes"):
        predict("p4d.24xlarge", "0.5.0", minor=36, settings=gates)


def test_compute_domains_publish_one_channel_and_one_daemon() -> None:
    slices = predict("p6e-gb200.36xlarge", settings=PublishingSettings(compute_domains=True))
    assert [each.driver for each in slices] == [GPU_DRIVER, COMPUTE_DOMAIN_DRIVER]
    assert [device.name for device in slices[1].devices] == ["channel-0", "daemon-0"]


@pytest.mark.parametrize(
    ("error", "words", "arguments"),
    [
        (CatalogError, "can't be installed", {"driver": "25.3.1"}),
        (
            CatalogError,
            "issue 719",
            {"machine": "p5.4xlarge", "driver": "25.8.0", "mig": "all-1g.10gb"},
        ),
        (CatalogError, "NVIDIA L4 doesn't support MIG", {"mig": "all-1g.10gb"}),
        (CatalogError, "7g.80gb", {"machine": "p5.4xlarge", "mig": "1g.5gb"}),
        (
            CatalogError,
            "at most 2 instances of 3g.40gb",
            {"machine": "p5.4xlarge", "mig": "3g.40gb:3"},
        ),
        (
            UnsupportedFeature,
            "GKE doesn't support MIG",
            {"machine": "a3-highgpu-1g", "cloud": "gke", "mig": "all-1g.10gb"},
        ),
        (
            UnsupportedFeature,
            "DRAPartitionableDevices",
            {"machine": "p5.4xlarge", "driver": "0.4.1", "settings": DYNAMIC},
        ),
        (CatalogError, "issue 1092", {"driver": "25.12.0", "minor": 36, "settings": DYNAMIC}),
        (CatalogError, "doesn't have the feature gate", {"settings": DYNAMIC}),
        (
            UnsupportedFeature,
            "AKS doesn't support MIG",
            {"machine": "Standard_NC24ads_A100_v4", "cloud": "aks", "mig": "all-1g.10gb"},
        ),
        (
            UnsupportedFeature,
            "DRAConsumableCapacity",
            {
                "driver": "0.5.0",
                "settings": PublishingSettings(
                    gates={"ConsumableShares": True}, consumable_shares="memory"
                ),
            },
        ),
    ],
)
def test_unsupported_settings_are_rejected_with_a_reason(
    error: type[Exception], words: str, arguments: dict[str, object]
) -> None:
    with pytest.raises(error, match=words):
        predict(**{"machine": "g6.2xlarge", **arguments})  # type: ignore[arg-type]  # cases of several types


def test_interfaces_share_the_roots_of_the_gpus() -> None:
    machine = catalog.machine("eks", "p5.48xlarge")
    (network,) = predict_network_slices(machine, node_name="node-0")
    roots = [device.attributes["resource.kubernetes.io/pcieRoot"] for device in network.devices]
    for gpu in devices("p5.48xlarge"):
        assert roots.count(gpu.attributes["resource.kubernetes.io/pcieRoot"]) == 4


def test_machine_types_without_public_interfaces_publish_none() -> None:
    assert predict_network_slices(catalog.machine("gke", "g2-standard-4"), node_name="node-0") == ()


def test_fabric_manager_attributes_are_known_only_to_the_node() -> None:
    gates = PublishingSettings(
        gates={"FabricManagerPartitioning": True, "PassthroughSupport": True}
    )
    (published,) = predict("p5.48xlarge", "0.5.0", settings=gates)
    names = {"gpuModuleID", "partition1", "partition2", "partition4", "partition8"}
    for device in (published.devices[0], published.devices[-1]):
        assert all(isinstance(device.attributes[name], Unknown) for name in names)
    (without,) = predict("p5.48xlarge", "0.5.0")
    assert names.isdisjoint(without.devices[0].attributes)
    assert nvidia.driver_release("0.4.1").behind_gate("FabricManagerPartitioning") == ()

"""Predictions against what real nodes have published: no difference in count, type, product, brand,
architecture, capability or memory. `observed.csv` restates public ResourceSlices, one row for the
devices of one kind on one node.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dra_planner import catalog
from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import PublishingSettings, predict_slices
from dra_planner.releases import features_of

with (Path(__file__).parent / "observed.csv").open() as file:
    OBSERVED = list(csv.DictReader(file))


def label(row: dict[str, str]) -> str:
    return f"{row['machine']}-{row['driver']}"


@pytest.mark.parametrize("row", OBSERVED, ids=label)
def test_predicted_devices_match_the_observed_nodes(row: dict[str, str]) -> None:
    slices = predict_slices(
        catalog.machine(row["cloud"], row["machine"]),
        nvidia.driver_release(row["driver"]),
        node_name="node-0",
        features=features_of(int(row["minor"])),
        mig=row["mig"],
        settings=PublishingSettings(
            gates={"DynamicMIG": True} if row["dynamic_mig"] == "yes" else {}
        ),
    )
    devices = [
        device
        for each in slices
        for device in each.devices
        if device.attributes["type"] == row["type"]
    ]
    assert len(devices) == int(row["count"])
    for device in devices:
        assert device.attributes["productName"] == row["product"]
        assert device.attributes["brand"] == row["brand"]
        assert device.attributes["architecture"] == row["architecture"]
        assert str(device.attributes["cudaComputeCapability"]) == row["capability"]
        assert str(device.capacity["memory"].value) == row["memory"]


def test_mig_devices_of_an_h100_match_a_real_node() -> None:
    (published,) = predict_slices(
        catalog.machine("eks", "p5.4xlarge"),
        nvidia.driver_release("25.12.0"),
        node_name="node-0",
        features=features_of(34),
        mig="4g.40gb,3g.40gb",
    )
    seen = [
        (
            device.name,
            str(device.capacity["memory"].value),
            str(device.capacity["multiprocessors"].value),
        )
        for device in published.devices
    ]
    assert seen == [
        ("gpu-0-mig-4g40gb-5-0", "40448Mi", "64"),
        ("gpu-0-mig-3g40gb-9-4", "40448Mi", "60"),
    ]


def test_mig_device_of_an_a100_matches_a_real_node() -> None:
    # one device of an EC2 node with MIG-partitioned A100 cards of 40 GB, NVIDIA driver 580.126.09
    (published,) = predict_slices(
        catalog.machine("eks", "p4d.24xlarge"),
        nvidia.driver_release("25.8.1"),
        node_name="node-0",
        features=features_of(34),
        mig="all-1g.5gb",
    )
    device = next(each for each in published.devices if each.name == "gpu-0-mig-19-2-1")
    assert device.attributes["profile"] == "1g.5gb"
    assert (
        str(device.capacity["memory"].value),
        str(device.capacity["multiprocessors"].value),
    ) == ("4864Mi", "14")


def test_mig_device_of_an_h200_matches_a_real_node() -> None:
    (published,) = predict_slices(
        catalog.machine("eks", "p5en.48xlarge"),
        nvidia.driver_release("0.4.1"),
        node_name="node-0",
        features=features_of(36),
        mig="0=all-1g.18gb",
    )
    names = [device.name for device in published.devices[:3]]
    assert names == ["gpu-0-mig-1g18gb-19-0", "gpu-0-mig-1g18gb-19-1", "gpu-0-mig-1g18gb-19-2"]


@pytest.mark.parametrize(
    ("cloud", "machine", "roots"),
    [
        # four nodes in public conformance evidence, chart 25.12.0
        ("eks", "p5.48xlarge", {index: f"pci0000:{0x44 + 0x11 * index:02x}" for index in range(8)}),
        ("gke", "a3-ultragpu-8g", {0: "pci0000:8c", 7: "pci0000:c8"}),
        ("gke", "a2-highgpu-1g", {0: "pci0000:00"}),
    ],
)
def test_pcie_roots_of_gpus_match_real_nodes(
    cloud: str, machine: str, roots: dict[int, str]
) -> None:
    places = catalog.gpu_places(catalog.machine(cloud, machine))
    assert {index: places[index].pcie_root for index in roots} == roots


def test_pcie_roots_of_interfaces_match_a_real_node() -> None:
    # dra.net devices 0, 2 and 6 of an a3-ultragpu-8g, whose interfaces are called gpu<index>rdma0
    interfaces = catalog.network_interfaces(catalog.machine("gke", "a3-ultragpu-8g"))
    assert [(interfaces[index].pcie_root, interfaces[index].numa_node) for index in (0, 6)] == [
        ("pci0000:8c", 0),
        ("pci0000:c8", 1),
    ]
    assert interfaces[2].numa_node == 0


def test_every_unobserved_gpu_is_marked() -> None:
    products = {row["product"] for row in OBSERVED}
    for gpu in nvidia.gpus():
        # seen on AKS, where nothing is predicted
        if gpu.product_name not in products and gpu.id != "a100-pcie-80gb":
            assert gpu.provenance.confidence in ("derived", "documented"), gpu.id

"""Predictions against what real nodes have published: no difference in count, type, product, brand, architecture,
capability or memory. `observed.csv` restates public ResourceSlices, one row for the devices of one kind on one node.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dra_planner import catalog
from dra_planner.releases import features_of
from dra_planner.slices import DriverSettings, predict_slices

with (Path(__file__).parent / "observed.csv").open() as file:
    OBSERVED = list(csv.DictReader(file))


def label(row: dict[str, str]) -> str:
    return f"{row['machine']}-{row['driver']}"


@pytest.mark.parametrize("row", OBSERVED, ids=label)
def test_nodes_publish_what_was_predicted(row: dict[str, str]) -> None:
    slices = predict_slices(
        catalog.machine(row["cloud"], row["machine"]),
        catalog.driver_release(row["driver"]),
        node_name="node-0",
        features=features_of(int(row["minor"])),
        mig=row["mig"],
        settings=DriverSettings(gates={"DynamicMIG": True} if row["dynamic_mig"] == "yes" else {}),
    )
    devices = [device for each in slices for device in each.devices if device.attributes["type"] == row["type"]]
    assert len(devices) == int(row["count"])
    for device in devices:
        assert device.attributes["productName"] == row["product"]
        assert device.attributes["brand"] == row["brand"]
        assert device.attributes["architecture"] == row["architecture"]
        assert str(device.attributes["cudaComputeCapability"]) == row["capability"]
        assert str(device.capacity["memory"].value) == row["memory"]


def test_instances_of_an_h100_are_named_and_sized_as_on_a_real_node() -> None:
    (published,) = predict_slices(
        catalog.machine("eks", "p5.4xlarge"),
        catalog.driver_release("25.12.0"),
        node_name="node-0",
        features=features_of(34),
        mig="4g.40gb,3g.40gb",
    )
    seen = [
        (device.name, str(device.capacity["memory"].value), str(device.capacity["multiprocessors"].value))
        for device in published.devices
    ]
    assert seen == [("gpu-0-mig-4g40gb-5-0", "40448Mi", "64"), ("gpu-0-mig-3g40gb-9-4", "40448Mi", "60")]


def test_every_gpu_that_was_never_seen_on_a_node_is_marked_so() -> None:
    products = {row["product"] for row in OBSERVED}
    for gpu in catalog.gpus():
        if gpu.product_name not in products and gpu.id != "a100-pcie-80gb":  # seen on AKS, where nothing is predicted
            assert gpu.provenance.confidence in ("derived", "documented"), gpu.id

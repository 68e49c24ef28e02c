"""The assumptions that a prediction reports."""

from __future__ import annotations

import pytest

from dra_planner import catalog
from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import PublishingSettings, predict_slices, slice_assumptions
from dra_planner.releases import features_of


def assume(
    machine: str, driver: str = "25.8.1", cloud: str = "eks", mig: str = "none", **gates: bool
) -> str:
    return "\n".join(
        slice_assumptions(
            catalog.machine(cloud, machine),
            nvidia.driver_release(driver),
            mig=mig,
            settings=PublishingSettings(gates=gates),
        )
    )


def test_well_known_node_has_no_assumptions() -> None:
    assert assume("g6.12xlarge") == ""
    assert assume("trn1.2xlarge") == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (assume("p3.2xlarge"), "p3.2xlarge: unknown values of its GPUs: brand"),
        (
            assume("p3.2xlarge"),
            "Tesla V100-SXM2-16GB: no published ResourceSlice for this GPU is known, so its "
            "attributes come from other sources",
        ),
        (
            assume("g4-standard-6", cloud="gke"),
            "unknown values of its GPUs: productName, brand, memory",
        ),
        (
            assume("a3-highgpu-8g", cloud="gke"),
            ": it's unknown which of its GPUs share a PCIe root",
        ),
        (
            assume("g6.xlarge", "0.5.0"),
            "NVIDIA DRA driver 0.5.0: the facts about this version come from the "
            "repository's default branch shortly before the release",
        ),
        (
            assume("p5.4xlarge", mig="all-balanced"),
            (
                "the plan assumes that the MIG instances in all-balanced exist before the driver "
                "starts"
            ),
        ),
        (
            assume("p5en.48xlarge", mig="all-3g.71gb"),
            "NVIDIA H200: some properties of 3g.71gb are unknown",
        ),
        (
            assume("p5.4xlarge", "0.4.1", DynamicMIG=True),
            ": the driver publishes MIG partitions, because DynamicMIG is on",
        ),
        (
            assume("p4d.24xlarge", "0.4.1", mig="all-enabled", DynamicMIG=True),
            ": the driver publishes MIG partitions, because DynamicMIG is on",
        ),
        (assume("p4d.24xlarge", "0.4.1", DynamicMIG=True), "the driver publishes only whole GPUs"),
        (
            assume("p5.4xlarge", "0.4.1", PassthroughSupport=True),
            "the driver publishes both a GPU and its VFIO device, and only the driver (not "
            "the scheduler) prevents the use of both",
        ),
    ],
)
def test_unknown_facts_are_reported(text: str, words: str) -> None:
    assert words in text


@pytest.mark.parametrize("mig", ["none", "all-enabled"])
def test_assumptions_about_partitions_match_the_published_devices(mig: str) -> None:
    machine, driver = catalog.machine("eks", "p4d.24xlarge"), nvidia.driver_release("0.4.1")
    settings = PublishingSettings(gates={"DynamicMIG": True})
    slices = predict_slices(
        machine, driver, node_name="n", features=features_of(36), mig=mig, settings=settings
    )
    is_published = any(
        device.attributes["type"] == "mig" for each in slices for device in each.devices
    )
    assumptions = assume("p4d.24xlarge", "0.4.1", mig=mig, DynamicMIG=True)
    assert is_published == ("partitions" in assumptions) == ("only whole GPUs" not in assumptions)

"""Fixes for selectors that no device satisfies keep the intent, in the form in which the driver
publishes its devices. Each fix is followed and planned again.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from driver_fleets import fleet, job, planned, request
from observed_drivers import device, device_request, on_one_node, reasons, work

BUS = "resource.kubernetes.io__pciBusID"
USE = re.compile(r"use `([^`]+)` instead of")


def read(driver: str, name: str) -> str:
    return f"device.attributes['{driver}'].{name}"


def memory(driver: str) -> str:
    return f"device.capacity['{driver}'].memory.compareTo(quantity('16Gi')) >= 0"


AMD, INTEL, CPU = "gpu.amd.com", "gpu.intel.com", "dra.cpu"
MI300X: dict[str, Any] = {"productName": "MI300X", "deviceID": "0x74a1", BUS: "0000:19:00.0"}
ARC: dict[str, Any] = {"model": "Arc B60", "pciId": "0xe211", "driver": "xe", BUS: "0000:03:00.0"}


@pytest.mark.parametrize(
    ("driver", "published", "selector", "meaning", "better"),
    [
        pytest.param(*row, id=name)
        for name, row in {
            "AMD reads no memory": (
                AMD,
                {**MI300X, "memory": "0"},
                memory(AMD),
                "MI300X",
                'device.attributes["gpu.amd.com"].productName == "MI300X"',
            ),
            "AMD's deviceID is per model": (
                AMD,
                MI300X,
                f"{read(AMD, 'deviceID')} == '994913940318892495'",
                "MI300X",
                'device.attributes["gpu.amd.com"].productName == "MI300X"',
            ),
            "AMD publishes no family": (
                AMD,
                MI300X,
                f"{read(AMD, 'family')} == 'AI'",
                "MI300X",
                'device.attributes["gpu.amd.com"].productName == "MI300X"',
            ),
            "AMD renamed pciAddr": (
                AMD,
                MI300X,
                f"{read(AMD, 'pciAddr')} == '0000:19:00.0'",
                "",
                "device.attributes[\"resource.kubernetes.io\"].pciBusID == '0000:19:00.0'",
            ),
            "Intel reads no memory": (
                INTEL,
                {**ARC, "memory": "0"},
                memory(INTEL),
                "Arc B60",
                'device.attributes["gpu.intel.com"].model == "Arc B60"',
            ),
            "Intel binds another kernel driver": (
                INTEL,
                {**ARC, "driver": "vfio-pci"},
                f"{read(INTEL, 'driver')} == 'xe'",
                "Arc B60",
                'device.attributes["gpu.intel.com"].model == "Arc B60"',
            ),
            "Intel doesn't know the model": (
                INTEL,
                {**ARC, "model": "Unknown"},
                f"{read(INTEL, 'model')} == 'Arc B60'",
                "0xe211",
                'device.attributes["gpu.intel.com"].pciId == "0xe211"',
            ),
            "Intel renamed pciAddress": (
                INTEL,
                ARC,
                f'{read(INTEL, "pciAddress")} == "0000:03:00.0"',
                "",
                'device.attributes["resource.kubernetes.io"].pciBusID == "0000:03:00.0"',
            ),
            "an interface without a name": (
                "dra.net",
                {"pciDevice": "ConnectX-7", "rdma": True},
                f"{read('dra.net', 'ifName')} == 'rdma0'",
                "ConnectX-7",
                'device.attributes["dra.net"].pciDevice == "ConnectX-7"',
            ),
            "Gaudi has its own names for models": (
                "gaudi.intel.com",
                {"model": "Gaudi2", "healthy": True},
                f"{read('gaudi.intel.com', 'model')} == 'HL-225'",
                "Gaudi2",
                'device.attributes["gaudi.intel.com"].model == "Gaudi2"',
            ),
            "Intel has its own names for models": (
                INTEL,
                ARC,
                f"{read(INTEL, 'model')}.contains('0xe211')",
                "Arc B60",
                'device.attributes["gpu.intel.com"].model == "Arc B60"',
            ),
            "a bool as text": (
                "gaudi.intel.com",
                {"model": "Gaudi2", "healthy": True},
                f"{read('gaudi.intel.com', 'healthy')} == 'true'",
                "",
                "device.attributes['gaudi.intel.com'].healthy == true",
            ),
            "a number as text": (
                CPU,
                {"socketID": 1},
                f'{read(CPU, "socketID")} == "1"',
                "",
                "device.attributes['dra.cpu'].socketID == 1",
            ),
            "a text as a number": (
                "npu.example.com",
                {"slot": "7"},
                f"{read('npu.example.com', 'slot')} == 7",
                "",
                "device.attributes['npu.example.com'].slot == \"7\"",
            ),
            "a version as text": (
                "npu.rebellions.ai",
                {"driverVersion": "2.1.3"},
                f"{read('npu.rebellions.ai', 'driverVersion')}.isGreaterThan(semver('2.0.0'))",
                "",
                "semver(device.attributes['npu.rebellions.ai'].driverVersion)"
                ".isGreaterThan(semver('2.0.0'))",
            ),
            "a version of four numbers": (
                "neuron.aws.com",
                {"neuronDriverVersion": "2.25.4.0"},
                f"{read('neuron.aws.com', 'neuronDriverVersion')}.compareTo(semver('2.20.0')) >= 0",
                "",
                "semver(device.attributes['neuron.aws.com'].neuronDriverVersion.substring(0, "
                "device.attributes['neuron.aws.com'].neuronDriverVersion.lastIndexOf('.')))"
                ".compareTo(semver('2.20.0')) >= 0",
            ),
        }.items()
    ],
)
def test_fix_selects_by_what_the_driver_publishes(
    driver: str, published: dict[str, Any], selector: str, meaning: str, better: str
) -> None:
    def plan(expression: str) -> Any:
        made = [device(f"device-{index}", **published) for index in range(2)]
        return on_one_node(driver, made, work([device_request("r", driver, expression)]))

    fix = (
        f"to select {meaning} devices, replace `{selector}` with `{better}`"
        if meaning
        else f"use `{better}` instead of `{selector}`"
    )
    rejected = plan(selector)
    assert rejected.verdict == "does-not-fit"
    assert f"→ {fix}" in reasons(rejected)
    assert plan(better).verdict == "fits"


@pytest.mark.parametrize(("name", "value"), [("cpuID", 4), ("coreType", "'p-core'")])
def test_fix_names_the_setting_with_which_the_driver_publishes_an_attribute(
    name: str, value: object
) -> None:
    selector = f"{read(CPU, name)} == {value}"
    request = device_request("r", CPU, selector)
    plan = on_one_node(CPU, [device("cpudevnuma000", socketID=0, numCPUs=32)], work([request]))
    assert (
        "→ set cpuDeviceMode to individual in the values of dra-driver-cpu, or remove "
        f"`{selector}` from request" in reasons(plan)
    )
    cpu = device("cpudev004", socketID=0, cpuID=4, coreType="p-core")
    assert on_one_node(CPU, [cpu], work([request])).verdict == "fits"


def test_note_names_the_attributes_that_the_fix_selects_by() -> None:
    def plan(selector: str) -> Any:
        made = [device("gpu-0", **{**ARC, "driver": "vfio-pci"})]
        return on_one_node(INTEL, made, work([device_request("r", INTEL, selector)]))

    rejected = plan(f"{read(INTEL, 'driver')} == 'xe'")
    assert "select by model or pciId" in [each.fix for each in rejected.blockers]
    for name in ("model", "pciId"):
        assert plan(f'{read(INTEL, name)} == "{ARC[name]}"').verdict == "fits"


def test_published_memory_is_no_placeholder() -> None:
    made = [device("gpu-0", memory="12Gi", **MI300X)]
    plan = on_one_node(AMD, made, work([device_request("r", AMD, memory(AMD))]))
    assert "if 12Gi is enough" in reasons(plan)
    assert "to select" not in reasons(plan)


def test_future_version_of_four_numbers_is_compared_without_the_fourth() -> None:
    """The version is known only on the node, but its form is known."""
    selector = f"{read('neuron.aws.com', 'neuronDriverVersion')}.isGreaterThan(semver('2.20.0'))"
    trn2 = fleet("eks", "trn2.48xlarge", {"neuron": True})

    def plan(expression: str) -> Any:
        return planned(
            trn2,
            job(
                1, request("r", "neuron.aws.com", 1, expression), tolerates="aws.amazon.com/neuron"
            ),
        )

    (better, *_) = USE.findall(reasons(plan(selector)))
    assert ".lastIndexOf('.')" in better
    assert plan(better).verdict == "cannot-tell"

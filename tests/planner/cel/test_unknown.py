"""Values that are known only at run time: they are ignored if they don't matter, and otherwise make
the result unknown.
"""

from __future__ import annotations

import pytest
from dialects import stored

from dra_planner.cel import Selector, compile
from dra_planner.model.slices import Device, DeviceCapacity, Unknown, Version
from dra_planner.quantity import Quantity

DEVICE = {
    "driver": "gpu.nvidia.com",
    "attributes": {
        "type": {"string": "gpu"},
        "uuid": {"unknown": True},
        "resource.kubernetes.io/pcieRoot": {"unknown": "root-0"},
    },
    "capacity": {"memory": "80Gi", "cores": {"unknown": True}},
}
UUID = 'device.attributes["gpu.nvidia.com"].uuid'
ROOT = 'device.attributes["resource.kubernetes.io"].pcieRoot'
TYPE = 'device.attributes["gpu.nvidia.com"].type'


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        (f'{UUID} == "x"', "unknown"),
        (f'{UUID} == "x" && {TYPE} == "mig"', "no-match"),
        (f'{TYPE} == "mig" && {UUID} == "x"', "no-match"),
        (f'{UUID} == "x" && {TYPE} == "gpu"', "unknown"),
        (f'{UUID} == "x" || {TYPE} == "gpu"', "match"),
        (f'{UUID} == "x" || {TYPE} == "mig"', "unknown"),
        (f'!({UUID} == "x")', "unknown"),
        (f'{UUID}.startsWith("GPU-") ? true : true', "unknown"),
        (f"has({UUID})", "match"),
        (f'"uuid" in device.attributes["gpu.nvidia.com"] && {UUID} == "x"', "unknown"),
        (f"{UUID} == {ROOT}", "unknown"),
        (f'{UUID} in ["a", "b"]', "unknown"),
        (f"[{UUID}].size() == 1", "unknown"),
        (f'device.attributes["gpu.nvidia.com"].missing == {UUID}', "error"),
        (f'{UUID} == "x" || device.attributes["gpu.nvidia.com"].missing == "x"', "unknown"),
        ('device.attributes["gpu.nvidia.com"].exists(k, k == "uuid")', "match"),
        ('device.attributes["gpu.nvidia.com"].exists(k, v, v == "gpu")', "match"),
        ('device.attributes["gpu.nvidia.com"].all(k, v, v == "mig")', "no-match"),
        ('device.attributes["gpu.nvidia.com"].exists(k, v, v == "other")', "unknown"),
        ('device.attributes["gpu.nvidia.com"].?uuid.orValue("x") == "x"', "unknown"),
        ('device.capacity["gpu.nvidia.com"].cores.isGreaterThan(quantity("1"))', "unknown"),
        ('device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("1"))', "match"),
    ],
)
def test_unknown_values_are_absorbed_as_in_cel(expression: str, verdict: str) -> None:
    selector = compile(expression, stored())
    assert isinstance(selector, Selector), selector
    outcome = selector.matches(DEVICE)
    assert outcome.verdict == verdict, outcome
    if verdict == "unknown":
        assert "known only at run time" in outcome.message


def test_projection_separates_unknown_and_absent_values() -> None:
    selector = compile(f'{ROOT} == "x"', stored())
    assert isinstance(selector, Selector)
    same = {**DEVICE, "attributes": {**DEVICE["attributes"], "uuid": {"string": "another"}}}
    other_root = {
        **DEVICE,
        "attributes": {"resource.kubernetes.io/pcieRoot": {"unknown": "root-1"}},
    }
    absent = {**DEVICE, "attributes": {}}
    assert selector.projection(DEVICE) == selector.projection(same)
    assert len({selector.projection(d) for d in (DEVICE, other_root, absent)}) == 3


def test_model_devices_are_read_like_api_devices() -> None:
    class Offered:
        driver = "gpu.nvidia.com"
        device = Device(
            name="gpu-0",
            attributes={
                "type": "gpu",
                "cc": Version("9.0.0"),
                "uuid": Unknown(),
                "index": 3,
                "ok": True,
                "tags": ("a",),
            },
            capacity={"memory": DeviceCapacity(Quantity.parse("80Gi"))},
        )
        attributes = device.attributes
        capacity = device.capacity
        allow_multiple_allocations = device.allow_multiple_allocations

    domain = 'device.attributes["gpu.nvidia.com"]'
    for text, verdict in {
        f'{domain}.type == "gpu" && {domain}.index == 3 && {domain}.ok': "match",
        f'{domain}.cc.isGreaterThan(semver("8.0.0"))': "match",
        'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) == 0': "match",
        f'{domain}.uuid == "x"': "unknown",
    }.items():
        selector = compile(text, stored(list_attributes=True))
        assert isinstance(selector, Selector), selector
        assert selector.matches(Offered).verdict == verdict


def test_unsupported_list_attribute_fails_every_selector() -> None:
    device = {"driver": "d", "attributes": {"x": {"strings": ["a"]}}}
    selector = compile("true", stored())
    assert isinstance(selector, Selector)
    outcome = selector.matches(device)
    assert (outcome.verdict, outcome.message) == (
        "error",
        "attribute x: unsupported attribute value",
    )


VERSION = 'device.attributes["d.example"].version'


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        (f'semver({VERSION}).isGreaterThan(semver("2.20.0"))', "error"),
        (f'{VERSION}.compareTo(semver("2.20.0")) >= 0', "error"),
        (f"isSemver({VERSION})", "no-match"),
        (f"isSemver({VERSION}, true)", "no-match"),
        (f"!isSemver({VERSION}) || {VERSION} == 'x'", "match"),
        (f'{VERSION} == "2.25.4.0"', "unknown"),
        (f'{VERSION}.startsWith("2.")', "unknown"),
        (f'{VERSION}.substring(0, 30) == "2.25"', "unknown"),
        (f'isSemver({VERSION} == "2" ? "1.2.3" : "4.5.6")', "unknown"),
        (f'semver({VERSION} == "2" ? "1.2.3" : "4.5.6").major() == 1', "unknown"),
    ],
)
def test_partially_known_text_decides_some_comparisons(expression: str, verdict: str) -> None:
    class Offered:
        driver = "d.example"
        attributes = {"version": Unknown("node", like="2.25.4.0")}  # noqa: RUF012 - a device
        capacity: dict[str, DeviceCapacity] = {}  # noqa: RUF012
        allow_multiple_allocations = False

    selector = compile(expression, stored())
    assert isinstance(selector, Selector), selector
    assert selector.matches(Offered).verdict == verdict

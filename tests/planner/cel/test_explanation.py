"""Explanations: the condition that fails, the value that it fails on, and the probable intent."""

from __future__ import annotations

from typing import Any

from dialects import stored

from dra_planner.cel import Selector, compile, explain


def gpu(name: str, memory: str, **attributes: Any) -> dict[str, Any]:
    found = {"type": {"string": "gpu"}, "productName": {"string": name}, **attributes}
    return {"driver": "gpu.nvidia.com", "attributes": found, "capacity": {"memory": memory}}


H100 = gpu("NVIDIA H100 80GB HBM3", "81559Mi", driverVersion={"version": "550.54.15"})
L4 = gpu("NVIDIA L4", "23034Mi", driverVersion={"version": "550.54.15"})


def selector(text: str) -> Selector:
    compiled = compile(text, stored())
    assert isinstance(compiled, Selector), compiled
    return compiled


def test_terms_are_evaluated_separately() -> None:
    explained = explain(
        selector(
            'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].productName '
            '== "NVIDIA L40"'
        ),
        [H100, L4],
    )
    first, second = explained.terms
    assert (first.matching, first.failing) == (2, 0)
    assert (second.matching, second.failing) == (0, 2)
    assert second.wanted == "NVIDIA L40"
    assert second.nearest == "NVIDIA L4"
    assert dict(second.reads[0].values) == {"NVIDIA H100 80GB HBM3": 1, "NVIDIA L4": 1}
    assert dict(explained.verdicts) == {"no-match": 2}


def test_eighty_gi_narrowly_excludes_an_h100() -> None:
    explained = explain(
        selector('device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0'),
        [H100, L4],
    )
    assert explained.terms[0].nearest == "81559Mi"
    assert explained.warnings == (
        "80Gi excludes a device (NVIDIA H100 80GB HBM3), which publishes only 81559Mi, because "
        "devices publish less than their nominal size",
    )


def test_amount_on_the_boundary_is_reported() -> None:
    text = 'device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("23034Mi"))'
    (warning,) = explain(selector(text), [L4]).warnings
    assert warning == (
        "a device (NVIDIA L4) publishes exactly 23034Mi, which the strict comparison excludes"
    )


def test_misspelled_attribute_is_reported() -> None:
    (warning,) = explain(
        selector('device.attributes["gpu.nvidia.com"].productname == "x"'), [H100]
    ).warnings
    assert warning.endswith("did you mean productName?")


def test_renamed_attribute_is_reported_with_its_new_name() -> None:
    (warning,) = explain(
        selector('device.attributes["gpu.nvidia.com"].pcieBusID == "x"'), [H100]
    ).warnings
    assert 'device.attributes["resource.kubernetes.io"].pciBusID' in warning


def test_nearest_version_is_the_highest_one_below() -> None:
    text = 'device.attributes["gpu.nvidia.com"].driverVersion.isGreaterThan(semver("560.0.0"))'
    old = gpu("old", "1Gi", driverVersion={"version": "470.1.0"})
    (term,) = explain(selector(text), [old, H100]).terms
    assert (term.wanted, term.nearest) == ("560.0.0", "550.54.15")


def test_unknown_value_is_counted_as_unknown() -> None:
    unknown = gpu("x", "1Gi", **{"resource.kubernetes.io/pcieRoot": {"unknown": True}})
    text = 'device.attributes["resource.kubernetes.io"].pcieRoot == "pci0000:17"'
    (term,) = explain(selector(text), [unknown]).terms
    assert term.unknown == 1
    assert term.reads[0].unknown == 1


def test_terms_without_and_are_not_split() -> None:
    text = 'device.driver == "a" && device.driver == "b" || "x && y" == device.driver'
    (term,) = explain(selector(text), [H100]).terms
    assert term.text == text

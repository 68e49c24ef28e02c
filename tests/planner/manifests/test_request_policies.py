"""Shared capacity: the steps of a range, in integers, and in thousandths with
DRAFractionalCapacityRange.
"""

from __future__ import annotations

import pytest

from dra_planner.manifests.validation.kinds.request_policies import check_capacity
from dra_planner.releases import Features, features_of

ROUNDED = features_of(37).with_gates(fractional_capacity_range=False)


def faults(
    bounds: dict[str, str], default: str, features: Features, value: str = "80"
) -> list[str]:
    capacity = {"value": value, "requestPolicy": {"default": default, "validRange": bounds}}
    return [
        violation.field
        for violation in check_capacity(capacity, "c", multiple=True, features=features)
    ]


@pytest.mark.parametrize("minor", [34, 36])
@pytest.mark.parametrize(
    ("bounds", "default", "expected"),
    [
        ({"min": "4", "max": "64", "step": "4"}, "8", []),
        ({"min": "4", "max": "64", "step": "4"}, "9", ["step"]),
        ({"min": "4", "max": "63", "step": "4"}, "8", ["step"]),
        ({"min": "4", "max": "63", "step": "4"}, "9", ["step", "step"]),
        # one step above the minimum is more than there is
        ({"min": "4", "step": "77"}, "4", ["step"]),
        ({"min": "81"}, "81", ["min"]),
        ({"min": "9"}, "8", ["min"]),
        ({"min": "1", "max": "81"}, "1", ["max"]),
        ({"min": "1", "max": "4"}, "5", ["max"]),
        ({"min": "5", "max": "4"}, "5", ["max", "max"]),
        ({"max": "4"}, "1", ["min"]),
        ({"min": "0", "step": "0"}, "0", ["step"]),
    ],
)
def test_range_is_validated(
    bounds: dict[str, str], default: str, expected: list[str], minor: int
) -> None:
    assert faults(bounds, default, features_of(minor)) == [
        f"c.requestPolicy.validRange.{name}" for name in expected
    ]


@pytest.mark.parametrize(
    "rounded", [features_of(36), ROUNDED], ids=["1.36", "1.37 without the gate"]
)
def test_fractions_of_a_step_are_exact_with_the_gate(rounded: Features) -> None:
    bounds = {"min": "500m", "max": "2", "step": "500m"}
    assert faults(bounds, "1", rounded) == []  # 0.5 is 1, and every integer is a step of 1 above it
    assert faults(bounds, "1", features_of(37)) == []
    assert faults({**bounds, "step": "400m"}, "1", rounded) == []
    assert faults({**bounds, "step": "400m"}, "1", features_of(37)) != []


def test_amounts_below_a_thousandth_are_exact_with_the_gate() -> None:
    assert faults({"min": "1u"}, "1", ROUNDED) == []
    assert faults({"min": "1u"}, "1", features_of(37)) == ["c.requestPolicy.validRange.min"]


@pytest.mark.parametrize(
    ("features", "expected"), [(ROUNDED, ["c.requestPolicy.validValues[1]"]), (features_of(37), [])]
)
def test_values_that_round_to_the_same_integer_are_duplicates_without_the_gate(
    features: Features, expected: list[str]
) -> None:
    capacity = {"value": "2", "requestPolicy": {"default": "1", "validValues": ["500m", "1"]}}
    found = check_capacity(capacity, "c", multiple=True, features=features)
    assert [violation.field for violation in found] == expected


@pytest.mark.parametrize(
    ("bounds", "default", "expected"),
    [
        ({"min": "4Gi"}, "1Gi", ["default"]),
        ({"min": "1", "max": "4"}, "5", ["default"]),
        ({"min": "1", "step": "-1"}, "1", ["step"]),
        ({"min": "-2", "step": "1"}, "0", ["min"]),
        ({"min": "0", "max": "18446744073709551616", "step": "1"}, "0", ["max", "max"]),
        ({"min": "1500u", "step": "1"}, "1", ["min"]),
    ],
)
def test_range_is_validated_as_in_1_37(
    bounds: dict[str, str], default: str, expected: list[str]
) -> None:
    assert faults(bounds, default, features_of(37), "80Gi") == [
        f"c.requestPolicy.validRange.{name}" for name in expected
    ]

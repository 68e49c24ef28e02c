"""Shared capacity: the steps of a range, in whole numbers up to 1.36 and in thousandths from 1.37 on."""

from __future__ import annotations

import pytest

from dra_planner.manifests.validation.request_policies import check_capacity


def faults(bounds: dict[str, str], default: str, minor: int, value: str = "80") -> list[str]:
    capacity = {"value": value, "requestPolicy": {"default": default, "validRange": bounds}}
    return [violation.field for violation in check_capacity(capacity, "c", multiple=True, minor=minor)]


@pytest.mark.parametrize("minor", [34, 36])
@pytest.mark.parametrize(
    ("bounds", "default", "expected"),
    [
        ({"min": "4", "max": "64", "step": "4"}, "8", []),
        ({"min": "4", "max": "64", "step": "4"}, "9", ["step"]),
        ({"min": "4", "max": "63", "step": "4"}, "8", ["step"]),
        ({"min": "4", "max": "63", "step": "4"}, "9", ["step", "step"]),
        ({"min": "4", "step": "77"}, "4", ["step"]),  # one step above the minimum is more than there is
        ({"min": "81"}, "81", ["min"]),
        ({"min": "9"}, "8", ["min"]),
        ({"min": "1", "max": "81"}, "1", ["max"]),
        ({"min": "1", "max": "4"}, "5", ["max"]),
        ({"min": "5", "max": "4"}, "5", ["max", "max"]),
        ({"max": "4"}, "1", ["min"]),
        ({"min": "0", "step": "0"}, "0", ["step"]),
    ],
)
def test_a_range(bounds: dict[str, str], default: str, expected: list[str], minor: int) -> None:
    assert faults(bounds, default, minor) == [f"c.requestPolicy.validRange.{name}" for name in expected]


def test_fractions_of_a_step_count_from_1_37_on() -> None:
    bounds = {"min": "500m", "max": "2", "step": "500m"}
    assert faults(bounds, "1", 36) == []  # 0.5 is 1, and every integer is a step of 1 above it
    assert faults(bounds, "1", 37) == []
    assert faults({**bounds, "step": "400m"}, "1", 36) == []
    assert faults({**bounds, "step": "400m"}, "1", 37) != []


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
def test_what_1_37_says_of_a_range(bounds: dict[str, str], default: str, expected: list[str]) -> None:
    assert faults(bounds, default, 37, "80Gi") == [f"c.requestPolicy.validRange.{name}" for name in expected]

"""If a condition changes in one value, a fix quotes only this value. Otherwise, it quotes the whole
condition.
"""

from __future__ import annotations

import pytest

from dra_planner.allocation.reasons.replacement_text import replacement_text

MEMORY = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{}")) >= 0'


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (
            MEMORY.format("80Gi"),
            MEMORY.format("81559Mi"),
            'use `quantity("81559Mi")` instead of `quantity("80Gi")`',
        ),
        (
            'a.v.isLessThan(semver("1.0.0")) && b == "x"',
            'a.v.isLessThan(semver("2.0.0")) && b == "x"',
            'use `semver("2.0.0")` instead of `semver("1.0.0")`',
        ),
    ],
    ids=["a size", "in the middle"],
)
def test_one_changed_value_is_quoted(before: str, after: str, shown: str) -> None:
    assert replacement_text(before, after) == shown


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a == "y"', 'a == "x"'),
        ('a.compareTo(quantity("2Gi")) > 0', 'a.compareTo(quantity("1Gi")) >= 0'),
        ('f(quantity("2Gi")) && g(quantity("4Gi"))', 'f(quantity("1Gi")) && g(quantity("3Gi"))'),
        ('f(quantity("2Gi")) && g(quantity("2Gi"))', 'f(quantity("1Gi")) && g(quantity("2Gi"))'),
    ],
    ids=["no call", "the operator, too", "two values", "a value that appears twice"],
)
def test_other_changes_are_quoted_as_a_whole(before: str, after: str) -> None:
    assert replacement_text(before, after) == f"use `{after}` instead of `{before}`"

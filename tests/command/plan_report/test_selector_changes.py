"""Where a selector changes in one value, the report says that value; anything else stays whole."""

from __future__ import annotations

import pytest

from dra_command.plan_report.selector_changes import short_change

MEMORY = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{}")) >= 0'


def change(after: str, before: str) -> str:
    return f"write `{after}` instead of `{before}`"


@pytest.mark.parametrize(
    ("fix", "shown"),
    [
        (
            change(MEMORY.format("81559Mi"), MEMORY.format("80Gi")),
            'write `quantity("81559Mi")` instead of `quantity("80Gi")`',
        ),
        (
            (
                f"if 23034Mi is enough, {change(MEMORY.format('23034Mi'), MEMORY.format('80Gi'))} in "
                "request gpu"
            ),
            (
                'if 23034Mi is enough, write `quantity("23034Mi")` instead of `quantity("80Gi")` in '
                "request gpu"
            ),
        ),
        (
            change(
                'a.v.isLessThan(semver("2.0.0")) && b == "x"',
                'a.v.isLessThan(semver("1.0.0")) && b == "x"',
            ),
            'write `semver("2.0.0")` instead of `semver("1.0.0")`',
        ),
    ],
    ids=["a size", "within a sentence", "in the middle"],
)
def test_one_value_is_told_alone(fix: str, shown: str) -> None:
    assert short_change(fix) == shown


@pytest.mark.parametrize(
    "fix",
    [
        change('a == "x"', 'a == "y"'),
        change('a.compareTo(quantity("1Gi")) >= 0', 'a.compareTo(quantity("2Gi")) > 0'),
        change(
            'f(quantity("1Gi")) && g(quantity("3Gi"))', 'f(quantity("2Gi")) && g(quantity("4Gi"))'
        ),
        change(
            'f(quantity("1Gi")) && g(quantity("2Gi"))', 'f(quantity("2Gi")) && g(quantity("2Gi"))'
        ),
        'drop `device.driver == "x"`',
        "",
    ],
    ids=[
        "no call",
        "the operator too",
        "two values",
        "a value that stands twice",
        "nothing is written",
        "nothing",
    ],
)
def test_what_is_more_than_a_value_stays_whole(fix: str) -> None:
    assert short_change(fix) == fix

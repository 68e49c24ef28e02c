"""Two DRA drivers for the same GPUs in one cluster."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers[1:]:
        first = view.drivers[0].title
        yield Finding(
            message=f"{driver.title} and {first} both install the DRA driver, so both publish "
            "the same GPUs and create the same DeviceClasses",
            fix=f"remove either {driver.title} or {first}",
            urn=driver.urn,
        )
    for second in view.second_drivers if view.drivers else ():
        yield Finding(
            message=f"{second.title} publishes the same GPUs as {view.drivers[0].title}, so "
            "two pods can get the same GPU",
            fix=second.fix or f"remove either {second.removable} or {view.drivers[0].title}",
            urn=second.urn,
        )


RULE = Rule(
    id="driver-installed-twice",
    description="The cluster has two DRA drivers for the same GPUs.",
    why="Only one Helm release can own a DeviceClass. Therefore, installing the second driver "
    "fails, or the scheduler allocates the same devices twice.",
    fix="Remove one of the drivers.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)

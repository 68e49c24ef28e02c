"""Two releases of the DRA driver in one cluster."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers[1:]:
        first = view.drivers[0].title
        yield Finding(
            message=f"{driver.title} installs the DRA driver again beside {first}: both publish the same GPUs, and "
            "both make the same DeviceClasses",
            fix=f"remove {driver.title}, or {first}",
            urn=driver.urn,
        )


RULE = Rule(
    id="driver-installed-twice",
    says="The cluster has two releases of the DRA driver.",
    why="Only one release can own a DeviceClass. The second release fails to install, or its devices are allocated "
    "twice.",
    fix="Remove one of the releases.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)

"""A driver version with a known fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView

# Version → its fault, and the version to install instead. Source:
# kubernetes-sigs/dra-driver-nvidia-gpu issue 719, fixed in commit d8fa00e4
KNOWN_FAULTS: Final = {
    "25.8.0": (
        "which publishes both a partitioned GPU and its MIG devices, so both can be allocated at "
        "the same time",
        "25.8.1",
    ),
}


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        if driver.version in KNOWN_FAULTS:
            problem, better = KNOWN_FAULTS[driver.version]
            yield Finding(
                message=f"{driver.title} has version {driver.version}, {problem}",
                fix=f'set the chart version to "{better}"',
                urn=driver.urn,
            )


RULE = Rule(
    id="driver-release-faulty",
    description="A known defect in the driver version can cause a device to be allocated twice.",
    why="The scheduler receives incorrect device data, so it can allocate the same GPU to several "
    "pods.",
    fix="Install the version that the finding recommends.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)

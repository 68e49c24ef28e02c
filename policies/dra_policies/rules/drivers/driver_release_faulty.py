"""A release of the driver that is known for a fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView

# Version → what is wrong with it, and what to install instead.
# Source: kubernetes-sigs/dra-driver-nvidia-gpu issue 719, fixed in commit d8fa00e4
KNOWN_FAULTS: Final = {
    "25.8.0": ("on GPUs with MIG it publishes the GPU beside its MIG devices, so both are given away", "25.8.1"),
}


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        if driver.version in KNOWN_FAULTS:
            says, better = KNOWN_FAULTS[driver.version]
            yield Finding(
                message=f"{driver.title} is of version {driver.version}: {says}",
                fix=f'set its version to "{better}"',
                urn=driver.urn,
            )


RULE = Rule(
    id="driver-release-faulty",
    says="The version of the driver has no fault that is known to give devices away twice.",
    why="What the scheduler is told of the devices is wrong, so pods share GPUs that were promised to one.",
    fix="Install the release that the sentence names.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)

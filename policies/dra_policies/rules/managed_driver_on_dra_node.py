"""The NVIDIA driver installed by the cloud, on nodes for claims."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.rules.view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="managed-driver-on-dra-node",
    says="On pools for claims the cloud's own installation of the NVIDIA driver is off.",
    why="The cloud documents DRA for nodes without it alone: two installations of the driver meet on a node.",
    fix="Turn the installation off for the pool, and install the driver with a DaemonSet.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)

"""Clusters and nodes that don't meet a security baseline: one finding for each row that a resource
breaks.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="security-baseline",
    description="A cluster or node doesn't meet the security baseline: private endpoints, audit "
    "logs, encrypted Secrets and disks, and IMDSv2.",
    why="GPU nodes are valuable targets, and auditors and attackers check these settings first.",
    fix="Set the property that the finding reports.",
    level="advisory",
    needs="stack",
    check=check,
)

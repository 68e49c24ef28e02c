"""Sharing of GPUs by the cloud's device plugin, on nodes for claims."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="gpus-shared-by-cloud",
    says="Pools for claims leave sharing GPUs to the DRA driver.",
    why="The cloud's settings are for its device plugin, which must not run there: GPUs are not shared, or "
    "nodes publish none.",
    fix="Remove the sharing and the partitions from the pool, and share by claims.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)

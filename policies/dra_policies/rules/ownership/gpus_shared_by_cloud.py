"""GPU sharing by the cloud's device plugin on DRA nodes."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="gpus-shared-by-cloud",
    description="A DRA pool uses the cloud's GPU sharing.",
    why="These settings apply only to the cloud's device plugin, which must not run on DRA "
    "pools. Therefore, pods don't share GPUs, or nodes don't publish GPUs.",
    fix="Remove the pool's sharing and partitioning settings, and share GPUs through claims.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)

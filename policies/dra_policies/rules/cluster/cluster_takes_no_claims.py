"""A cluster whose nodes the cloud manages completely, so no DRA driver runs on them."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="cluster-takes-no-claims",
    description="The cluster doesn't support user-managed node pools.",
    why="You can't install a DRA driver on such a cluster, so pods with claims stay pending.",
    fix="Use a cluster that supports user-managed node pools.",
    level="mandatory",
    needs="stack",
    check=check,
)

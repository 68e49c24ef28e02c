"""An upgrade of nodes that needs a machine more than there is."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="node-upgrade-cannot-finish",
    says="An upgrade of a pool may add a node, or take one away first.",
    why="The upgrade of the nodes stands still, or is refused.",
    fix="Allow one node to be unavailable where no machine can be added.",
    level="advisory",
    needs="stack",
    check=check,
)

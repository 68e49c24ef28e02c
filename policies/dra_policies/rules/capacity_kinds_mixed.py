"""Machines of two kinds of capacity at once."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="capacity-kinds-mixed",
    says="Machines of a pool are of one kind of capacity.",
    why="The cloud refuses the pool.",
    fix="Keep one of the two.",
    level="mandatory",
    needs="stack",
    check=check,
)

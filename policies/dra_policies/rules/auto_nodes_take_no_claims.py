"""Nodes that the cloud starts by itself, beside those of the stack: claims do not wake them."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="auto-nodes-take-no-claims",
    says="Clusters for claims have no nodes that the cloud chooses by itself.",
    why="Such nodes take no claims: pods with claims run on the node groups of the stack alone, "
    "whatever is paid for beside them.",
    fix="Turn such nodes off, or leave them to pods without claims.",
    level="advisory",
    needs="stack",
    check=check,
)

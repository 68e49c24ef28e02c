"""Exemptions that are unused, expired, or unreadable."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    """Find nothing, because the code that applies exemptions creates this rule's findings."""
    return iter(())


RULE = Rule(
    id="exemption-without-effect",
    description="An exemption has expired, is malformed, or doesn't match a finding.",
    why="A forgotten exemption can hide a new mistake.",
    fix="Remove the exemption, or set a later date if you still need it.",
    level="advisory",
    check=check,
    url="https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/",
)

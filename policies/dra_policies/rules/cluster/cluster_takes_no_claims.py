"""A cluster whose nodes are all the cloud's own: no DRA driver runs on them."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="cluster-takes-no-claims",
    says="Clusters for claims take node pools of their owner.",
    why="No DRA driver can be installed there: claims wait for ever.",
    fix="Use a cluster with node pools of your own.",
    level="mandatory",
    needs="stack",
    check=check,
)

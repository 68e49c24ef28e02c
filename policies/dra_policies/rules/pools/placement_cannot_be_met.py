"""Placement that what is bought, or the way of upgrading, does not allow."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    for pool in view.pools:
        subnets = pool.own.texts("subnetIds")
        if subnets and len(subnets) > 1 and pool.template is not None and pool.template.text("placement.groupName"):
            yield Finding(
                message=f"{pool.title} has {len(subnets)} subnets, and its launch template a placement group, which "
                "holds machines of one zone alone",
                fix="name one subnet in subnetIds",
                urn=pool.urn,
            )


RULE = Rule(
    id="placement-cannot-be-met",
    says="Placement, capacity, and upgrade settings of a pool conflict.",
    why="The cloud rejects nodes when the pool is created or upgraded.",
    fix="Remove one of the settings.",
    level="advisory",
    needs="stack",
    check=check,
)

"""Pools with two capacity types at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

_TARGET: Final = "capacityReservationSpecification.capacityReservationTarget"


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    for pool in view.pools:
        template = pool.template
        if (
            pool.own.text("capacityType") == "SPOT"
            and template is not None
            and template.has(_TARGET)
        ):
            yield Finding(
                message=f"{pool.title}: its launch template sets a reservation, but its nodes are Spot "
                "nodes, which can't use reservations",
                fix=f'set capacityType to "ON_DEMAND", or remove {_TARGET} from the launch template',
                urn=pool.urn,
            )


RULE = Rule(
    id="capacity-kinds-mixed",
    description="A pool uses two capacity types.",
    why="The cloud rejects the pool.",
    fix="Keep only one capacity type.",
    level="mandatory",
    needs="stack",
    check=check,
)

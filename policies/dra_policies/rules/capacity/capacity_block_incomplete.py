"""Pools with a Capacity Block that lack required settings, or request more nodes than can be
bought.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import DeclaredPool, StackView

# Amazon EC2 user guide, Capacity Blocks: sizes, and 64 instances at most; EKS user guide,
# capacity-blocks-mng.
SIZES: Final = (1, 2, 4, 8, 16, 32, 64)
_MARKET, _TARGET = (
    "instanceMarketOptions.marketType",
    "capacityReservationSpecification.capacityReservationTarget",
)


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        if pool.own.text("capacityType") == "CAPACITY_BLOCK":
            yield from _of_block(pool)
        elif pool.own.text("capacityType") is not None and _is_block(pool.template):
            yield _finding(
                pool,
                "its capacityType isn't CAPACITY_BLOCK",
                'set capacityType to "CAPACITY_BLOCK"',
            )

    for group in view.scaling_groups:
        if group.template is not None and _is_block(group.template):
            yield from _reservation(group, group.template)


def _is_block(template: Properties | None) -> bool:
    return template is not None and template.text(_MARKET) == "capacity-block"


def _of_block(pool: DeclaredPool) -> Iterator[Finding]:
    if pool.own.has("launchTemplate") is False and pool.template is None:
        yield _finding(
            pool,
            "it doesn't have a launch template",
            f"add a launch template that sets {_MARKET} and {_TARGET}",
        )
    elif pool.template is not None:
        yield from _of_template(pool, pool.template)
    if pool.count_max is not None and pool.count_max > SIZES[-1]:
        yield _finding(
            pool, f"its maximum of {pool.count_max} nodes exceeds the largest possible block "
                  f"({SIZES[-1]} nodes)",
            f"set the pool's maximum to {SIZES[-1]} or less",
        )  # fmt: skip


def _of_template(pool: DeclaredPool, template: Properties) -> Iterator[Finding]:
    market = template.text(_MARKET)
    if market is not None and market != "capacity-block":
        yield _finding(
            pool,
            "its launch template doesn't set the market type",
            f'set {_MARKET} in the launch template to "capacity-block"',
        )
    yield from _reservation(pool, template)
    if template.has("instanceType") is False:
        yield _finding(
            pool,
            "its launch template doesn't set an instance type",
            "set instanceType in the launch template, and remove instanceTypes from the pool",
        )


def _reservation(pool: DeclaredPool, template: Properties) -> Iterator[Finding]:
    if template.has(_TARGET) is False:
        yield _finding(
            pool,
            "its launch template doesn't set a reservation",
            f"set {_TARGET}.capacityReservationId in the launch template",
        )


def _finding(pool: DeclaredPool, problem: str, fix: str) -> Finding:
    return Finding(
        message=f"{pool.title} uses a Capacity Block, but {problem}",
        fix=fix,
        urn=pool.urn,
    )


RULE = Rule(
    id="capacity-block-incomplete",
    description="The launch template of a Capacity Block pool is missing or incomplete, or the pool's "
    "maximum exceeds the largest possible block.",
    why="The cloud rejects the pool, or its nodes never start.",
    fix="Set the market type, reservation, and machine type in the launch template.",
    level="mandatory",
    needs="stack",
    check=check,
)

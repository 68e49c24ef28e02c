"""Reservations that Karpenter pools don't use, so that you pay for them and for on-demand nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud
from dra_planner.clouds.protocol.resources import KarpenterNodeClass
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import (
    CAPACITY_TYPE,
    allows_machine,
    capacity_types,
    known_machine,
)
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView

URL: Final = "https://karpenter.sh/docs/tasks/odcrs/"


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        settings = cloud(pool.cloud).node_class
        if (
            settings is None
            or pool.template is None
            or not pool.own.has("spec.template.spec.nodeClassRef")
        ):
            continue
        wanted = capacity_types(pool)
        selects = pool.template.has(settings.reservations)
        if selects and wanted is not None and settings.reserved not in wanted:
            yield _finding(
                pool,
                "its node class selects them, but the pool doesn't allow the capacity type "
                f"{settings.reserved}",
                fix=f"allow {settings.reserved} in the requirement {CAPACITY_TYPE}",
            )
        elif selects is False:
            yield from _open_reservations(pool, settings, view)


def _open_reservations(
    pool: DeclaredPool, settings: KarpenterNodeClass, view: StackView
) -> Iterator[Finding]:
    """Yield open reservations of the stack for the pool's machine types, which Karpenter's nodes
    don't use.

    With the feature gate ReservedCapacity (on since 1.6), Karpenter starts on-demand nodes outside
    open reservations. Source: karpenter.sh, “Utilizing On-Demand Capacity Reservations”, migration.
    """
    for each in view.declared:
        if each.type == settings.reservation and _is_open(each, settings):
            machine = known_machine(pool.cloud, each.props.text(settings.reservation_machine))
            if machine is not None and allows_machine(pool, machine):
                key = settings.reservations.rpartition(".")[2]
                yield _finding(
                    pool,
                    f'its {machine.name} nodes don\'t use the open reservation "{each.name}", '
                    "because its node class "
                    f"has no {key}",
                    fix=f"select it in {settings.reservations} of the {settings.kind}, and allow "
                    f"{settings.reserved} "
                    f"in the requirement {CAPACITY_TYPE}",
                )


def _is_open(reservation: DeclaredResource, settings: KarpenterNodeClass) -> bool:
    """Return True if it's certainly open, which is the default."""
    path, targeted = settings.targeted
    return reservation.props.text(path) not in (targeted, None)


def _finding(pool: DeclaredPool, says: str, fix: str) -> Finding:
    return Finding(message=f"{pool.title} leaves reservations idle: {says}", fix=fix, urn=pool.urn)


RULE = Rule(
    id="karpenter-leaves-reservations-idle",
    says="Karpenter's pools don't use the reservations for their machine types.",
    why="The reservation is billed although no node uses it, and on-demand nodes are billed in "
    "addition.",
    fix="Select the reservations in the node class, and allow the capacity type reserved in the "
    "pool.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)

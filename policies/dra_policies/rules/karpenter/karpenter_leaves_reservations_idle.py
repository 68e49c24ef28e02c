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
_NODE_CLASS: Final = "spec.template.spec.nodeClassRef"


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        settings = cloud(pool.cloud).node_class
        if settings is None or pool.template is None or not pool.own.has(_NODE_CLASS):
            continue
        wanted = capacity_types(pool)
        selects = pool.template.has(settings.reservations)
        if selects and wanted is not None and settings.reserved not in wanted:
            yield _finding(
                pool,
                f"the reservations of its node class idle, because the pool doesn't allow the "
                f'"{settings.reserved}" capacity type',
                fix=f'add "{settings.reserved}" to the pool\'s {CAPACITY_TYPE} requirement',
            )
        elif selects is False:
            yield from _unused_reservations(pool, settings, view)


def _unused_reservations(
    pool: DeclaredPool, settings: KarpenterNodeClass, view: StackView
) -> Iterator[Finding]:
    """Yield the stack's reservations that have the pool's machine types, but that Karpenter's nodes
    don't use. These are open reservations, and reservations that no resource in the stack
    references.

    With the feature gate ReservedCapacity (on since 1.6), Karpenter starts on-demand nodes outside
    open reservations. Source: karpenter.sh, “Utilizing On-Demand Capacity Reservations”, migration.
    """
    used = {urn for each in view.declared for urns in each.sources.values() for urn in urns}
    selected = any(
        other.template is not None and other.template.has(settings.reservations) is not False
        for other in view.pools
        if other.own.has(_NODE_CLASS)
    )
    for each in view.declared:
        is_open = each.type == settings.reservation and _is_open(each, settings)
        is_unused = each.type in settings.bought and each.urn not in used and not selected
        named = each.props.text(settings.reservation_machine)
        nodes = _nodes_for(pool, named, is_open=is_open) if is_open or is_unused else ""
        if nodes:
            kind = "open reservation" if is_open else "reservation"
            key = settings.reservations.rpartition(".")[2]
            yield _finding(
                pool,
                f'the {kind} "{each.name}" idle, because the {settings.kind} for its {nodes} '
                f"doesn't set {key}",
                fix=f"select the {kind} in {settings.reservations} of the {settings.kind}, "
                f'and add "{settings.reserved}" to the pool\'s {CAPACITY_TYPE} requirement',
            )


def _nodes_for(pool: DeclaredPool, name: str | None, *, is_open: bool) -> str:
    """Return the pool's nodes that a reservation for a machine type is for, or "" if there are
    none. A Capacity Block always has GPUs, but its machine type is known only after the purchase.
    """
    if not name:
        return "nodes" if pool.has_gpus and not is_open else ""
    machine = known_machine(pool.cloud, name)
    return f"{name} nodes" if machine is not None and allows_machine(pool, machine) else ""


def _is_open(reservation: DeclaredResource, settings: KarpenterNodeClass) -> bool:
    """Return True if the reservation is certainly open, which is the default."""
    path, targeted = settings.targeted
    return reservation.props.text(path) not in (targeted, None)


def _finding(pool: DeclaredPool, reason: str, fix: str) -> Finding:
    return Finding(message=f"{pool.title} leaves {reason}", fix=fix, urn=pool.urn)


RULE = Rule(
    id="karpenter-leaves-reservations-idle",
    description="Karpenter's pools don't use the reservations for their machine types.",
    why="You pay for the unused reservation and also for the on-demand nodes.",
    fix="Select the reservations in the node class, and allow the `reserved` capacity type in "
    "the pool.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)

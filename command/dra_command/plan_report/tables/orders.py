"""The pod arrival orders in which pods stay pending at the maximums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dra_command.pens.table import Table
from dra_command.pens.visible_text import short
from dra_command.plan_report.figures import MANY, in_held_order
from dra_command.plan_report.tables.view import PlanView
from dra_planner.plan.nodes.devices import NIC
from dra_planner.plan.nodes.order_outcomes import order_outcomes
from dra_planner.wording import counted

if TYPE_CHECKING:  # most plans don't need these modules
    from dra_planner.plan.nodes.order_outcomes import HeldDevices


def order_table(view: PlanView) -> Table | None:
    """Return the results of the pod arrival orders if every pool has its maximum number of
    nodes. None if no pod stays pending.
    """
    found = view.plan.judgement.simulated
    if found is None or found.counts is not None or not found.at_maximum:
        return None
    rows = []
    for end in order_outcomes(view.plan)[: None if view.every else 6]:
        pods = ", ".join(
            f"{count} {view.letters.get(ref, short(str(ref), 60))}" for ref, count in end.pending
        )
        sign = view.signs.does_not_fit if end.pending else view.signs.fits
        nodes = "  ".join(
            f"{_held(view, each.devices)}{f' ×{each.nodes}' if each.nodes > 1 else ''}"
            for each in end.nodes
        )
        more = [f"{len(end.orders) - 2} more"] if len(end.orders) > 2 else []
        orders = ", ".join([*end.orders[:2], *more])
        rows.append((orders, nodes, f"{pods or '0'} {sign}"))
    if not rows:
        return None
    nodes_at_most = sum(pool.maximum for pool in view.plan.pools)
    heads = ("order", f"{counted(nodes_at_most, 'node')} at most, by workload", "pending")
    return Table("Pod arrival orders", heads, tuple(rows), frozenset({2}))


def _held(view: PlanView, devices: Sequence[HeldDevices]) -> str:
    return "".join(
        (view.signs.free if each.workload is None else view.letters.get(each.workload, MANY))
        * each.devices
        for each in in_held_order(devices, view.letters)
        if each.kind != NIC
    )

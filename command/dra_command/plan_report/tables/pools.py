"""The nodes of each pool as a bar and as numbers, with their cost."""

from __future__ import annotations

from typing import Final

from dra_command.pens.table import Table
from dra_command.pens.terminal.plain_pen import table_width
from dra_command.pens.visible_text import short
from dra_command.plan_report.figures import (
    MOST_CELLS,
    bar_of,
    drawn_bar,
)
from dra_command.plan_report.tables.view import PlanView
from dra_planner.plan import Plan, PlannedPool

_FEWEST_CELLS: Final = 6
NOT_SIMULATED = "not run while pods are pending"


def is_left_unsimulated(plan: Plan) -> bool:
    """Whether the plan has no simulated counts because pods stay pending at any node count."""
    return plan.judgement.simulated is None and any(each.pending for each in plan.workloads)


def pool_table(view: PlanView) -> Table:
    """Return the nodes of each pool as a bar and as numbers, with their cost."""
    plan = view.plan
    if plan.fleet is None:
        return _nodes(view)
    if plan.judgement.is_observed:
        return _growth(view)
    heads = ["pool", "machine", "nodes of max", "bound", "packing", "simulated", "USD/h"]
    if view.narrow:
        heads.pop(1)
    cells = MOST_CELLS // 2 if view.narrow else MOST_CELLS
    rows = _rows(view, cells)
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    if (missing := table_width(widths) - view.width) > 0:  # a shorter bar keeps each row in a line
        rows = _rows(view, max(_FEWEST_CELLS, cells - missing))
    start = len(heads) - 4
    numbers = frozenset(range(start, len(heads)))
    return Table("Pools", tuple(heads), tuple(map(tuple, rows)), numbers, _legend(view))


def _rows(view: PlanView, cells: int) -> list[list[str]]:
    """Return the rows of the pools, with bars of at most this number of cells, and their total."""
    pools = view.plan.pools
    bars = {pool.name: drawn_bar(bar_of(pool), view.signs, cells) for pool in pools}
    widest = max(map(len, bars.values()), default=0)
    rows = [_pool(view, pool, bars[pool.name].ljust(widest)) for pool in pools]
    if len(rows) > 1:
        rows.append(_total(view))
    return [[row[0], *row[2:]] for row in rows] if view.narrow else rows


def _pool(view: PlanView, pool: PlannedPool, bar: str) -> list[str]:
    needed = max(pool.recommended, pool.bound if pool.bound > pool.maximum else 0)
    price = None if pool.hourly_usd is None else pool.nodes.desired * pool.hourly_usd
    return [
        short(pool.name, 40),
        short(pool.machine, 40),
        f"{bar} {needed}/{pool.maximum}",
        str(pool.bound),
        str(pool.packing),
        "–" if pool.simulated is None else str(pool.simulated),
        "unknown" if price is None else f"{price:,.2f}",
    ]


def _total(view: PlanView) -> list[str]:
    plan = view.plan
    simulated = [pool.simulated for pool in plan.pools]
    known = [each for each in simulated if each is not None]
    return [
        "total",
        "",
        "",
        str(plan.nodes_bound),
        str(sum(pool.packing for pool in plan.pools)),
        str(sum(known)) if len(known) == len(simulated) else "–",
        "unknown" if plan.cost is None else f"{plan.cost.hourly_usd:,.2f}",
    ]


def _legend(view: PlanView) -> str:
    bars, signs = [bar_of(pool) for pool in view.plan.pools], view.signs
    own = sum(pool.bound or 0 for pool in view.plan.pools)
    joint = (
        ""
        if view.plan.nodes_bound <= own
        else " (0 if other pools can run the pods; the total is the bound for all pools together)"
    )
    entries = [f"{signs.bound} bound: proven minimum{joint}"]
    if any(bar.more for bar in bars):
        entries.append(f"{signs.simulated} recommended beyond it")
    if any(bar.allowed for bar in bars):
        entries.append(f"{signs.allowed} allowed, not needed")
    if any(bar.beyond for bar in bars):
        entries.append(f"{signs.beyond} beyond the maximum")
    if any(bar.is_open for bar in bars):
        entries.append(f"{signs.cannot_tell} not known")
    guarded = " with the guards" if view.plan.guards.kinds else ""
    entries.append(f"packing: best found{guarded}")
    found = view.plan.judgement.simulated
    rest = " for the other workloads" if found is not None and found.left_out else ""
    needed = f"nodes that the default scheduler needs{guarded}{rest}"
    entries.append(f"simulated: {NOT_SIMULATED if is_left_unsimulated(view.plan) else needed}")
    return " · ".join(entries)


def _growth(view: PlanView) -> Table:
    """Return how many nodes each pool needs in addition to the existing ones."""
    rows = tuple(
        (
            short(pool.name, 40),
            short(pool.machine, 40),
            f"{pool.minimum}–{pool.maximum}",
            str(pool.existing),
            str(pool.nodes.desired - (pool.existing or 0)),
            "unknown" if pool.hourly_usd is None else f"{pool.hourly_usd:,.2f}",
        )
        for pool in view.plan.pools
    )
    heads = ("pool", "machine", "allowed", "existing", "more", "USD/h each")
    found = view.plan.judgement.simulated
    note = (
        "more: additional nodes with which the default scheduler places all pods in "
        "every simulated order"
        if found is None or found.counts is not None
        else "more: additional nodes within the maximums, which aren't enough for all pods"
    )
    return Table("Pools", heads, rows, frozenset(range(2, 6)), note)


def _nodes(view: PlanView) -> Table:
    rows = tuple(
        (
            short(node.name, 60),
            node.machine or "?",
            *map(str, (node.devices.total, node.devices.used)),
        )
        for node in view.plan.pools
    )
    return Table("Nodes", ("node", "machine", "devices", "used"), rows, frozenset({2, 3}))

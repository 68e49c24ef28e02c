"""The differences of a plan from a saved one: a table and a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dra_command.pens.amounts import signed, usd
from dra_command.pens.table import Table
from dra_command.pens.visible_text import short

if TYPE_CHECKING:  # most plans don't need these modules
    from dra_planner.plan.saved.difference import PlanDifference


def difference_table(difference: PlanDifference) -> Table:
    """Return the differences from the saved plan by pool, without unchanged pools."""
    rows = [
        (
            short(pool.pool, 40),
            str(pool.before),
            str(pool.after),
            f"{pool.after - pool.before:+d}" if pool.after != pool.before else "0",
            "unknown" if pool.hourly_usd is None else signed(pool.hourly_usd),
            "; ".join(short(each) for each in pool.because[:3])
            + (f"; {len(pool.because) - 3} more" if len(pool.because) > 3 else ""),
        )
        for pool in difference.pools
        if pool.is_changed
    ]
    heads = ("pool", "saved", "now", "change", "USD/h", "because")
    return Table("Difference", heads, tuple(rows), frozenset({1, 2, 3, 4}))


def difference_line(difference: PlanDifference) -> str:
    """Return the difference in nodes and cost: "+2 nodes, +USD 59.64 per hour, compared with the
    saved plan".
    """
    if difference.is_empty:
        return "same nodes and cost as the saved plan"
    noun = "node" if abs(difference.nodes) == 1 else "nodes"
    nodes = f"{difference.nodes:+d} {noun}" if difference.nodes else "same number of nodes"
    if difference.hourly_usd is None:
        price = "unknown cost"
    elif not difference.hourly_usd:
        price = "same cost"
    else:
        sign = "+" if difference.hourly_usd > 0 else "−"
        price = f"{sign}{usd(abs(difference.hourly_usd))} per hour"
    return f"{nodes}, {price}, compared with the saved plan"

"""Tables for the questions of a portfolio other than plans: capacity for more pods, risk, and
placement.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from dra_command.pens.table import Table
from dra_command.portfolio.contract import ClusterPlacementRow, CurveRow
from dra_command.portfolio.report.answer_details import curves, placement, risks
from dra_command.portfolio.report.sentences import MOST_ROWS, usd
from dra_command.portfolio.report.summary import Summary
from dra_planner.wording import counted

MOST_BREAKS = 3


def question_tables(summary: Summary) -> Iterator[Table]:
    """Yield the tables that have rows."""
    for table in (curves_table(summary), risk_table(summary)):
        if table.rows:
            yield table
    if found := placement(summary):
        yield placement_table(found)


def curves_table(summary: Summary) -> Table:
    """Return a row for each curve: the number of additional pods that fit, and the numbers at which
    another node is needed.
    """
    rows = []
    found = list(curves(summary))
    for curve in found[:MOST_ROWS]:
        unit = "" if curve.pods_per_unit == 1 else f" × {curve.pods_per_unit} pods"
        rows.append(
            (
                f"{curve.stack}/{curve.scenario}",
                curve.workload,
                f"{curve.pods}",
                _more(curve.placed_up_to, curve.most) + unit,
                _more(curve.simulated_up_to, curve.most),
                "–" if curve.refused_from is None else f"+{curve.refused_from}",
                _breaks(curve),
            )
        )
    heads = (
        "cluster",
        "workload",
        "pods",
        "packed",
        "simulated",
        "proven not to fit",
        "added nodes (USD per hour)",
    )
    hidden = len(found) - len(rows)
    note = (
        "packed: additional units in the best packing · simulated: additional units that the "
        "default scheduler places in every order tried · "
    )
    note += (
        "proven not to fit: smallest number of additional units that provably doesn't fit · "
        "added nodes: nodes that the best packing adds at this number of units, with the new price "
        "of the packing, which can be lower than the plan's price"
    )
    return Table(
        "Capacity for more pods",
        heads,
        tuple(rows),
        numbers=frozenset({2, 3, 4, 5}),
        note=note + (f" · and {hidden} more rows (--format json has all)" if hidden else ""),
    )


def _more(units: int | None, most: int) -> str:
    return "none" if units is None else f"+{units}" + (" or more" if units == most else "")


def _breaks(curve: CurveRow) -> str:
    """Return the first break points: `+1 l4 at +17 (3.91)`. "–" if there are none."""
    points = []
    for before, after in pairwise(curve.steps):
        changes = {name: count - before.nodes.get(name, 0) for name, count in after.nodes.items()}
        change = " ".join(f"{by:+d} {name}" for name, by in changes.items() if by)
        points.append(f"{change} at +{after.units} ({usd(after.hourly)})")
    return (", ".join(points[:MOST_BREAKS]) or "–") + (" …" if len(points) > MOST_BREAKS else "")


def risk_table(summary: Summary) -> Table:
    """Return a row for each risk, with intervals and seeds."""
    found = list(risks(summary))
    rows = [
        (
            f"{risk.stack}/{risk.scenario}",
            f"{sum(risk.nodes.values())}",
            f"{risk.lost.estimate:.1f}",
            f"{risk.pending.estimate:.0%} ({risk.pending.low:.0%}–{risk.pending.high:.0%})",
            f"{risk.pods.estimate:.2f} ({risk.pods.low:.2f}–{risk.pods.high:.2f})",
            f"{risk.most_pods}",
            f"{risk.draws - risk.unfinished} of {risk.draws}, from {risk.seed}",
        )
        for risk in found[:MOST_ROWS]
    ]
    loss = found[0].spot_loss if found else 0
    note = (
        "95% confidence intervals · random pod arrival orders, each Spot node lost with "
        f"probability {loss:g}"
    )
    heads = (
        "cluster",
        "nodes",
        "lost",
        "runs with pending pods",
        "pending pods",
        "most",
        "runs, seeds",
    )
    return Table("Risk", heads, tuple(rows), numbers=frozenset({1, 2, 5}), note=note)


def placement_table(found: ClusterPlacementRow) -> Table:
    """Return the clusters of the movable workloads, and compare the cost with the proven
    minimum.
    """
    rows = [
        (each.workload, each.cluster or "no cluster has the required labels", ", ".join(each.may))
        for each in found.assigned
    ]
    search = "all assignments were tried" if found.exhaustive else "best assignment found"
    less = (
        f"no assignment costs less than {found.bound:,.2f}"
        if found.gap
        else "no assignment costs less"
    )
    cost = f"USD {found.cost:,.2f} per hour" if found.unit == "usd" else f"{found.cost:,.0f} nodes"
    note = f"{cost} for all clusters: {search}; {less}"
    if found.gap:
        note += f" (gap {found.gap:.2%})"
    if found.pending:
        note += f"; {counted(found.pending, 'pod')} pending"
    if found.left_out:
        note += f"; omitted because of invalid input: {', '.join(found.left_out)}"
    return Table(
        "Placement across clusters", ("workload", "cluster", "may run in"), tuple(rows), note=note
    )

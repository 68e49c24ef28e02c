"""A portfolio as a self-contained HTML page: a heat map, small charts, and details for each
cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from dra_command.pens.html.grid import grid_lines, shown
from dra_command.pens.html.line_breaks import wrapped
from dra_command.pens.html.tables import message, table_lines, tables_page
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.contract import CurveRow
from dra_command.portfolio.report.answer_details import curves
from dra_command.portfolio.report.sentences import (
    MARKS,
    WORDS,
    faults,
    headline,
    legend,
    setting,
    usd,
)
from dra_command.portfolio.report.summary import FAILED, StackLine, Summary, outcome_of
from dra_command.portfolio.report.tables import report_tables
from dra_planner.wording import counted

MOST_STACKS = 200
MOST_DETAILS = 400
MOST_MULTIPLES = 60
_WIDTH, _HEIGHT, _LOWEST = 220, 90, 3
_COLORS = {
    "blue": {"fits": VERDICT_WORDS["fits"]},
    "red": {"does-not-fit": VERDICT_WORDS["does-not-fit"], FAILED: "no result"},
    "amber": {"cannot-tell": VERDICT_WORDS["cannot-tell"]},
}
_POOL_HEADS = ("pool", "machine", "bound", "packing", "simulated", "built", "max")
_STYLE = """
.heat{width:auto;border-collapse:separate;border-spacing:1px;font-size:13px}
.heat td,.heat th{border:0;padding:3px 7px}
.heat thead th{writing-mode:vertical-rl;transform:rotate(180deg);padding:7px 3px}
.heat td{text-align:center;font-weight:650}.heat td a{color:inherit;text-decoration:none;display:block;min-width:1.2em}
.heat .does-not-fit{background:var(--badground)}.heat .cannot-tell{background:var(--doubtground)}
.heat .failed{background:var(--sheet)}
.multiples{display:flex;flex-wrap:wrap;gap:16px 24px}
.multiples figcaption{margin:.3rem 0 0;max-width:220px;overflow-wrap:anywhere}
svg .line{fill:none;stroke:var(--u1);stroke-width:1.5}svg .axis{stroke:var(--edge)}
svg .fits{fill:var(--u1)}svg .does-not-fit,svg .failed{fill:var(--bad)}svg .cannot-tell{fill:var(--doubt)}
svg text{font-size:11px}
"""


def portfolio_html(summary: Summary) -> str:
    """Return the portfolio as an HTML document."""
    return tables_page(
        _lines(summary),
        where="pulumi-dra portfolio",
        verdict=summary.verdict,
        decision=f"{headline(summary)}.",
        below=setting(summary),
        style=_STYLE,
    )


def _lines(summary: Summary) -> Iterator[str]:
    yield from _heat_map(summary)
    yield from _multiples(summary)
    for table in report_tables(summary):
        yield from table_lines(table)
    found = [curve for curve in curves(summary) if curve.placed_up_to]
    if found:
        yield "<h2>Cost by demand</h2>\n<div class='multiples'>"
        for curve in found[:MOST_MULTIPLES]:
            yield _figure(f"{curve.stack}: {curve.workload}", _curve(curve))
        yield "</div>"
    fault_lines = list(faults(summary))
    if fault_lines:
        yield "<h2>Cells without a result</h2>\n<ul>"
        yield from (f"<li>{message(line)}</li>" for line in fault_lines)
        yield "</ul>"
    yield from _details(summary)


def _heat_map(summary: Summary) -> Iterator[str]:
    """Yield a table of stacks and scenarios. Each cell links to its details."""
    yield "<h2>Stacks in scenarios</h2>"
    yield f"<p class='note'>{shown(' · '.join(legend(summary)))}</p>"
    heads = "".join(f"<th scope='col'>{shown(name)}</th>" for name in summary.scenarios)
    yield (
        "<div class='scroll' tabindex='0' role='region' aria-label='Table: stacks in "
        "scenarios'><table class='heat'>"
    )
    yield f"<thead><tr><td></td>{heads}</tr></thead><tbody>"
    detailed = _detailed(summary)
    for at, line in enumerate(summary.stacks[:MOST_STACKS]):
        cells = "".join(
            _cell(summary, line, at, scenario, is_detailed=(at, scenario) in detailed)
            for scenario in range(len(summary.scenarios))
        )
        yield f"<tr><th scope='row'>{shown(line.name)}</th>{cells}</tr>"
    yield "</tbody></table></div>"
    hidden = len(summary.stacks) - MOST_STACKS
    if hidden > 0:
        yield f"<p class='note'>and {hidden} more stacks (--format json has all)</p>"


def _cell(
    summary: Summary, line: StackLine, stack: int, scenario: int, *, is_detailed: bool
) -> str:
    outcome, row = line.outcomes[scenario], line.rows[scenario]
    title = f"{line.name}/{summary.scenarios[scenario]}: {WORDS[outcome]}"
    if row is not None and row.nodes is not None:
        title += f", {row.nodes} nodes, USD per hour {usd(row.hourly_usd)}"
    mark = (
        f"<span aria-hidden='true'>{MARKS[outcome]}</span><span class='vh'>{WORDS[outcome]}</span>"
    )
    if is_detailed:
        mark = f"<a href='#c{stack}-{scenario}'>{mark}</a>"
    return f"<td class='{outcome.split()[0]}' title='{shown(title)}'>{mark}</td>"


def _detailed(summary: Summary) -> set[tuple[int, int]]:
    """Return the cells with full details, starting with those that don't fit."""
    cells = [
        (line.outcomes[scenario] == "fits", at, scenario)
        for at, line in enumerate(summary.stacks[:MOST_STACKS])
        for scenario, row in enumerate(line.rows)
        if row is not None
    ]
    return {(at, scenario) for _, at, scenario in sorted(cells)[:MOST_DETAILS]}


def _details(summary: Summary) -> Iterator[str]:
    cells = sorted(_detailed(summary))
    if cells:
        yield "<h2>Cells</h2>"
    rows = (summary.stacks[at].rows[scenario] for at, scenario in cells)
    whole = summary.answers.whole({row.digest for row in rows if row is not None})
    for at, scenario in cells:
        line = summary.stacks[at]
        row = line.rows[scenario]
        if row is not None:
            name = f"{line.name}/{summary.scenarios[scenario]}"
            words = WORDS[line.outcomes[scenario]]
            yield f"<details id='c{at}-{scenario}'><summary>{shown(name)} {shown(words)}</summary>"
            yield from _behind(name, whole.get(row.digest, row))
            command = f"pulumi-dra portfolio … --cell {name}"
            yield f"<p class='note'><code>{wrapped(command)}</code> prints its plan</p></details>"


def _behind(name: str, row: AnswerRow) -> Iterator[str]:
    """Yield the pools of a cell, and its reasons."""
    if outcome_of(row) == FAILED:
        yield f"<p>{shown(row.why)}</p>"
        return
    details = json.loads(row.details)
    yield from grid_lines(
        Table(f"pools of {name}", _POOL_HEADS, tuple(_pool_rows(details)), frozenset(range(2, 7)))
    )
    lines = [
        *details["reasons"],
        *([f"and {details['more_reasons']} more"] if details["more_reasons"] else []),
    ]
    if lines:
        yield "<ul>" + "".join(f"<li>{message(line)}</li>" for line in lines) + "</ul>"
    for line in details["assumptions"]:
        yield f"<p class='note'>{shown(line)}</p>"


def _pool_rows(details: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for pool in details["pools"]:
        simulated = "–" if pool["simulated"] is None else pool["simulated"]
        numbers = (pool["bound"], pool["packing"], simulated, pool["recommended"], pool["maximum"])
        yield (pool["name"], pool["machine"], *map(str, numbers))


def _multiples(summary: Summary) -> Iterator[str]:
    """Yield a small chart for each stack: nodes by scenario, colored by verdict."""
    yield "<h2>Nodes by scenario</h2>"
    note = f"Bars: scenarios in the order above · {' · '.join(_bar_legend(summary))}"
    yield f"<p class='note'>{shown(note)}</p>\n<div class='multiples'>"
    most = max(
        (row.nodes or 0 for line in summary.stacks for row in line.rows if row is not None),
        default=0,
    )
    for line in summary.stacks[:MOST_MULTIPLES]:
        yield _figure(_nodes_caption(line), _bars(line, max(1, most)))
    yield "</div>"


def _bar_legend(summary: Summary) -> Iterator[str]:
    """Yield the meaning of each color that the bars have."""
    drawn = {each for line in summary.stacks for each in line.outcomes}
    for color, meanings in _COLORS.items():
        if words := [meaning for outcome, meaning in meanings.items() if outcome in drawn]:
            yield f"{color}: {' or '.join(words)}"


def _nodes_caption(line: StackLine) -> str:
    """Return the name of a stack, and the range of its nodes over all scenarios."""
    nodes = sorted({row.nodes for row in line.rows if row is not None and row.nodes is not None})
    if not nodes:
        return line.name
    few = f"{nodes[0]} to " if len(nodes) > 1 else ""
    return f"{line.name}: {few}{counted(nodes[-1], 'node')}"


def _figure(title: str, picture: str) -> str:
    return f"<figure>{picture}<figcaption>{wrapped(title)}</figcaption></figure>"


def _bars(line: StackLine, most: int) -> str:
    """Return one bar for each scenario; a low bar if it has no nodes. `most` is the maximum of all
    charts, so that the charts can be compared.
    """
    width = _WIDTH / max(1, len(line.rows))
    heights = (
        max(_LOWEST, _HEIGHT * (row.nodes or 0) / most) if row is not None else 0
        for row in line.rows
    )
    bars = "".join(
        f"<rect class='{line.outcomes[at].split()[0]}' x='{at * width:.1f}' "
        f"y='{_HEIGHT - height:.1f}' width='{max(0.5, width - 1):.1f}' height='{height:.1f}'/>"
        for at, height in enumerate(heights)
        if height
    )
    return _svg(f"{line.name}: nodes by scenario, up to {most}", bars, [])


def _curve(curve: CurveRow) -> str:
    """Return a step chart of the cost for further units, or of the nodes if a price is unknown."""
    last = curve.placed_up_to or 0
    priced = all(step.hourly is not None for step in curve.steps)
    heights = [
        step.hourly or 0.0 if priced else float(sum(step.nodes.values())) for step in curve.steps
    ]
    top, right = max([1e-9, *heights]), max(1, last)
    points: list[tuple[float, float]] = []
    for step, height in zip(curve.steps, heights, strict=True):
        if points:
            points.append((step.units, points[-1][1]))
        points.append((step.units, height))
    if points:
        points.append((last, points[-1][1]))
    path = " ".join(
        f"{x / right * _WIDTH:.1f},{_HEIGHT - y / top * (_HEIGHT - 12):.1f}" for x, y in points
    )
    unit = "USD per hour" if priced else "nodes"
    labels = [(f"USD {top:,.2f} per hour" if priced else f"{top:.0f} nodes", 10)]
    title = f"{curve.workload}: {unit} for up to {last} additional units"
    return _svg(title, f"<polyline class='line' points='{path}'/>", labels)


def _svg(title: str, inside: str, labels: Sequence[tuple[str, float]]) -> str:
    texts = "".join(f"<text x='2' y='{y:.0f}'>{shown(text)}</text>" for text, y in labels)
    axis = f"<line class='axis' x1='0' y1='{_HEIGHT}' x2='{_WIDTH}' y2='{_HEIGHT}'/>"
    head = (
        f"<svg role='img' width='{_WIDTH}' height='{_HEIGHT + 2}' viewBox='0 0 {_WIDTH} "
        f"{_HEIGHT + 2}'>"
    )
    return f"{head}<title>{shown(title)}</title>{inside}{axis}{texts}</svg>"

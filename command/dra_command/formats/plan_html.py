"""A plan as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from dra_command.formats.plan_report import (
    VERDICT_AFTER_A_NAME,
    Table,
    claims_table,
    costs,
    diagnostics,
    headline,
    obstacles,
    setting,
    simulation,
)
from dra_command.formats.plan_tables import PlanTables
from dra_command.formats.signs import DRAWN
from dra_planner.model import Verdict
from dra_planner.plan import Plan

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1a1a1a }
table { border-collapse: collapse; margin: .5rem 0 1.5rem }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top }
.number { text-align: right; font-variant-numeric: tabular-nums }
.fits { color: #17692b } .does-not-fit, .error { color: #b3261e } .cannot-tell, .warning { color: #8a5a00 }
.note, small { color: #5f5f5f } .fix::before { content: "→ "; color: #17692b }
@media (prefers-color-scheme: dark) {
  body { background: #16181c; color: #e6e6e6 } th, td { border-color: #3a3d44 }
  .fits { color: #6fcf87 } .does-not-fit, .error { color: #ff8a80 } .cannot-tell, .warning { color: #f0b95a }
}
"""
_CLASSES = {word: verdict for verdict, word in VERDICT_AFTER_A_NAME.items()}


def plan_html(plan: Plan, *, detail: bool = False) -> str:
    """Return the plan as an HTML document; `detail` adds the devices of each claim."""
    return "\n".join(_lines(plan, detail=detail)) + "\n"


def _lines(plan: Plan, *, detail: bool) -> Iterator[str]:
    yield from head_lines(headline(plan), plan.verdict, setting(plan))
    tables = PlanTables.of(plan, DRAWN, width=200, every=True)
    if plan.workloads:
        yield from table_lines(tables.workloads())
    yield from table_lines(tables.pools())
    if detail:
        yield from table_lines(claims_table(plan))
    for obstacle in obstacles(plan, every=True):
        words = VERDICT_AFTER_A_NAME[obstacle.verdict]
        yield f'<h3>{escape(obstacle.subject)} <span class="{obstacle.verdict}">{words}</span></h3>\n<ul>'
        for what, fix in obstacle.lines:
            yield f"<li>{escape(what)}{_fix(fix)}</li>"
        yield "</ul>"
    if plan.diagnostics:
        yield "<h2>Findings</h2>\n<ul>"
        for each in diagnostics(plan):
            where = f"<code>{escape(str(each.place))}</code> " if str(each.place) else ""
            said = f'<span class="{each.severity}">{each.severity}</span> {each.code}: {escape(each.message)}'
            yield f"<li>{where}{said}{_fix(each.fix)}</li>"
        yield "</ul>"
    for line in (*simulation(plan), *costs(plan)):
        yield f"<p>{escape(line)}</p>"
    if plan.assumptions:
        yield "<details><summary>Assumed</summary>\n<ul>"
        for line in plan.assumptions:
            yield f"<li>{escape(line)}</li>"
        yield "</ul>\n</details>"
    yield "</body>\n</html>"


def head_lines(title: str, verdict: Verdict, below: str) -> Iterator[str]:
    """Yield the beginning of a page: its title in the colour of a verdict, and a line below it."""
    yield '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>"
    yield f'<h1 class="{verdict}">{escape(title)}</h1>\n<p>{escape(below)}</p>'


def _fix(fix: str) -> str:
    return f'<br><span class="fix">{escape(fix)}</span>' if fix else ""


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table, its title first."""
    yield f"<h2>{escape(table.title)}</h2>\n<table>"
    heads = "".join(f"<th{_number(table, at)}>{escape(head)}</th>" for at, head in enumerate(table.heads))
    yield f"<tr>{heads}</tr>"
    for row in table.rows:
        cells = "".join(f"<td{_number(table, at)}>{_cell(cell)}</td>" for at, cell in enumerate(row))
        yield f"<tr>{cells}</tr>"
    yield "</table>"
    if table.note:
        yield f"<p><small>{escape(table.note)}</small></p>"


def _number(table: Table, column: int) -> str:
    return ' class="number"' if column in table.numbers else ""


def _cell(cell: str) -> str:
    verdict = _CLASSES.get(cell)
    return f'<span class="{verdict}">{escape(cell)}</span>' if verdict else escape(cell)

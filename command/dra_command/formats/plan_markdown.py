"""A plan for a pull request or a wiki: GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from dra_command.formats.plan_report import (
    VERDICT_AFTER_A_NAME,
    Table,
    claims_table,
    costs,
    diagnostics,
    headline,
    obstacles,
    pools_table,
    setting,
    simulation,
    workloads_table,
)
from dra_planner.plan import Plan


def plan_markdown(plan: Plan, *, detail: bool = False) -> str:
    """Return the plan as Markdown, with a newline at its end; `detail` adds the devices of each claim."""
    return "\n".join(_lines(plan, detail=detail)).rstrip() + "\n"


def _lines(plan: Plan, *, detail: bool) -> Iterator[str]:
    yield f"## {safe(headline(plan))}"
    yield ""
    yield safe(setting(plan))
    yield ""
    if plan.workloads:
        yield from table_lines(workloads_table(plan))
    yield from table_lines(pools_table(plan))
    if detail:
        yield from table_lines(claims_table(plan))
    for obstacle in obstacles(plan, every=True):
        yield f"**{safe(obstacle.subject)}** {VERDICT_AFTER_A_NAME[obstacle.verdict]}"
        yield ""
        for what, fix in obstacle.lines:
            yield f"- {safe(what)}" + (f"  \n  *{safe(fix)}*" if fix else "")
        yield ""
    for each in diagnostics(plan):
        where = f"`{each.place}` " if str(each.place) else ""
        yield f"- {where}**{each.severity}** {each.code}: {safe(each.message)}" + (
            f"  \n  *{safe(each.fix)}*" if each.fix else ""
        )
    if plan.diagnostics:
        yield ""
    for line in (*simulation(plan), *costs(plan)):
        yield safe(line)
        yield ""
    if plan.assumptions:
        yield "<details><summary>Assumed</summary>"
        yield ""
        for line in plan.assumptions:
            yield f"- {safe(line)}"
        yield ""
        yield "</details>"


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table, its title first."""
    yield f"### {safe(table.title)}"
    yield ""
    yield "| " + " | ".join(safe(head) for head in table.heads) + " |"
    yield "|" + "|".join("--:" if index in table.numbers else "---" for index in range(len(table.heads))) + "|"
    for row in table.rows:
        yield "| " + " | ".join(safe(cell) for cell in row) + " |"
    yield ""
    if table.note:
        yield f"<sub>{safe(table.note)}</sub>"
        yield ""


def safe(text: str) -> str:
    """Escape what Markdown or HTML would take for its own."""
    for sign in "\\`*_[]|":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")

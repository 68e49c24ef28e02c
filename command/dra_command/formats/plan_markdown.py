"""A plan for a pull request or a wiki: GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from dra_command.formats.plan_report import (
    VERDICT_AFTER_A_NAME,
    Table,
    costs,
    diagnostics,
    headline,
    obstacles,
    pools_table,
    setting,
    workloads_table,
)
from dra_planner.plan import Plan


def plan_markdown(plan: Plan) -> str:
    """Return the plan as Markdown, with a newline at its end."""
    return "\n".join(_lines(plan)).rstrip() + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    yield f"## {_safe(headline(plan))}"
    yield ""
    yield _safe(setting(plan))
    yield ""
    if plan.workloads:
        yield from _table(workloads_table(plan))
    yield from _table(pools_table(plan))
    for obstacle in obstacles(plan, every=True):
        yield f"**{_safe(obstacle.subject)}** {VERDICT_AFTER_A_NAME[obstacle.verdict]}"
        yield ""
        for what, fix in obstacle.lines:
            yield f"- {_safe(what)}" + (f"  \n  *{_safe(fix)}*" if fix else "")
        yield ""
    for each in diagnostics(plan):
        where = f"`{each.place}` " if str(each.place) else ""
        yield f"- {where}**{each.severity}** {each.code}: {_safe(each.message)}" + (
            f"  \n  *{_safe(each.fix)}*" if each.fix else ""
        )
    if plan.diagnostics:
        yield ""
    for line in costs(plan):
        yield _safe(line)
        yield ""
    if plan.assumptions:
        yield "<details><summary>Assumed</summary>"
        yield ""
        for line in plan.assumptions:
            yield f"- {_safe(line)}"
        yield ""
        yield "</details>"


def _table(table: Table) -> Iterator[str]:
    yield f"### {_safe(table.title)}"
    yield ""
    yield "| " + " | ".join(_safe(head) for head in table.heads) + " |"
    yield "|" + "|".join("--:" if index in table.numbers else "---" for index in range(len(table.heads))) + "|"
    for row in table.rows:
        yield "| " + " | ".join(_safe(cell) for cell in row) + " |"
    yield ""
    if table.note:
        yield f"<sub>{_safe(table.note)}</sub>"
        yield ""


def _safe(text: str) -> str:
    """Escape what Markdown or HTML would take for its own."""
    for sign in "\\`*_[]|":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")

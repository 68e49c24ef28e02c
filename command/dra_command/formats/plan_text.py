"""A plan for a person at a terminal, and plain in a pipe."""

from __future__ import annotations

from typing import TextIO

from dra_command.formats.page import Page
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
from dra_planner.model import Verdict
from dra_planner.plan import Plan

_STYLES: dict[Verdict, str] = {"fits": "green", "does-not-fit": "red", "cannot-tell": "yellow"}
_WORD_STYLES = {word: _STYLES[verdict] for verdict, word in VERDICT_AFTER_A_NAME.items()}
MOST_ASSUMPTIONS = 6


def print_plan(
    plan: Plan, *, detail: bool = False, quiet: bool = False, verbose: bool = False, file: TextIO | None = None
) -> None:
    """Print the plan, with `detail` also the devices of each claim; `quiet` leaves the verdict and what is wrong,
    `verbose` leaves nothing out.
    """
    with Page(file) as page:
        page.line((headline(plan), f"bold {_STYLES[plan.verdict]}"), f"  {setting(plan)}")
        if not quiet:
            if plan.workloads:
                _add_table(page, workloads_table(plan))
            _add_table(page, pools_table(plan))
            if detail:
                _add_table(page, claims_table(plan))
        _add_obstacles(page, plan, verbose=verbose)
        _add_diagnostics(page, plan, quiet=quiet)
        if not quiet:
            for line in (*simulation(plan), *costs(plan)):
                page.gap()
                page.line(line)
            _add_assumptions(page, plan, verbose=verbose)


def _add_table(page: Page, table: Table) -> None:
    page.gap()
    page.line((table.title, "bold"))
    page.table(table.heads, table.rows, numbers=table.numbers, styles=_WORD_STYLES)
    if table.note:
        page.line((table.note, "dim"))


def _add_obstacles(page: Page, plan: Plan, *, verbose: bool) -> None:
    for number, obstacle in enumerate(obstacles(plan, every=verbose)):
        if not number:
            page.gap()
        page.line((obstacle.subject, "bold"), " ", (VERDICT_AFTER_A_NAME[obstacle.verdict], _STYLES[obstacle.verdict]))
        for what, fix in obstacle.lines:
            page.text(what, indent=2)
            if fix:
                page.text(fix, indent=4, mark="→ ")


def _add_diagnostics(page: Page, plan: Plan, *, quiet: bool) -> None:
    told = [each for each in diagnostics(plan) if each.severity == "error" or not quiet]
    if told:
        page.gap()
    for each in told:
        page.diagnostic(each)


def _add_assumptions(page: Page, plan: Plan, *, verbose: bool) -> None:
    shown = plan.assumptions if verbose else plan.assumptions[:MOST_ASSUMPTIONS]
    if not shown:
        return
    page.gap()
    page.line(("Assumed", "bold"))
    for line in shown:
        page.text(line, indent=2, mark="· ")
    hidden = len(plan.assumptions) - len(shown)
    if hidden:
        page.text(f"and {hidden} more (--verbose shows them)", indent=2, mark="· ")

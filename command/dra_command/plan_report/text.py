"""A plan as text for a terminal, or as plain text for a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from dra_command.claim_report.joint_fix import joint_fix_title
from dra_command.claim_report.terms import failing_tables
from dra_command.pens.signs import Signs
from dra_command.pens.table import Table
from dra_command.pens.terminal.page import VERDICT_STYLES, Page
from dra_command.pens.terminal.row_paragraphs import print_table
from dra_command.plan_report.alternatives import alternative_lines
from dra_command.plan_report.cost_detail import detail_tables
from dra_command.plan_report.cost_sentences import costs
from dra_command.plan_report.difference import difference_line, difference_table
from dra_command.plan_report.findings import decisive_assumptions, diagnostics
from dra_command.plan_report.guards import guards_table, rules_table, without_guards
from dra_command.plan_report.headline import headline, setting
from dra_command.plan_report.obstacles import obstacles
from dra_command.plan_report.simulation_sentences import simulation
from dra_command.plan_report.tables.devices import device_table
from dra_command.plan_report.tables.orders import order_table
from dra_command.plan_report.tables.pools import pool_table
from dra_command.plan_report.tables.view import NARROW, PlanView
from dra_command.plan_report.tables.workloads import workload_table
from dra_planner.model import DEMAND_LEVELS
from dra_planner.plan import Plan
from dra_planner.plan.explanation.claims import explain_failing
from dra_planner.plan.model import DOUBTS
from dra_planner.wording import counted

if TYPE_CHECKING:  # needed only with a saved plan
    from dra_planner.plan.saved.difference import PlanDifference

_MOST_CLAIMS = 3
_MOST_NOTES = 10


def print_plan(
    plan: Plan,
    *,
    detail: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    difference: PlanDifference | None = None,
    file: TextIO | None = None,
) -> None:
    """Print the plan. With `detail`, also print the devices of each claim, and the cost of one more
    pod or node. `quiet` prints only the verdict and problems, and `verbose` prints everything.
    `difference` is the difference from the saved plan.
    """
    with Page(file) as page:
        _PlanPage(page, plan, difference, verbose=verbose).write(detail=detail, quiet=quiet)


class _PlanPage:
    """Writes a single plan to a page."""

    def __init__(
        self, page: Page, plan: Plan, difference: PlanDifference | None, *, verbose: bool
    ) -> None:
        self._page = page
        self._plan = plan
        self._difference = difference
        self._verbose = verbose
        self._narrow = page.width < NARROW
        signs = page.signs
        self._signs: Signs = signs
        self._cell_styles = {signs.of(verdict): style for verdict, style in VERDICT_STYLES.items()}

    def write(self, *, detail: bool, quiet: bool) -> None:
        page, plan = self._page, self._plan
        sign = self._signs.of(plan.verdict)
        page.line((f"{sign} {headline(plan)}", f"bold {VERDICT_STYLES[plan.verdict]}"))
        if quiet:
            self._obstacles()
            self._diagnostics(quiet=True)
            return
        self._judged_for()
        if self._difference is not None and not self._difference.is_empty:
            self._table(difference_table(self._difference))
        self._obstacles()
        self._joint_fix()
        self._diagnostics(quiet=False)
        self._tables((guards_table(plan), rules_table(plan) if detail else None))
        view = PlanView.of(plan, self._signs, width=page.width, every=self._verbose)
        if plan.workloads:
            self._table(workload_table(view))
        by_pool = (pool_table(view), device_table(view))
        self._tables(view.with_short_names(table) for table in by_pool if table is not None)
        self._tables((order_table(view),))
        if detail:
            self._tables(detail_tables(plan, view.filled))
        for line in (*alternative_lines(plan), *simulation(plan), *costs(plan)):
            page.gap()
            page.line(line)
        self._assumptions()
        self._other_reports(detail=detail)

    def _judged_for(self) -> None:
        page, plan = self._page, self._plan
        if self._difference is not None:
            page.text(difference_line(self._difference), indent=2)
        levels = [f"{level} {self._signs.of(plan.verdict_at(level))}" for level in DEMAND_LEVELS]
        judged = "  ".join(levels) if plan.workloads and not plan.judgement.is_observed else ""
        if self._narrow or not judged:
            page.text(setting(plan), indent=2)
        if judged:
            page.verbatim(f"  {judged}" if self._narrow else f"  {setting(plan)} · {judged}")
        if plan.guarded is not None:
            page.text(without_guards(plan.guarded), indent=2)

    def _tables(self, tables: Iterable[Table | None]) -> None:
        for table in tables:
            if table is not None:
                self._table(table)

    def _table(self, table: Table) -> None:
        """Print a table whose title is in its first column heading."""
        heads = (table.title, *table.heads[1:])
        self._page.gap()
        styles = self._cell_styles
        print_table(self._page, heads, table.rows, numbers=table.numbers, styles=styles)
        if table.note:
            self._page.line((table.note, "dim"))

    def _obstacles(self) -> None:
        plan = self._plan
        terms = self._terms()
        for obstacle in obstacles(plan, every=self._verbose):
            self._page.gap()
            style = VERDICT_STYLES[obstacle.verdict]
            sign = self._signs.of(obstacle.verdict)
            self._page.line(
                (f"{sign} ", f"bold {style}"), (obstacle.subject, "bold"), f": {obstacle.state}"
            )
            for what, fix in obstacle.lines:
                self._page.text(what, indent=2)
                if fix:
                    self._page.text(fix, indent=4, mark="→ ")
            for table in terms.pop(obstacle.subject, []):
                self._page.gap()
                self._page.table(table.heads, table.rows, styles=self._cell_styles)

    def _joint_fix(self) -> None:
        found = self._plan.joint_fix
        if found is None:
            return
        self._page.gap()
        self._page.line((joint_fix_title(found), "bold"))
        for step in found.steps:
            self._page.text(step, indent=2, mark="→ ")

    def _terms(self) -> dict[str, list[Table]]:
        """Return the failing conditions of claims, by workload, up to a maximum number."""
        if self._plan.running == "fits":
            return {}
        most = 2 if self._narrow else 4
        tables: dict[str, list[Table]] = {}
        for number, (workload, table) in enumerate(
            failing_tables(explain_failing(self._plan.judgement), self._signs, most)
        ):
            if self._verbose or number < _MOST_CLAIMS:
                tables.setdefault(workload, []).append(table)
        return tables

    def _diagnostics(self, *, quiet: bool) -> None:
        found = diagnostics(self._plan)
        doubts = DOUBTS | {
            each.code for each in self._plan.blockers if each.verdict == "cannot-tell"
        }
        errors = [each for each in found if each.severity == "error"]
        others = [
            each
            for each in found[len(errors) :]
            if not quiet or each.severity == "warning" or each.code in doubts
        ]
        shown = others if self._verbose or len(others) <= _MOST_NOTES + 1 else others[:_MOST_NOTES]
        if errors or shown:
            self._page.gap()
        for each in (*errors, *shown):
            self._page.diagnostic(each)
        if len(shown) < len(others):
            self._page.line(
                (f"and {len(others) - len(shown)} more of these (--verbose shows them)", "dim")
            )

    def _assumptions(self) -> None:
        """Print the assumptions that affect the result, and the number of all other assumptions."""
        page, plan = self._page, self._plan
        shown = plan.assumptions if self._verbose else decisive_assumptions(plan)
        if shown:
            page.gap()
            page.line(("Assumed", "bold"))
        for line in shown:
            page.text(line, indent=2, mark="· ")

    def _other_reports(self, *, detail: bool) -> None:
        """Print which options show what this report omits."""
        page, plan = self._page, self._plan
        hidden = 0 if self._verbose else len(plan.assumptions) - len(decisive_assumptions(plan))
        options = [f"{counted(hidden, 'assumption')} (--verbose shows them)"] if hidden else []
        if plan.guards.rules and not detail:
            options.append("steering rules: --detail")
        page.gap()
        page.line((" · ".join([*options, "report: --format html"]), "dim"))

"""Why a claim fits or not, as a readable tree."""

from __future__ import annotations

from typing import TextIO

from dra_command.commands.explain import Explanation, PoolExplanation
from dra_command.formats.page import Page
from dra_command.formats.plan_report import VERDICT_WORDS
from dra_planner.allocation.explanation import AlternativeReport, ConstraintReport, Exclusion

_STYLES = {"fits": "green", "does-not-fit": "red", "cannot-tell": "yellow"}
_STEPS = {
    "selector": "fail",
    "unknown": "cannot be judged by",
    "error": "make the attempt fail:",
    "capacity": "have too little:",
    "taken": "are taken",
    "counters": "are partitions whose counters are used up:",
    "taint": "carry a taint that the request does not tolerate:",
}


def print_explanation(explanation: Explanation, file: TextIO | None = None) -> None:
    """Print the explanation, pool by pool."""
    with Page(file) as page:
        page.line(
            (f"claim {explanation.claim}", "bold"),
            f" of {explanation.workload} ",
            (VERDICT_WORDS[explanation.verdict], f"bold {_STYLES[explanation.verdict]}"),
        )
        for pool in explanation.pools:
            _print_pool(page, pool)


def _print_pool(page: Page, pool: PoolExplanation) -> None:
    page.gap()
    machine = f" ({pool.machine})" if pool.machine else ""
    page.line((f"pool {pool.pool}", "bold"), f"{machine} ", (VERDICT_WORDS[pool.verdict], _STYLES[pool.verdict]))
    if pool.report is not None:
        for request in pool.report.requests:
            for number, way in enumerate(request):
                _print_way(page, way, number if len(request) > 1 else None)
        for constraint in pool.report.constraints:
            _print_constraint(page, constraint)
    for reason in pool.reasons:
        page.text(reason.message, indent=2)
        if reason.fix:
            page.text(reason.fix, indent=4, mark="→ ")


def _print_way(page: Page, way: AlternativeReport, number: int | None) -> None:
    rank = f"alternative {number + 1}, " if number is not None else ""
    wanted = "all devices" if way.wanted is None else f"{way.wanted} device{'s' if way.wanted != 1 else ''}"
    page.text(f"request {way.request}: {rank}{wanted}", indent=2)
    page.text(f"{way.seen} seen on the node", indent=4)
    for each in way.exclusions:
        page.text(_exclusion(each), indent=4, mark="− ")
    page.text(f"{way.left} left", indent=4, mark="= ")
    if way.fault:
        page.text(way.fault, indent=4)


def _exclusion(each: Exclusion) -> str:
    owner = f" of class {each.term.owner}" if each.term is not None and each.term.owner else ""
    term = f" `{each.term.expression}`{owner}" if each.term is not None else ""
    values = f" (they have {', '.join(each.values)})" if each.values else ""
    detail = f" {each.detail}" if each.detail else ""
    return f"{each.count} {_STEPS[each.step]}{term}{detail}{values}"


def _print_constraint(page: Page, report: ConstraintReport) -> None:
    constraint = report.constraint
    kind = "matchAttribute" if constraint.match_attribute else "distinctAttribute"
    name = constraint.match_attribute or constraint.distinct_attribute or ""
    over = f" over {', '.join(constraint.requests)}" if constraint.requests else ""
    page.text(f"constraint {kind} {name}{over}", indent=2)
    for value, count in report.groups:
        page.text(f"{value}: {count} device{'s' if count != 1 else ''}", indent=4)
    if report.without:
        page.text(f"{report.without} without it", indent=4, mark="− ")
    if report.unknown:
        page.text(f"{report.unknown} of which only the node knows it", indent=4, mark="? ")

"""The reasons why a claim fits or doesn't fit, as a tree: pool, request, steps, conditions,
constraints, and fix.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from dra_command.claim_report.joint_fix import print_joint_fix
from dra_command.claim_report.shares import share_sentence
from dra_command.explain.pool_lines import (
    POOLS_TOO_SMALL,
    Line,
    edit_lines,
    print_lines,
    print_title,
    print_what_if,
    reason_lines,
)
from dra_command.pens.terminal.page import VERDICT_STYLES, Page
from dra_command.pens.verdict_words import explained_verdict
from dra_planner.allocation.reasons.explanation import (
    AlternativeReport,
    ConstraintReport,
    Exclusion,
)
from dra_planner.allocation.reasons.shares import share_limit
from dra_planner.cel import SelectorExplanation as SelectorReport
from dra_planner.cel import SelectorTerm
from dra_planner.plan.explanation.claims import ClaimExplanation, PoolExplanation
from dra_planner.wording import counted, verb

_STEPS = {
    "selector": ("fails", "fail"),
    "unknown": ("can't be evaluated by", "can't be evaluated by"),
    "error": ("fails the scheduling attempt:", "fail the scheduling attempt:"),
    "capacity": ("has too little:", "have too little:"),
    "taken": ("is taken", "are taken"),
    "counters": (
        "is a partition whose counters are exhausted:",
        "are partitions whose counters are exhausted:",
    ),
    "taint": (
        "has a taint that the request doesn't tolerate:",
        "have a taint that the request doesn't tolerate:",
    ),
}
_SHOWN_BY_THE_TREE = frozenset(
    {
        "no-devices",
        "capacity-too-large",
        "selector-mismatch",
        "selector-unknown",
        "count-too-large",
        "device-taint",
        "counters-exhausted",
        "devices-taken",
        "devices-short",
    }
)


def print_explanation(
    explanation: ClaimExplanation,
    *,
    quiet: bool = False,
    verbose: bool = False,
    file: TextIO | None = None,
) -> None:
    """Print the explanation. Pools with the same answer are grouped. `quiet` prints only the
    verdicts, and `verbose` also lists the conditions that every device passes.
    """
    with Page(file) as page:
        page.line(
            (f"claim {explanation.claim}", "bold"),
            f" of {explanation.workload} ",
            (
                explained_verdict(explanation.verdict, stalls=explanation.stalls),
                f"bold {VERDICT_STYLES[explanation.verdict]}",
            ),
        )
        print_what_if(page, explanation.what_if)
        _print_answer(explanation, page)
        for pools, lines in _together(explanation, verbose=verbose):
            if not quiet:
                page.gap()
            print_title(page, pools, is_observed=explanation.is_observed, every=verbose)
            print_lines(page, () if quiet else lines)
        if not quiet:
            print_joint_fix(page, explanation.joint_fix)


def _print_answer(explanation: ClaimExplanation, page: Page) -> None:
    """Print the changes that would make the claim fit, before the result of each pool."""
    if explanation.missing is not None:
        page.gap()
        page.line((explanation.missing.message, "bold"))
        page.text(explanation.missing.fix, indent=2, mark="→ ")
    if explanation.blockers:
        page.gap()
        print_lines(page, reason_lines(explanation.blockers))
    if explanation.pending_reasons:
        page.gap()
        if explanation.pools:
            page.line((POOLS_TOO_SMALL, "bold"))
        for reason in explanation.pending_reasons:
            page.text(reason.text, indent=2)
            if reason.fix:
                page.text(reason.fix, indent=4, mark="→ ")
        for holder in explanation.holders:
            pods = counted(holder.pods, "pod")
            page.text(
                f"{holder.workload} uses devices of {holder.pool} ({pods})", indent=2, mark="· "
            )


def _together(
    explanation: ClaimExplanation, *, verbose: bool
) -> list[tuple[list[PoolExplanation], tuple[Line, ...]]]:
    groups: dict[tuple[object, ...], list[PoolExplanation]] = {}
    with_fixes = verbose or needs_fixes(explanation)

    def lines(pool: PoolExplanation) -> tuple[Line, ...]:
        return tuple(pool_lines(pool, verbose=verbose, with_fixes=with_fixes))

    for pool in explanation.pools:
        texts = tuple(line.text.replace(pool.pool, "") for line in lines(pool))
        groups.setdefault((pool.machine, pool.verdict, texts), []).append(pool)
    return [(pools, lines(pools[0])) for pools in groups.values()]


def needs_fixes(explanation: ClaimExplanation) -> bool:
    """Return whether the output must contain changes for the pools that the claim doesn't fit. This
    is the case only if the claim doesn't fit any pool.
    """
    return explanation.verdict != "fits"


def pool_lines(pool: PoolExplanation, *, verbose: bool, with_fixes: bool = True) -> Iterator[Line]:
    """Yield, step by step, how a node of one pool could serve the claim, and the fixes if
    requested.
    """
    if pool.report is not None:
        selectors = {each.text: each for each in pool.selectors}
        for request in pool.report.requests:
            for number, way in enumerate(request):
                yield from _way_lines(
                    way, number if len(request) > 1 else None, selectors, verbose=verbose
                )
        for constraint in pool.report.constraints:
            yield from _constraint_lines(constraint)
    for request_name in dict.fromkeys(name for name, _ in pool.devices):
        got = ", ".join(device for name, device in pool.devices if name == request_name)
        yield Line(2, f"{request_name} gets {got}", "✓ ")
        own = [each for each in pool.shares if each.request == request_name]
        yield from (Line(4, share_sentence(each)) for each in own)
    limit = share_limit(pool.shares)
    if limit:
        yield Line(4, limit)
    for reason in pool.reasons:
        is_in_tree = pool.report is not None and reason.code in _SHOWN_BY_THE_TREE
        if not is_in_tree:
            yield Line(2, reason.text, "✕ ")
        if with_fixes and reason.fix and not (is_in_tree and pool.edits):
            yield Line(2 if is_in_tree else 4, reason.fix, "→ ")
    yield from edit_lines(pool.edits if with_fixes else ())


def depth_of(line: Line) -> int:
    """Return the depth of a line in its tree. It's 0 for requests, constraints, and fixes."""
    return {2: 0, 4: 1, 6: 2}.get(line.indent, 3)


def _way_lines(
    way: AlternativeReport,
    number: int | None,
    selectors: dict[str, SelectorReport],
    *,
    verbose: bool,
) -> Iterator[Line]:
    rank = f"alternative {number + 1}, " if number is not None else ""
    wanted = "all devices" if way.wanted is None else counted(way.wanted, "device")
    yield Line(2, f"request {way.request}: {rank}{wanted}")
    yield Line(4, f"{counted(way.seen, 'device')} on the node")
    for each in way.exclusions:
        report = selectors.get(each.term.expression) if each.term is not None else None
        yield Line(4, _exclusion(each, is_taken_apart=report is not None), "− ")
        if report is not None:
            yield from _condition_lines(report, verbose=verbose)
    yield Line(4, f"{way.left} left", "= ")
    if way.fault:
        yield Line(4, way.fault)


def _exclusion(each: Exclusion, *, is_taken_apart: bool) -> str:
    one, many = _STEPS[each.step]
    step = one if each.count == 1 else many
    detail = f" {each.detail}" if each.detail else ""
    if each.term is None:
        return f"{each.count} {step}{detail}"
    owner = f" of class {each.term.owner}" if each.term.owner else ""
    if is_taken_apart:
        return f"{each.count} {step} the selector{owner}{':' + detail if detail else ''}"
    values = f" (they have {', '.join(each.values)})" if each.values else ""
    return f"{each.count} {step} `{each.term.expression}`{owner}{detail}{values}"


def _condition_lines(report: SelectorReport, *, verbose: bool) -> Iterator[Line]:
    for term in report.terms:
        total = term.matching + term.failing + term.erring + term.unknown
        if term.matching == total:
            yield Line(6, term.text, "✓ ", len(term.text))
            if not verbose:
                continue
        else:
            mark = "✕ " if term.failing or term.erring else "? "
            yield Line(6, f"{term.text}   {_passed(term, total)}", mark, len(term.text))
        for at in term.reads:
            values = [
                value if count == total else f"{value} ×{count}" for value, count in at.values
            ]
            values += [f"{at.absent} without it"] if at.absent else []
            values += [f"{at.unknown} known only at run time"] if at.unknown else []
            yield Line(10, f"{at.path[-1]}: {', '.join(values)}")
        if term.error:
            yield Line(10, term.error)
    for warning in report.warnings:
        yield Line(6, warning, "! ")


def _passed(term: SelectorTerm, total: int) -> str:
    return f"({term.matching} of {total} {verb(total, 'pass')})"


def _constraint_lines(report: ConstraintReport) -> Iterator[Line]:
    constraint = report.constraint
    kind = "matchAttribute" if constraint.match_attribute else "distinctAttribute"
    name = constraint.match_attribute or constraint.distinct_attribute or ""
    over = f" over {', '.join(constraint.requests)}" if constraint.requests else ""
    yield Line(2, f"constraint {kind} {name}{over}")
    for value, count in report.groups:
        yield Line(4, f"{value}: {counted(count, 'device')}")
    if report.without:
        yield Line(4, f"{report.without} without it", "− ")
    if report.unknown:
        yield Line(4, f"{report.unknown} known only at run time", "? ")

"""The reasons why a claim fits or doesn't fit, as an HTML page: a table of conditions and pools,
and then the steps of the search on each pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from dra_command.claim_report.joint_fix import joint_fix_title
from dra_command.explain.claim.text import depth_of, needs_fixes, pool_lines
from dra_command.explain.pool_lines import Line, what_if_sentence
from dra_command.pens.html.page import Parts, ReportEntry, coded, coded_lines, render_page
from dra_command.pens.verdict_words import explained_verdict
from dra_command.plan_report.html.parts import claim_tree
from dra_planner.model import Verdict
from dra_planner.plan.explanation.claims import ClaimExplanation
from dra_planner.wording import counted

_STYLES: Final = {"✓": "ok", "✕": "bad", "?": "doubt", "→": "ok"}


class StepView(Struct, frozen=True):
    """One step of a search: its depth, mark, style, and text."""

    depth: int
    mark: str
    style: str
    text: Parts


class SearchView(Struct, frozen=True):
    """The search on a node of one pool, step by step."""

    name: str
    verdict: Verdict
    steps: tuple[StepView, ...]


def explain_html(explanation: ClaimExplanation) -> str:
    """Return the explanation as an HTML document."""
    tree = claim_tree(explanation)
    places = "node" if explanation.is_observed else "pool"
    fits = sum(pool.verdict == "fits" for pool in explanation.pools)
    verdict_words = explained_verdict(explanation.verdict, stalls=explanation.stalls)
    with_fixes = needs_fixes(explanation)
    return render_page(
        "explain/claim/claim.html.j2",
        where="pulumi-dra explain",
        verdict=explanation.verdict,
        decision=f"Claim {explanation.claim} of {explanation.workload} {verdict_words}: {fits} of "
        f"{counted(len(explanation.pools), places)} can satisfy the claim.",
        what_if="" if explanation.what_if is None else what_if_sentence(explanation.what_if),
        findings=list(_findings(explanation)),
        claims=[] if tree is None else [tree],
        place_title="Nodes" if explanation.is_observed else "Pools",
        pools=[
            SearchView(
                f"{pool.pool} ({pool.machine})" if pool.machine else pool.pool,
                pool.verdict,
                tuple(map(_step, pool_lines(pool, verbose=False, with_fixes=with_fixes))),
            )
            for pool in explanation.pools
        ],
    )


def _step(line: Line) -> StepView:
    mark = line.mark.strip()
    expression = ((True, line.text[: line.code]),) if line.code else ()
    text = (*expression, *coded(line.text[line.code :]))
    return StepView(depth_of(line), mark, _STYLES.get(mark, ""), text)


def _findings(explanation: ClaimExplanation) -> Iterator[ReportEntry]:
    if explanation.missing is not None:
        missing = explanation.missing
        yield ReportEntry(
            kind="does-not-fit",
            subject="Missing in the fleet",
            lines=coded_lines([(missing.message, missing.fix)]),
        )
    if explanation.blockers:
        lines = [(each.message, each.fix) for each in explanation.blockers]
        subject = "Other conditions"
        yield ReportEntry(kind=explanation.verdict, subject=subject, lines=coded_lines(lines))
    if explanation.pending_reasons:
        lines = [(each.text, each.fix) for each in explanation.pending_reasons]
        lines += [
            (f"{each.workload} uses devices of {each.pool} ({counted(each.pods, 'pod')})", "")
            for each in explanation.holders
        ]
        subject = "The pod fits on a node, but not all pods fit in the pools at the same time"
        yield ReportEntry(kind=explanation.verdict, subject=subject, lines=coded_lines(lines))
    joint = explanation.joint_fix
    if joint is not None:
        lines = [("", step) for step in joint.steps]
        subject = joint_fix_title(joint).removesuffix(":")
        yield ReportEntry(kind=explanation.verdict, subject=subject, lines=coded_lines(lines))

"""The reasons why a claim fits or doesn't fit, as Markdown: a table of conditions and pools, and
then the search on each pool, collapsed.
"""

from __future__ import annotations

from dra_command.claim_report.joint_fix import joint_fix_title
from dra_command.claim_report.terms import terms_table
from dra_command.explain.claim.text import depth_of, needs_fixes, pool_lines
from dra_command.explain.pool_lines import Line, what_if_sentence
from dra_command.pens.markdown import details, html_code, joined, safe, table_lines
from dra_command.pens.signs import DRAWN
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_AFTER_A_NAME, explained_verdict
from dra_planner.plan.explanation.claims import ClaimExplanation

_MOST_POOLS = 8


def explain_markdown(explanation: ClaimExplanation) -> str:
    """Return the explanation, with a newline at its end."""
    verdict_words = explained_verdict(explanation.verdict, stalls=explanation.stalls)
    sign = DRAWN.of(explanation.verdict)
    head = [
        f"### {sign} Claim {safe(explanation.claim)} of {safe(explanation.workload)} {verdict_words}",
        "",
    ]
    if explanation.what_if is not None:
        verdict_words = what_if_sentence(explanation.what_if)
        head += [f"{verdict_words[:1].upper()}{safe(verdict_words[1:])}.", ""]
    reasons = [
        *([explanation.missing] if explanation.missing is not None else []),
        *explanation.pending_reasons,
        *explanation.blockers,
    ]
    head += [
        f"- {safe(each.message)}" + (f"<br>→ {safe(each.fix)}" if each.fix else "")
        for each in reasons
    ]
    head += [""] * bool(reasons)
    table = terms_table(explanation, DRAWN, _MOST_POOLS)
    if table is not None:
        rows = tuple((f"`{row[0]}`", *row[1:]) for row in table.rows)
        head += table_lines(Table(table.title, table.heads, rows), title=False)
    joint = explanation.joint_fix
    tail = (
        []
        if joint is None
        else ["", joint_fix_title(joint), "", *(f"- {safe(step)}" for step in joint.steps)]
    )
    place = "node" if explanation.is_observed else "pool"
    with_fixes = needs_fixes(explanation)
    folded = [
        details(
            f"{place} {html_code(pool.pool)} {VERDICT_AFTER_A_NAME[pool.verdict]}",
            [*map(_step, pool_lines(pool, verbose=False, with_fixes=with_fixes)), ""],
        )
        for pool in explanation.pools
    ]
    return joined([*head, *([] if head[-1] == "" else [""])], folded, tail)


def _step(line: Line) -> str:
    return f"{'  ' * depth_of(line)}- {safe(f'{line.mark}{line.text}')}"

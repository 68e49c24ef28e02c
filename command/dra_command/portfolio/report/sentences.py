"""A portfolio as rows and sentences, for all formats."""

from __future__ import annotations

from collections.abc import Iterator

from dra_command.pens.signs import DRAWN
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.report.summary import (
    FAILED,
    MISSING,
    ScenarioTotal,
    Summary,
    outcome_of,
)
from dra_planner.wording import counted, verb

MARKS = {
    "fits": DRAWN.fits,
    "does-not-fit": DRAWN.does_not_fit,
    "cannot-tell": DRAWN.cannot_tell,
    FAILED: "!",
    MISSING: ".",
}
WORDS = {
    "fits": "fits",
    "does-not-fit": "does not fit",
    "cannot-tell": "can't be evaluated",
    FAILED: "has no result",
    MISSING: "not computed",
}
_SCENARIOS_NOTE = (
    "nodes and cost are capped at the pools' maximums, even if some pods don't fit · the "
    "difference from as-is is shown only if every stack fits in both scenarios"
)
MOST_ROWS = 40
MOST_COLUMNS = 60


def headline(summary: Summary) -> str:
    """Return the verdicts of the cells in one sentence."""
    counts = summary.counts
    parts = [f"{counts['fits']:,} of {counts.total():,} cells fit"]
    if counts["does-not-fit"]:
        misfits = counts["does-not-fit"]
        parts.append(f"{misfits:,} {'does' if misfits == 1 else 'do'} not")
    if counts["cannot-tell"]:
        parts.append(f"{counts['cannot-tell']:,} can't be evaluated")
    if counts[FAILED]:
        parts.append(f"{counts[FAILED]:,} {verb(counts[FAILED], 'have')} no result")
    if counts[MISSING]:
        parts.append(f"{counts[MISSING]:,} {verb(counts[MISSING], 'are')} not computed")
    return ", ".join(parts)


def setting(summary: Summary) -> str:
    """Return a summary of the questions: the number of stacks and scenarios, and the demand."""
    portfolio_questions = summary.answers.collected.portfolio.ask
    stacks, scenarios = (
        counted(len(summary.stacks), "stack"),
        counted(len(summary.scenarios), "scenario"),
    )
    return f"{stacks}, {scenarios}, {portfolio_questions.demand} demand"


def scenarios_table(summary: Summary) -> Table:
    """Return a row for each scenario: cells by outcome, nodes, and the cost compared with today."""
    rows = [
        (
            total.name,
            f"{total.counts['fits']:,}",
            f"{total.counts['does-not-fit']:,}",
            f"{total.counts['cannot-tell']:,}",
            f"{total.counts[FAILED]:,}",
            f"{total.nodes:,}",
            usd(total.hourly_usd),
            _difference(total, summary.totals[0]),
        )
        for total in summary.totals[:MOST_COLUMNS]
    ]
    hidden = len(summary.totals) - len(rows)
    heads = (
        "scenario",
        "fit",
        "do not fit",
        "cannot tell",
        "no result",
        "nodes",
        "USD per hour",
        "difference from as-is",
    )
    return Table(
        "Scenarios",
        heads,
        tuple(rows),
        numbers=frozenset(range(1, len(heads))),
        note=_SCENARIOS_NOTE
        + (f" · and {hidden} more (use --format json for all)" if hidden else ""),
    )


def stacks_table(summary: Summary) -> Table:
    """Return a row for each stack: its verdict today, and the first scenario with another verdict
    than *fits*.
    """
    lines = sorted(
        enumerate(summary.stacks), key=lambda each: (not each[1].first_not_fitting, each[0])
    )
    rows = [
        (
            line.name,
            WORDS[line.outcomes[0]],
            _number(line.as_is, "nodes"),
            "" if line.as_is is None else usd(line.as_is.hourly_usd),
            line.first_not_fitting or "fits in all" * (set(line.outcomes) == {"fits"}),
            next((row.why for row in line.rows if row is not None and row.why), ""),
        )
        for _, line in lines[:MOST_ROWS]
    ]
    hidden = len(lines) - len(rows)
    return Table(
        "Stacks",
        ("stack", "as-is", "nodes", "USD per hour", "first scenario with a problem", "why"),
        tuple(rows),
        numbers=frozenset({2, 3}),
        note=f"and {hidden} more, which fit or come later in the file (use --format json for all)"
        if hidden
        else "",
    )


def legend(summary: Summary) -> Iterator[str]:
    """Yield the marks of the cells with their meanings."""
    words = WORDS | VERDICT_WORDS
    marked = {outcome for line in summary.stacks for outcome in line.outcomes}
    yield from (f"{mark} {words[outcome]}" for outcome, mark in MARKS.items() if outcome in marked)


def heat_map(summary: Summary) -> Iterator[str]:
    """Yield stacks × scenarios with a mark for each cell, starting with a legend."""
    yield f"{'  '.join(legend(summary))}  (a column for each scenario, in the order above)"
    lines = [line for line in summary.stacks if set(line.outcomes) != {"fits"}][:MOST_ROWS]
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        marks = "".join(MARKS[outcome] for outcome in line.outcomes[:MOST_COLUMNS])
        yield f"{line.name:<{width}}  {marks}"


def faults(summary: Summary) -> Iterator[str]:
    """Yield the cells without a result. Cells of one stack with the same fault are grouped."""
    together: dict[tuple[int, str], list[str]] = {}
    for cell, row in summary.faults():
        together.setdefault((cell.stack, row.why), []).append(summary.scenarios[cell.scenario])
    for (stack, reason), names in together.items():
        every = set(names) == set(summary.scenarios)
        where = (
            "every scenario"
            if every
            else ", ".join(dict.fromkeys(names[:5])) + (" …" if len(names) > 5 else "")
        )
        yield f"{summary.answers.collected.stacks[stack].name} ({where}): {reason}"
    placed = summary.answers.placement
    if placed is not None and outcome_of(placed) == FAILED:
        yield placed.why
    for pattern in summary.patterns_without_workload:
        yield (
            f'ask.curves.workloads: "{pattern}" '
            "doesn't match any workload with pods in any stack; use NAMESPACE/NAME, where * "
            "matches any text"
        )


def run_sentence(summary: Summary) -> str:
    """Return a summary of the run: the computed cells, the engine, and the speed."""
    log = summary.answers.log
    if not log.computed:
        return f"all {log.known:,} results were cached"
    where = f"{log.engine} with {counted(log.workers, 'worker')}"
    rate = f"{log.computed:,} results computed in {log.seconds:.1f} s ({log.rate:.1f} per second)"
    return f"{rate} by {where}, {log.known:,} cached"


def usd(amount: float | None) -> str:
    """Return a cost per hour, or "not known"."""
    return "not known" if amount is None else f"{amount:,.2f}"


def _difference(total: ScenarioTotal, base: ScenarioTotal) -> str:
    """Return the change in cost, or "–" if one of the costs doesn't pay for all pods."""
    if not total.hourly_usd or not base.hourly_usd or not (total.all_fit and base.all_fit):
        return "–"
    return f"{total.hourly_usd / base.hourly_usd - 1:+.1%}".replace("-", "−")


def _number(row: AnswerRow | None, name: str) -> str:
    value = None if row is None else getattr(row, name)
    return "" if value is None else f"{value:,}"

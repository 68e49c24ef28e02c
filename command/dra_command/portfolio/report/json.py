"""A portfolio as the published JSON."""

from __future__ import annotations

from typing import cast

from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.contract import (
    CellRow,
    OutcomeText,
    PortfolioOutput,
    ScenarioTotalRow,
    StackRow,
)
from dra_command.portfolio.report.answer_details import curves, placement, risks
from dra_command.portfolio.report.sentences import faults
from dra_command.portfolio.report.summary import FAILED, MISSING, Summary, outcome_of


def portfolio_json(summary: Summary) -> str:
    """Return the portfolio as indented JSON."""
    return portfolio_output(summary).model_dump_json(indent=2)


def portfolio_output(summary: Summary) -> PortfolioOutput:
    """Return the portfolio as the contract's model."""
    return PortfolioOutput(
        verdict=summary.verdict,
        demand=summary.answers.collected.portfolio.ask.demand,
        scenarios=[
            ScenarioTotalRow(
                name=total.name,
                fits=total.counts["fits"],
                does_not_fit=total.counts["does-not-fit"],
                cannot_tell=total.counts["cannot-tell"],
                failed=total.counts[FAILED],
                not_computed=total.counts[MISSING],
                nodes=total.nodes,
                hourly=total.hourly_usd,
            )
            for total in summary.totals
        ],
        stacks=[
            StackRow(
                name=line.name,
                as_is=cast(OutcomeText, line.outcomes[0]),
                first_not_fitting=line.first_not_fitting or None,
            )
            for line in summary.stacks
        ],
        cells=[
            _cell(line.name, name, row)
            for line in summary.stacks
            for name, row in zip(summary.scenarios, line.rows, strict=True)
        ],
        curves=list(curves(summary)),
        risk=list(risks(summary)),
        placement=placement(summary),
        faults=list(faults(summary)),
    )


def _cell(stack: str, scenario: str, row: AnswerRow | None) -> CellRow:
    known = row if row is not None else AnswerRow("", "plan", MISSING)
    return CellRow(
        stack=stack,
        scenario=scenario,
        outcome=cast(OutcomeText, outcome_of(row)),
        kubernetes=known.kubernetes,
        nodes_bound=known.nodes_bound,
        nodes_packing=known.nodes_packing,
        nodes_simulated=known.nodes_simulated,
        nodes=known.nodes,
        placed=known.placed,
        pending=known.pending,
        stalled=known.stalled,
        hourly=known.hourly_usd,
        bound=known.bound_usd,
        why=known.why,
        digest=known.digest,
    )

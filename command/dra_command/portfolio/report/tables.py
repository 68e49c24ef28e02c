"""The tables of a portfolio: scenarios and stacks, and one table for each additional question."""

from __future__ import annotations

from collections.abc import Iterator

from dra_command.pens.table import Table
from dra_command.portfolio.report.question_tables import question_tables
from dra_command.portfolio.report.sentences import scenarios_table, stacks_table
from dra_command.portfolio.report.summary import Summary


def report_tables(summary: Summary) -> Iterator[Table]:
    """Yield the tables that have rows."""
    yield scenarios_table(summary)
    yield stacks_table(summary)
    portfolio = summary.answers.collected.portfolio
    if portfolio.ask.curves or portfolio.ask.risk or portfolio.place:
        yield from question_tables(summary)

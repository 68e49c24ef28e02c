"""All results of a portfolio as one Parquet file, with the names of stacks and scenarios."""

from __future__ import annotations

from pathlib import Path

from dra_command.command_line.installation import extra_command
from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.computation.answer_store import write_parquet
from dra_command.portfolio.report.summary import Summary
from dra_planner.errors import PlannerError


def export_parquet(summary: Summary, path: Path) -> None:
    """Write a row for each cell with a result, in the order of the portfolio. Raises
    PlannerError.
    """
    answers = summary.answers
    whole = answers.whole(answers.rows)
    rows = [
        (
            answers.collected.stacks[cell.stack].name,
            summary.scenarios[cell.scenario],
            *whole.get(cell.digest, row),
        )
        for cell in answers.cells
        if (row := answers.row(cell)) is not None
    ]
    try:
        write_parquet(path, ("stack", "scenario", *AnswerRow._fields), rows)
    except ImportError:
        fix = f"run {extra_command('portfolio')}"
        raise PlannerError("Parquet output needs pyarrow, which isn't installed", fix=fix) from None
    except OSError as error:
        raise PlannerError(
            f"{path} can't be written: {error.strerror or error}", fix="use another file"
        ) from None

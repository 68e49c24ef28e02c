"""`pulumi-dra portfolio FILE`: plan many stacks in many scenarios."""

from __future__ import annotations

import argparse
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status, status_of
from dra_command.pens.terminal.page import print_note
from dra_command.portfolio.computation.execution import RunOptions, run_portfolio
from dra_command.portfolio.computation.progress import shown
from dra_command.portfolio.input_collection import collect
from dra_command.portfolio.report.summary import MISSING, Summary


def run(values: argparse.Namespace) -> int:
    """Compute the missing results of a portfolio, print a report, and return the exit status."""
    _check(values)
    collected = collect(values.file)
    if values.cell:
        from dra_command.portfolio.cell_plan import print_cell

        return print_cell(collected, values)
    options = RunOptions(
        results=Path(values.results) if values.results else default_results(values.file),
        scheduler=values.scheduler,
        workers=values.workers,
        engine=values.engine,
        sample=values.sample,
    )
    with shown(quiet=values.quiet) as progress:
        answers = run_portfolio(collected, options, progress)
    for file, reason in answers.store.unreadable.items():
        print_note(f"pulumi-dra: {file} can't be read and is skipped ({reason}). Remove the file")
    summary = Summary(answers)
    if values.parquet:
        from dra_command.portfolio.report.parquet import export_parquet

        export_parquet(summary, Path(values.parquet))
    _print(summary, options, values)
    return _status(summary, values)


def _check(values: argparse.Namespace) -> None:
    """Raise UsageError if options conflict."""
    for option, given in (
        ("--engine", values.engine not in ("", "dask")),
        ("--workers", values.workers),
    ):
        if values.scheduler and given:
            raise UsageError(
                f"{option} can't be combined with --scheduler, because an existing scheduler has its own workers",
                fix=f"remove {option}",
            )


def default_results(file: str) -> Path:
    """Return the default folder for the results of a portfolio."""
    path = Path(file)
    return path.parent / ".pulumi-dra" / path.stem


def _print(summary: Summary, options: RunOptions, values: argparse.Namespace) -> None:
    match values.format:
        case "json":
            from dra_command.portfolio.report.json import portfolio_json

            print(portfolio_json(summary))
        case "html":
            from dra_command.portfolio.report.html import portfolio_html

            print(portfolio_html(summary), end="")
        case _:
            from dra_command.portfolio.report.text import print_portfolio
            from dra_command.portfolio.run_estimate import estimate

            missing = sum(summary.answers.row(cell) is None for cell in summary.answers.cells)
            notes = estimate(options.results, missing)
            print_portfolio(summary, notes=notes, quiet=values.quiet, verbose=values.verbose)


def _status(summary: Summary, values: argparse.Namespace) -> int:
    log = summary.answers.log
    if log.interrupted:
        print_note(
            f"interrupted after {log.known + log.computed} of {log.cells} cells; to continue from "
            "this point, run the same command"
        )
        return Status.INTERRUPTED
    if summary.has_wrong_input:
        return Status.WRONG_INPUT
    is_sample = summary.answers.sampled and set(summary.counts) <= {"fits", MISSING}
    return status_of(
        "fits" if is_sample else summary.verdict,  # all requested output has been written
        allow_unknown=values.allow_unknown,
    )

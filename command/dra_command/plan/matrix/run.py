"""`pulumi-dra plan --matrix`: plan the same workloads on a fleet with different values."""

from __future__ import annotations

import argparse

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import status_of
from dra_command.command_line.progress import doing
from dra_command.inputs.command_inputs import print_skipped_files, read_inputs
from dra_command.plan.matrix.html import matrix_html
from dra_command.plan.matrix.json import matrix_json
from dra_command.plan.matrix.markdown import matrix_markdown
from dra_command.plan.matrix.text import print_matrix
from dra_planner.fleet.changes import read_values
from dra_planner.plan import PlanRequest
from dra_planner.plan.matrix import Matrix, plan_matrix
from dra_planner.plan.model import STEPS_PER_SECOND


def run_matrix(values: argparse.Namespace) -> int:
    """Plan every combination, print the table, and return the worst exit status."""
    for option in ("observed", "kubernetes", "write", "check", "detail"):
        value = getattr(values, option)
        if value or (option in ("write", "check") and value is not None):
            fix = (
                "add kubernetes=VERSION,VERSION to --matrix"
                if option == "kubernetes"
                else f"remove --{option}"
            )
            raise UsageError(
                f"--matrix plans several fleets, so --{option} isn't supported", fix=fix
            )
    axes = [read_values(text) for text in values.matrix]
    inputs = read_inputs(values, needs_capacity=True)
    print_skipped_files(inputs.left_alone, quiet=values.quiet)
    with doing("planning", quiet=values.quiet):
        request = PlanRequest(
            sources=inputs.sources,
            fleet=inputs.fleet,
            paths=inputs.paths,
            level=values.demand or "steady",
            steps=round(values.simulate * STEPS_PER_SECOND),
        )
        matrix = plan_matrix(request, axes)
    _print(matrix, values)
    return status_of(matrix.verdict, allow_unknown=values.allow_unknown)


def _print(matrix: Matrix, values: argparse.Namespace) -> None:
    match values.format:
        case "json":
            print(matrix_json(matrix))
        case "markdown":
            print(matrix_markdown(matrix), end="")
        case "html":
            print(matrix_html(matrix), end="")
        case _:
            print_matrix(matrix, quiet=values.quiet)

"""The complete plan of one stack in one scenario, as `pulumi-dra plan` prints it."""

from __future__ import annotations

import argparse
from difflib import get_close_matches

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status, status_of
from dra_command.plan_report.html.page import plan_html
from dra_command.plan_report.json.plan import plan_json
from dra_command.plan_report.text import print_plan
from dra_command.portfolio.input_collection import Collected
from dra_planner.errors import PlannerError
from dra_planner.plan import Plan
from dra_planner.portfolio.cells import StackCells
from dra_planner.wording import either


def print_cell(collected: Collected, values: argparse.Namespace) -> Status:
    """Plan one cell, print it, and return its exit status. Raises PlannerError if the cell doesn't
    exist.
    """
    plan = plan_cell(collected, values.cell)
    match values.format:
        case "json":
            print(plan_json(plan))
        case "html":
            print(plan_html(plan), end="")
        case _:
            print_plan(plan, quiet=values.quiet, verbose=values.verbose)
    return status_of(plan.verdict, allow_unknown=values.allow_unknown)


def plan_cell(collected: Collected, name: str) -> Plan:
    """Return the plan of STACK/SCENARIO. Raises PlannerError."""
    stacks = {inputs.name: inputs for inputs in collected.stacks}
    futures = {future.scenario.name: future for future in collected.futures}
    stack, _, scenario = name.partition("/")
    if stack not in stacks or scenario not in futures:
        known = (
            [f"{each}/{other}" for each in stacks for other in futures]
            if len(stacks) < 1_000
            else list(stacks)
        )
        near = get_close_matches(name, known, 3, 0.3)
        raise UsageError(
            f'--cell: "{name}" isn\'t in this portfolio',
            fix=f"use STACK/SCENARIO, for example {either(near or known[:3])}",
        )
    inputs = stacks[stack]
    if inputs.fault is not None:
        raise PlannerError(f"{stack}: {inputs.fault.message}", fix=inputs.fault.fix)
    plan, _ = StackCells(inputs, collected.portfolio.ask).plan(futures[scenario])
    return plan

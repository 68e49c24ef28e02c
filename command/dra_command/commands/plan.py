"""`pulumi-dra plan`: whether the workloads fit, and how many nodes that takes."""

from __future__ import annotations

import argparse
import sys

from dra_command.arguments import UsageError
from dra_command.inputs import Inputs, read_inputs
from dra_command.progress import doing
from dra_command.status import Status, status_of
from dra_command.writing import write_whole
from dra_planner.errors import Place, PlanFileError
from dra_planner.plan import Plan, PlanRequest, make_plan, plan_file
from dra_planner.plan.staleness import differences
from dra_planner.planfile import check_inputs, file_text, plan_path, read_plan_file


def run(values: argparse.Namespace) -> int:
    """Plan, keep or compare the plan where asked for, print it, and return the exit status."""
    _refuse_odd_combinations(values)
    inputs = read_inputs(values, needs_capacity=True)
    request = PlanRequest(
        sources=inputs.sources,
        fleet=inputs.fleet,
        observed=inputs.observed,
        kubernetes=inputs.kubernetes,
        paths=inputs.paths,
        level=values.demand,
    )
    with doing("planning", quiet=values.quiet):
        plan = make_plan(request)
    stale = _find_stale(inputs, plan) if values.check else ""
    if values.write:
        write_whole(plan_path(inputs.stack), file_text(plan_file(plan)), PlanFileError)
    _print(plan, values)
    if stale:
        print(f"pulumi-dra: {stale}", file=sys.stderr)
        return Status.BROKEN
    if values.check and not values.quiet:
        print(f"{plan_path(inputs.stack)}: is current: the plan made now is the same", file=sys.stderr)
    if values.write and not values.quiet:
        print(f"wrote {plan_path(inputs.stack)}", file=sys.stderr)
    return status_of(plan.verdict, allow_unknown=values.allow_unknown)


def _refuse_odd_combinations(values: argparse.Namespace) -> None:
    for option in ("write", "check"):
        if not getattr(values, option):
            continue
        if not values.stack:
            raise UsageError(f"--{option} needs --stack", fix=f"pulumi-dra plan --stack NAME --{option}")
        if values.paths or values.kubernetes:
            what = "PATH" if values.paths else "--kubernetes"
            raise UsageError(
                f"--{option} is about the stack as it stands: {what} cannot be given with it",
                fix="change the stack's settings instead",
            )


def _print(plan: Plan, values: argparse.Namespace) -> None:
    detail = bool(values.detail or values.observed)
    match values.format:
        case "json":
            from dra_command.formats.plan_json import plan_json

            print(plan_json(plan, detail=detail))
        case "markdown":
            from dra_command.formats.plan_markdown import plan_markdown

            print(plan_markdown(plan), end="")
        case "html":
            from dra_command.formats.plan_html import plan_html

            print(plan_html(plan), end="")
        case _:
            from dra_command.formats.plan_text import print_plan

            print_plan(plan, quiet=values.quiet, verbose=values.verbose)


def _find_stale(inputs: Inputs, plan: Plan) -> str:
    """Return why the kept plan is not the one that would be made now; raises PlanFileError when it cannot be read."""
    path = plan_path(inputs.stack)
    remedy = f"run `pulumi-dra plan --stack {inputs.stack} --write`"
    if not path.exists():
        return f"{path}: there is no plan yet; {remedy}"
    kept = read_plan_file(path, stack=inputs.stack)
    try:
        assert inputs.fleet is not None  # --check needs --stack
        check_inputs(kept, inputs.fleet, inputs.sources, Place(str(path)), fix=remedy)
    except PlanFileError as error:
        return str(error)
    changed = ", ".join(differences(kept, plan_file(plan)))
    return f"{path}: is stale: {changed} would be different now; {remedy}" if changed else ""

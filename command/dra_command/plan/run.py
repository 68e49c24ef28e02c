"""`pulumi-dra plan`: size pools for workloads, or report why they don't fit."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from msgspec.structs import replace

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status, status_of
from dra_command.command_line.progress import doing
from dra_command.findings.advice import with_advice
from dra_command.inputs.command_inputs import CommandInputs
from dra_command.inputs.planned_inputs import plan_inputs, request_of
from dra_command.pens.terminal.page import print_note
from dra_command.plan.saved_file import check_saved_file, saved_file
from dra_command.plan_report.explain_commands import explain_commands, print_next_commands
from dra_planner.errors import PlannerError
from dra_planner.model import DemandLevel, worst
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.dated_notes import dated_notes
from dra_planner.plan.machine_features import unused_features
from dra_planner.plan.model import STEPS_PER_SECOND
from dra_planner.plan.provider_notes import provider_notes

if TYPE_CHECKING:
    from dra_command.plan_report.markdown import StackPlan
    from dra_planner.plan.saved.difference import PlanDifference


def run(values: argparse.Namespace) -> int:
    """Make a plan, save it or compare it if requested, print it, and return the exit status."""
    if values.matrix:
        from dra_command.plan.matrix.run import run_matrix

        return run_matrix(values)
    _refuse_odd_combinations(values)
    if "," in (values.stack or ""):
        return _run_stacks(values)
    inputs, plan = _plan(values)
    difference = _difference(plan, values)
    stale, notes = (
        _compare_and_write(plan, inputs, values) if saved_file(values) is not None else ("", [])
    )
    if values.constraints:
        # this import loads the YAML writer
        from dra_command.plan.constraint_files import write_constraints

        notes = [*notes, write_constraints(Path(values.constraints), plan)]
    if values.gate:
        from dra_command.plan.gate_file import stale_gate, write_gate  # loads the schema

        if values.check is None:
            notes = [*notes, write_gate(Path(values.gate), plan)]
        else:
            stale = "\n".join(filter(None, (stale, stale_gate(Path(values.gate), plan))))
    suggested = _write_added_pools(plan, inputs, values) if values.suggest else ""
    notes = [*notes, *filter(None, [suggested])]
    if values.picture:
        notes = [*notes, _write_picture(Path(values.picture), plan)]
    if values.certificate:
        notes = [*notes, _write_certificate(Path(values.certificate), plan)]
    if values.quotas:
        notes = [*notes, *_quota_notes(inputs, plan, values)]
    _print(plan, difference, values, stale)
    if values.format == "text" and not values.quiet:
        print_next_commands(plan, values)
    if stale:
        for fault in stale.splitlines():
            print_note(f"pulumi-dra: {fault}")
        return Status.BROKEN
    if values.quiet and values.suggest:
        print_note(suggested)
    if not values.quiet:
        for note in (*notes, *(f"note: {each}" for each in _fleet_notes(inputs, plan, values))):
            print_note(note)
    return _status([plan], values)


def _status(plans: Sequence[Plan], values: argparse.Namespace) -> Status:
    """Return the exit status for the worst verdict. With `--fail-on stale`, the status doesn't
    depend on the verdict.
    """
    if values.fail_on == "stale":
        return Status.FITS
    return status_of(
        worst(plan.verdict for plan in plans),
        [each for plan in plans for each in plan.diagnostics],
        allow_unknown=values.allow_unknown,
    )


def _fleet_notes(inputs: CommandInputs, plan: Plan, values: argparse.Namespace) -> tuple[str, ...]:
    """Return notes about the fleet: support, outdated facts, and unused features of planned
    nodes.
    """
    if inputs.fleet is None or values.format != "text":
        return ()
    fleet = inputs.fleet
    built = {pool.name for pool in plan.pools if pool.nodes.desired}
    return (
        *dated_notes(fleet, date.today()),
        *unused_features(fleet, built),
        *provider_notes(fleet),
    )


def _quota_notes(inputs: CommandInputs, plan: Plan, values: argparse.Namespace) -> list[str]:
    """Return sentences about account quotas that are too small."""
    from dra_command.plan.quota_report import read_quotas  # imported only for this option

    assert inputs.fleet is not None  # --quotas needs a fleet
    without = _request(inputs, argparse.Namespace(**{**vars(values), "quotas": ""}))
    return list(read_quotas(values.quotas, inputs.fleet).report(plan, lambda: make_plan(without)))


def _plan(values: argparse.Namespace) -> tuple[CommandInputs, Plan]:
    """Return the inputs, and their plan with the warnings of the rules. Without a valid
    configuration, which only `check` requires, the plan doesn't contain these warnings.
    """
    inputs, plan = plan_inputs(values, lambda inputs: _request(inputs, values))
    try:
        return inputs, with_advice(plan, inputs, values)
    except PlannerError as error:
        print_note(f"note: the plan doesn't contain the warnings of the rules, because {error}")
        return inputs, plan


def _request(inputs: CommandInputs, values: argparse.Namespace) -> PlanRequest:
    request = request_of(inputs, _demand(values), round(values.simulate * STEPS_PER_SECOND))
    if not values.quotas or inputs.fleet is None:
        return request
    from dra_command.plan.quota_report import read_quotas  # imported only for this option

    return replace(request, fleet=read_quotas(values.quotas, inputs.fleet).limited_fleet())


def _demand(values: argparse.Namespace) -> DemandLevel:
    """Return the demand for which the plan is sized: the requested demand, or the saved plan's
    demand, so that `--check` compares plans for the same demand.
    """
    if values.demand:
        return cast(DemandLevel, values.demand)
    if not values.stack and saved_file(values) is None:
        return "steady"
    # this import loads the plan file's schema
    from dra_command.plan.plan_file import saved_plan
    from dra_planner.planfile.saved_demand import saved_demand

    return saved_demand(saved_plan(values).path)


def _write_picture(path: Path, plan: Plan) -> str:
    """Write a picture of the plan's pools, and return a sentence about it. Raises PlannerError if
    the file can't be written.
    """
    from dra_command.command_line.file_writer import write_whole
    from dra_command.plan_report.html.picture import plan_picture  # loads the templates

    write_whole(path, plan_picture(plan), PlannerError)
    return f"wrote {path}"


def _write_added_pools(plan: Plan, inputs: CommandInputs, values: argparse.Namespace) -> str:
    """Write the additional pools with which all workloads fit. Return a sentence about the file, or
    the reason why nothing was written.
    """
    path = Path(values.suggest)
    if plan.running == "fits":
        return f"{path} isn't written, because all workloads already fit"
    from dra_command.plan.added_pools import write_added_pools  # imported only for this option

    with doing("comparing machines", quiet=values.quiet):
        return write_added_pools(path, _request(inputs, values), inputs.fleet_file)


def _write_certificate(path: Path, plan: Plan) -> str:
    """Write the proof for the packing, and return a sentence about the file."""
    import json

    from dra_command.command_line.file_writer import write_whole
    from dra_planner.sizing.bound.certificate import certificate_of  # imported only for this option

    write_whole(
        path, json.dumps(certificate_of(plan.judgement.sizing), indent=1) + "\n", PlannerError
    )
    return f"wrote {path}"


def _run_stacks(values: argparse.Namespace) -> int:
    """Plan several stacks, print a single comment about all of them, and return the exit status for
    the worst verdict. Raises PlannerError with the errors of the stacks that can't be planned,
    after it has planned all others.
    """
    from dra_command.plan_report.markdown import plan_markdown

    files = (
        values.constraints or values.picture or values.certificate or values.suggest or values.gate
    )
    if values.format != "markdown" or values.write is not None or values.check or files:
        fix = "use one stack, or --format markdown"
        raise UsageError("a plan for several stacks requires --format markdown", fix=fix)
    names = [name for name in dict.fromkeys(values.stack.split(",")) if name]
    if not names:
        raise UsageError(
            f'--stack "{values.stack}" doesn\'t contain a stack name',
            fix="pass one or more names, separated by commas",
        )
    stacks: list[StackPlan] = []
    invalid: dict[str, PlannerError] = {}
    for name in names:
        try:
            stacks.append(_stack_plan(argparse.Namespace(**{**vars(values), "stack": name})))
        except PlannerError as error:
            invalid[name] = error
    if stacks:
        print(plan_markdown(stacks, tuple(invalid), detail=values.detail), end="")
    faults = [stack.stale for stack in stacks]
    for fault in filter(None, faults):
        for line in fault.splitlines():
            print_note(f"pulumi-dra: {line}")
    if invalid:
        raise _combined(list(invalid.values()))
    if any(faults):
        return Status.BROKEN
    return _status([stack.plan for stack in stacks], values)


def _stack_plan(values: argparse.Namespace) -> StackPlan:
    """Plan one of several stacks. Raises PlannerError if its input or its saved plan is invalid."""
    from dra_command.plan_report.markdown import StackPlan

    inputs, plan = _plan(values)
    commands = tuple(dict.fromkeys(explain_commands(plan, values)))
    stale = _stale_fault(plan, inputs, values)
    return StackPlan(values.stack, plan, _difference(plan, values), commands, stale)


def _combined(errors: Sequence[PlannerError]) -> PlannerError:
    """Return the first error, with the other ones as its further errors."""
    first, *others = errors
    further = (*first.others, *others)
    return PlannerError(first.message, place=first.place, fix=first.fix, others=further)


def _stale_fault(plan: Plan, inputs: CommandInputs, values: argparse.Namespace) -> str:
    """Return why the saved plan is stale, for one of several stacks. "" if the plan isn't stale."""
    return _compare_and_write(plan, inputs, values)[0] if values.check is not None else ""


_OF_PLANNED_NODES: Final = ("gate", "constraints", "suggest", "certificate")
"""Options about node counts and machine types, which are fixed in a running cluster."""


def _refuse_odd_combinations(values: argparse.Namespace) -> None:
    if values.picture and not values.picture.lower().endswith(".svg"):
        raise UsageError(
            f'--picture: "{values.picture}" isn\'t the name of an SVG file',
            fix="use a file name that ends in .svg",
        )
    for option in _OF_PLANNED_NODES:
        if getattr(values, option) and values.observed:
            raise UsageError(
                f"--{option} can't be combined with --observed",
                fix="use --fleet or --stack instead of --observed",
            )
    if values.quotas and (values.observed or saved_file(values) is not None):
        fix = "use --fleet or --stack, without --observed, --write, or --check"
        raise UsageError("--quotas can't be combined with --observed, --write, or --check", fix=fix)
    check_saved_file(values)


def _compare_and_write(
    plan: Plan, inputs: CommandInputs, values: argparse.Namespace
) -> tuple[str, list[str]]:
    """Return why the saved plan is stale ("" if it isn't), and a sentence about the written
    file.
    """
    from dra_command.plan.plan_file import find_stale, saved_plan, write  # loads the schema

    saved = saved_plan(values)
    if values.write is not None:
        return "", write(saved, plan)
    return find_stale(saved, inputs, plan), [f"{saved.path} is current"]


def _difference(plan: Plan, values: argparse.Namespace) -> PlanDifference | None:
    """Return the changes since the saved plan. None if the two plans don't have the same inputs."""
    is_other = values.paths and not saved_file(values)
    is_short = values.quiet and values.format == "text"
    if is_other or values.kubernetes or values.observed or is_short:
        return None
    if not values.stack and not saved_file(values):
        return None
    from dra_command.plan.plan_file import find_difference, saved_plan  # loads the schema

    return find_difference(saved_plan(values), plan)


def _print(
    plan: Plan, difference: PlanDifference | None, values: argparse.Namespace, stale: str
) -> None:
    match values.format:
        case "json":
            from dra_command.plan_report.json.plan import plan_json

            print(
                plan_json(
                    plan, detail=bool(values.detail or values.observed), difference=difference
                )
            )
        case "markdown":
            from dra_command.plan_report.markdown import StackPlan, plan_markdown

            print(
                plan_markdown(
                    [
                        StackPlan(
                            values.stack or "",
                            plan,
                            difference,
                            tuple(dict.fromkeys(explain_commands(plan, values))),
                            stale,
                        )
                    ],
                    detail=values.detail,
                ),
                end="",
            )
        case "focus":
            _print_focus(plan, values)
        case "html":
            from dra_command.plan_report.html.page import plan_html

            print(
                plan_html(
                    plan, stack=values.stack or "", detail=values.detail, difference=difference
                ),
                end="",
            )
        case _:
            from dra_command.plan_report.text import print_plan

            print_plan(
                plan,
                detail=values.detail,
                quiet=values.quiet,
                verbose=values.verbose,
                difference=difference,
            )


def _print_focus(plan: Plan, values: argparse.Namespace) -> None:
    """Print the cost as FOCUS rows. If there are no rows, print the reason on standard error."""
    # this import loads the module that fills nodes
    from dra_command.plan_report.focus import focus_csv
    from dra_planner.plan.nodes.groups import fill_nodes

    if plan.fleet is None or plan.judgement.is_observed:
        raise UsageError(
            "--format focus prints the cost of a fleet, so it doesn't support --observed",
            fix="use --fleet or --stack instead of --observed",
        )
    month = values.month or date.today().replace(day=1)
    print(focus_csv(plan, plan.fleet, fill_nodes(plan), month, values.stack or ""), end="")
    if plan.cost is None:
        print_note(
            "the output doesn't contain rows, because the price of a pool is unknown. Set "
            "pricePerHour"
        )

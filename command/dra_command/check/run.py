"""`pulumi-dra check`: evaluate rules on the manifests, and on the pools if any are given."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from dra_command.command_line.exit_status import Status, status_of
from dra_command.command_line.progress import doing
from dra_command.findings.check_result import CheckResult
from dra_command.findings.evaluation import MISSING_INPUT, find_violations, selected_rules
from dra_command.findings.project_configuration import (
    ProjectConfiguration,
    custom_rules,
    read_project_configuration,
)
from dra_command.inputs.command_inputs import CommandInputs, read_inputs
from dra_command.plan_report.explain_commands import print_next_commands
from dra_planner.errors import PlannerError
from dra_planner.releases import MAXIMUM_MINOR, features_of, parse_version
from dra_planner.wording import counted
from dra_policies.rules import Rule

if TYPE_CHECKING:
    from dra_command.findings.baseline import KnownFindings


_UNKNOWN_REASON: Final = (
    'note: the exit status is 3, because the verdict is "cannot tell"; to exit with 0, use '
    "--allow-unknown"
)


def run(values: argparse.Namespace) -> int:
    """Run the rules, print their findings, and return the exit status, or rewrite older versions on
    request. If the input is invalid, the files of `--output` contain the errors. Raises
    PlannerError in that case.
    """
    if values.rewrite or values.in_place:
        from dra_command.check.rewrite import rewrite_manifests

        return rewrite_manifests(values)
    if values.explain:
        return _explain(values)
    if values.fix:
        from dra_command.check.fix import check_fix_options

        check_fix_options(values)
    outputs: dict[Path, str] = {}
    if values.output:
        from dra_command.check.answer import outputs_of

        outputs = outputs_of(values.output)
    try:
        return _check(values, outputs)
    except PlannerError as error:
        if outputs:
            _write_errors(error, outputs, values.stack or "")
        raise


def _write_errors(error: PlannerError, outputs: dict[Path, str], stack: str) -> None:
    """Write the errors as findings, so that a pipeline that publishes these files has a reason."""
    from dra_command.check.answer import write_outputs
    from dra_command.findings.invalid_input import invalid_input

    write_outputs(
        CheckResult(
            verdict="cannot-tell", diagnostics=invalid_input(error), workloads=0, stack=stack
        ),
        outputs,
    )


def _check(values: argparse.Namespace, outputs: dict[Path, str]) -> int:
    if values.driver_upgrade:
        from dra_command.check.driver_upgrade import check_upgrade

        is_about_manifests = bool(values.paths or values.stack or values.observed)
        inputs = read_inputs(values, needs_capacity=False, needs_manifests=is_about_manifests)
        checked = check_upgrade(inputs, *values.driver_upgrade)
    else:
        configuration = read_project_configuration(values)
        rules = selected_rules(values.select, custom_rules(configuration)) if values.select else ()
        known = _known(values, rules, configuration)
        inputs = read_inputs(values, needs_capacity=False, is_lenient=True)
        with doing("checking", quiet=values.quiet):
            if values.fix:
                inputs = _fix(values, inputs, rules, configuration)
            checked = _with_origin(find_violations(inputs, rules, configuration, known), inputs)
        if values.write_baseline:
            return _write_baseline(values.write_baseline, checked)
    if outputs:
        from dra_command.check.answer import write_outputs

        write_outputs(checked, outputs)
    if values.format == "text":
        from dra_command.check.text import print_check

        print_check(checked, quiet=values.quiet, verbose=values.verbose)
        if checked.plan is not None and not values.quiet:
            print_next_commands(checked.plan, values)
    else:
        from dra_command.check.answer import check_answer

        print(check_answer(checked, values.format), end="")
    status = _status(checked, values.fail_on, allow_unknown=values.allow_unknown)
    if status == Status.CANNOT_TELL and values.format == "text" and not values.quiet:
        from dra_command.pens.terminal.page import print_note

        print_note(_UNKNOWN_REASON)
    return status


def _write_baseline(file: str, checked: CheckResult) -> Status:
    """Write the findings to a baseline file, and print their number."""
    from dra_command.findings.baseline import write_baseline

    write_baseline(Path(file), checked.diagnostics, checked.stack)
    stack = f" of stack {checked.stack}" if checked.stack else ""
    print(f"{file}: {counted(len(checked.diagnostics), 'finding')}{stack}")
    return Status.FITS


def _fix(
    values: argparse.Namespace,
    inputs: CommandInputs,
    rules: Sequence[Rule],
    configuration: ProjectConfiguration | None,
) -> CommandInputs:
    """Repair the files, and return the repaired inputs."""
    from dra_command.check.fix import fix_files, output_of_changes

    minor = inputs.kubernetes or (inputs.fleet.kubernetes if inputs.fleet is not None else "")
    features = features_of(parse_version(minor) if minor else MAXIMUM_MINOR)
    return fix_files(
        inputs,
        features,
        lambda given: find_violations(given, rules, configuration),
        output_of_changes(values),
    )


def _with_origin(checked: CheckResult, inputs: CommandInputs) -> CheckResult:
    """Return the result, and record whether the Kubernetes version is a default (the newest known
    version).
    """
    is_newest = not (inputs.fleet or inputs.observed or inputs.kubernetes)
    return replace(checked, is_newest=is_newest)


def _known(
    values: argparse.Namespace, rules: Sequence[Rule], configuration: ProjectConfiguration | None
) -> KnownFindings | None:
    """Return earlier findings if a baseline or another git ref is given."""
    if values.baseline:
        from dra_command.findings.baseline import read_baseline

        return read_baseline(values.baseline, values.stack or "")
    if not values.diff:
        return None
    from dra_command.check.git_comparison import findings_at_ref

    return findings_at_ref(
        values.diff,
        values,
        lambda then: find_violations(
            read_inputs(then, needs_capacity=False, is_lenient=True), rules, configuration
        ),
    )


def _status(checked: CheckResult, fail_on: str, *, allow_unknown: bool) -> Status:
    """Return the exit status, which depends on the verdict unless the options set another
    severity.
    """
    status = status_of(checked.verdict, checked.diagnostics, allow_unknown=allow_unknown)
    if status == Status.WRONG_INPUT or fail_on == "error":
        return status
    if fail_on == "never":
        return Status.FITS
    severities = ("error", "warning", "note")
    failing = severities[: severities.index(fail_on) + 1]
    if any(each.severity in failing for each in checked.diagnostics):
        return Status.BROKEN
    return status


def _explain(values: argparse.Namespace) -> Status:
    """Print the description, reason, and fix of a rule."""
    from dra_command.pens.terminal.page import Page

    (rule,) = selected_rules([values.explain], custom_rules(read_project_configuration(values)))
    needs = MISSING_INPUT.get(rule.needs, "only needs manifests")
    state = rule.level if rule.is_on else f"{rule.level}, off by default"
    with Page() as page:
        page.line(f"{rule.id} ({state}; {needs})")
        page.gap()
        page.text(rule.description)
        page.gap()
        page.text(rule.why, mark="Why: ")
        page.text(rule.fix, mark="Fix: ")
        page.verbatim(f"More: {rule.url}")
    return Status.FITS

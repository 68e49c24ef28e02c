"""`pulumi-dra explain --finding`: explain a finding of `check`, and why the pods at its location
fit or don't fit.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import status_of
from dra_command.command_line.progress import doing
from dra_command.explain.finding.answer import FindingExplanation
from dra_command.explain.finding.json import finding_json
from dra_command.explain.finding.text import print_findings
from dra_command.explain.pod.run import make_plan_of
from dra_command.explain.what_if import require_text_or_json
from dra_command.findings.evaluation import find_violations
from dra_command.findings.project_configuration import read_project_configuration
from dra_command.inputs.command_inputs import CommandInputs, read_inputs
from dra_command.inputs.readable_manifests import evaluate_readable
from dra_planner.errors import Diagnostic
from dra_planner.model import Verdict
from dra_planner.plan.explanation.pods import explain_pod, pods_at
from dra_planner.wording import use_one_of
from dra_policies.rules import RULES

_PLACE = re.compile(r"(?P<file>.+):(?P<line>[0-9]+)")


def explain_findings(values: argparse.Namespace) -> int:
    """Explain the selected findings, and return the exit status. If a finding is an error, the
    status indicates failure.
    """
    require_text_or_json(values, "--finding")
    if values.what_if or values.pool:
        option = "--what-if" if values.what_if else "--pool"
        raise UsageError(
            f"--finding can't be combined with {option}", fix=f"remove {option}, or use --pod"
        )
    configuration = read_project_configuration(values)
    inputs = read_inputs(values, needs_capacity=False, is_lenient=True)
    with doing("explaining", quiet=values.quiet):
        checked = find_violations(inputs, (), configuration)
        found = [each for each in checked.diagnostics if is_named(each, values.finding)]
        if not found:
            raise UsageError(
                f'`check` didn\'t find "{values.finding}" in these manifests',
                fix=_fix(checked.diagnostics),
            )
        explained = tuple(_explained(found, inputs))
    verdict: Verdict = "does-not-fit" if any(each.severity == "error" for each in found) else "fits"
    if values.format == "json":
        print(finding_json(explained, verdict))
    else:
        print_findings(explained, quiet=values.quiet)
    return status_of(verdict, checked.diagnostics, allow_unknown=False)


def is_named(finding: Diagnostic, name: str) -> bool:
    """Return whether a finding belongs to the selected rule, or is at the selected file and
    line.
    """
    at = _PLACE.fullmatch(name)
    if at is None:
        return finding.code == name
    file = PurePath(finding.place.file)
    return finding.place.line == int(at["line"]) and at["file"] in (
        str(file),
        file.name,
        finding.place.file,
    )


def _fix(found: Iterable[Diagnostic]) -> str:
    codes = sorted({each.code for each in found})
    return (
        use_one_of("finding", codes)
        if codes
        else "there's nothing to explain, because `check` reports no findings in these manifests"
    )


def _explained(found: Iterable[Diagnostic], inputs: CommandInputs) -> Iterator[FindingExplanation]:
    rules = {rule.id: rule for rule in RULES}
    judgement = None
    if inputs.fleet is not None or inputs.observed:
        judgement = evaluate_readable(
            inputs, lambda given: make_plan_of(given, given.fleet).judgement
        ).answer
    for finding in found:
        names = (
            () if judgement is None or not finding.place.line else pods_at(judgement, finding.place)
        )
        pods = (
            ()
            if judgement is None
            else tuple(pod for name in names for pod in explain_pod(judgement, name))
        )
        yield FindingExplanation(finding=finding, rule=rules.get(finding.code), pods=pods)

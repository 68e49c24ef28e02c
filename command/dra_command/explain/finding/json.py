"""Explanations of findings as the published JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dra_command.explain.finding.contract import ExplainedFindingRow, ExplainFindingOutput, RuleRow
from dra_command.explain.pod.json import pod_row
from dra_command.findings.json import finding_row
from dra_planner.model import Verdict

if TYPE_CHECKING:
    from dra_command.explain.finding.answer import FindingExplanation


def finding_json(explained: Sequence[FindingExplanation], verdict: Verdict) -> str:
    """Return the findings as indented JSON."""
    output = ExplainFindingOutput(verdict=verdict, findings=[_row(each) for each in explained])
    return output.model_dump_json(indent=2, by_alias=True)


def _row(each: FindingExplanation) -> ExplainedFindingRow:
    rule = each.rule
    return ExplainedFindingRow(
        finding=finding_row(each.finding),
        rule=None
        if rule is None
        else RuleRow(
            says=rule.description, why=rule.why, fix=rule.fix, level=rule.level, url=rule.url
        ),
        pods=[pod_row(pod) for pod in each.pods],
    )

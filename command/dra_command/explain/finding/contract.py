"""Answer of `pulumi-dra explain --finding RULE`, or FILE:LINE."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output, VerdictText
from dra_command.explain.pod.contract import ExplainedPodRow
from dra_command.findings.contract import DiagnosticRow


class RuleRow(Output):
    """Explanation of a rule."""

    says: str
    why: str
    fix: str
    level: str
    url: str


class ExplainedFindingRow(Output):
    """A finding, the rule that it breaks, and the pods at the place of the finding."""

    finding: DiagnosticRow
    rule: RuleRow | None = Field(description="null if an API server reports it instead of a rule.")
    pods: list[ExplainedPodRow] = Field(
        description="Pods on the fleet or snapshot. Empty if there are none."
    )


class ExplainFindingOutput(Output):
    """Answer of `pulumi-dra explain --finding RULE --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(
        description="Verdict of check: does-not-fit if a finding is an error."
    )
    findings: list[ExplainedFindingRow]

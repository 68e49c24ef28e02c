"""Output of `pulumi-dra explain --finding RULE`, or FILE:LINE."""

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
    """A finding, the violated rule, and the pods at the finding's location."""

    finding: DiagnosticRow
    rule: RuleRow | None = Field(
        description="Violated rule. null if the API server, not a rule, reports the finding."
    )
    pods: list[ExplainedPodRow] = Field(
        description=(
            "Results of planning the pods on the fleet or the snapshot. Empty if the finding "
            "doesn't concern pods."
        )
    )


class ExplainFindingOutput(Output):
    """Output of `pulumi-dra explain --finding RULE --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(
        description="Verdict of check: does-not-fit if a finding is an error."
    )
    findings: list[ExplainedFindingRow]

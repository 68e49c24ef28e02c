"""Output of `pulumi-dra check`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.joint_fix import JointFixRow
from dra_command.contract.output import Output, VerdictText
from dra_command.findings.contract import DiagnosticRow


class SkippedRuleRow(Output):
    """A rule without objects to check."""

    rule: str
    why: str


class ExemptedRow(Output):
    """An accepted finding, which doesn't count."""

    code: str
    file: str
    line: int = Field(description="Line number, starting at 1. 0 if unknown.")
    message: str
    reason: str
    by: str = Field(description="Location of the exemption.")


class CheckOutput(Output):
    """Output of `pulumi-dra check --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText
    diagnostics: list[DiagnosticRow]
    kubernetes: str = Field(
        default="", description="Kubernetes version that the check used, for example 1.36."
    )
    judged: list[str] = Field(default_factory=list, description="Rules that had objects to check.")
    skipped: list[SkippedRuleRow] = Field(
        default_factory=list,
        description="Rules that were skipped because they had nothing "
        "to check, each with the reason.",
    )
    exempted: list[ExemptedRow] = Field(default_factory=list, description="Accepted findings.")
    workloads: int = Field(default=0, description="Number of checked workloads.")
    joint_fix: JointFixRow | None = Field(
        default=None,
        description="Changes that make multiple workloads fit at the same time. Absent unless at "
        "least two workloads don't fit and the search finds such changes.",
    )
    known: int = Field(default=0, description="Number of known findings that the output omits.")

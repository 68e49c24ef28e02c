"""Answer of `pulumi-dra check`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output, VerdictText
from dra_command.findings.contract import DiagnosticRow


class SkippedRuleRow(Output):
    """A rule that had nothing to look at."""

    rule: str
    why: str


class ExemptedRow(Output):
    """A finding that somebody has accepted, which does not count."""

    code: str
    file: str
    line: int = Field(description="1-based; 0 when unknown.")
    message: str
    reason: str
    by: str = Field(description="Where the exemption is written.")


class CheckOutput(Output):
    """Answer of `pulumi-dra check --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText
    diagnostics: list[DiagnosticRow]
    kubernetes: str = Field(default="", description="The release that was judged for: 1.36.")
    judged: list[str] = Field(default_factory=list, description="Rules that had something to look at.")
    skipped: list[SkippedRuleRow] = Field(
        default_factory=list, description="Rules that had nothing to look at, and why."
    )
    exempted: list[ExemptedRow] = Field(default_factory=list, description="Findings that somebody has accepted.")
    workloads: int = Field(default=0, description="How many workloads were checked.")
    known: int = Field(default=0, description="How many findings were known before, and are left out.")

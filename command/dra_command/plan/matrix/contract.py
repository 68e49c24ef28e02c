"""Answer of `pulumi-dra plan --matrix`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.error import FaultRow
from dra_command.contract.output import Output, VerdictText
from dra_command.plan_report.contract.plan import PlanOutput


class SettingRow(Output):
    """One value of the fleet in a combination."""

    path: str
    value: str


class CombinationRow(Output):
    """One combination of the values: its plan, or why such a fleet is not valid."""

    settings: list[SettingRow]
    verdict: VerdictText | None = Field(description="null where the fleet would not be valid: `error` says why.")
    plan: PlanOutput | None
    error: FaultRow | None


class MatrixOutput(Output):
    """Answer of `pulumi-dra plan --matrix … --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(description="The worst of all; a fleet that is not valid does not fit.")
    axes: list[str] = Field(description="The paths of the fleet that change, in the order of `settings`.")
    combinations: list[CombinationRow] = Field(description="Every combination; the last axis changes fastest.")

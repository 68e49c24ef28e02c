"""Output of `pulumi-dra plan --matrix`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.error import FaultRow
from dra_command.contract.output import Output, VerdictText
from dra_command.plan_report.contract.plan import PlanOutput


class SettingRow(Output):
    """One fleet value in a combination."""

    path: str
    value: str


class CombinationRow(Output):
    """One combination of values, with its plan, or with the reason why the fleet is invalid."""

    settings: list[SettingRow]
    verdict: VerdictText | None = Field(
        description="Verdict of the combination. null if the fleet is invalid. `error` then contains "
        "the reason."
    )
    plan: PlanOutput | None
    error: FaultRow | None


class MatrixOutput(Output):
    """Output of `pulumi-dra plan --matrix … --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(
        description="Worst verdict of all combinations. The verdict of an invalid fleet is "
        "does-not-fit."
    )
    axes: list[str] = Field(
        description="Fleet paths that changed, in the same order as `settings`."
    )
    combinations: list[CombinationRow] = Field(
        description="All combinations of the values. The last axis changes fastest."
    )

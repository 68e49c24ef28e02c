"""Output of `pulumi-dra diff`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output, VerdictText


class SettingDifferenceRow(Output):
    """A value in the fleet, the DeviceClasses, the demand, or the guards. Empty if the value exists
    only on the other side.
    """

    path: str
    before: str
    after: str


class ComparedPoolRow(Output):
    """A pool's nodes on both sides of the comparison."""

    pool: str
    machine_before: str = Field(description="Machine type before the change. Empty for a new pool.")
    machine: str = Field(description="Machine type after the change. Empty for a removed pool.")
    before: int
    after: int
    hourly: float | None = Field(description="Change in USD per hour. null if unknown.")
    because: list[str]


class ComparedWorkloadRow(Output):
    """A workload whose pods, verdict, or placement differs. A value is null if the workload exists
    only on the other side.
    """

    kind: str
    namespace: str
    name: str
    pods_before: int | None
    pods: int | None
    pending_before: int | None
    pending: int | None
    verdict_before: VerdictText | None
    verdict: VerdictText | None
    pools_before: list[str]
    pools: list[str]
    reasons: list[str] = Field(
        description="Reasons why the workload doesn't fit, if its verdict is worse."
    )


class DiffOutput(Output):
    """Differences between two plans. Unchanged pools and workloads are omitted."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(
        description="Verdict on the change: fits if no workload has a worse verdict than before."
    )
    before: str = Field(description="Title of the older side.")
    after: str = Field(description="Title of the newer side.")
    verdict_before: VerdictText | None = Field(
        description="Verdict before the change. null if no older plan exists."
    )
    verdict_after: VerdictText
    nodes: int = Field(description="Change in nodes.")
    hourly: float | None = Field(
        description="Change in USD per hour at current prices. null if unknown."
    )
    monthly: float | None = Field(
        description="Change in USD per month of 730 hours. null if unknown."
    )
    settings: list[SettingDifferenceRow]
    pools: list[ComparedPoolRow]
    workloads: list[ComparedWorkloadRow]

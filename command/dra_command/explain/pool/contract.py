"""Output of `pulumi-dra explain --pool NAME`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.claim_report.contract import PoolReasonRow
from dra_command.contract.output import Output, VerdictText


class PublishedRow(Output):
    """Number of equal devices on one node."""

    driver: str
    name: str = Field(description='MIG profile or product that the devices publish, or "".')
    devices: int
    memory: str = Field(
        description=(
            'Published memory, for example "23034Mi". Empty if the device doesn\'t publish '
            "memory, or if the memory is unknown."
        )
    )


class PoolUseRow(Output):
    """How a workload uses the pool."""

    workload: str
    answer: VerdictText = Field(
        description="Result for the workload's pods on an empty node in the pool."
    )
    here: int = Field(description="Number of the workload's pods in the pool.")
    pending: int = Field(description="Number of the workload's pods that don't fit in any pool.")
    elsewhere: list[str] = Field(description="Pools of the workload's other pods.")
    reasons: list[PoolReasonRow] = Field(
        description=(
            "Reasons why pods don't fit on an empty node in the pool, or why the workload can't "
            "run although they fit."
        )
    )


class PoolCountRow(Output):
    """Nodes of the pool: the limits, and the numbers from the plan."""

    min: int
    bound: int
    packing: int
    simulated: int | None
    recommended: int
    max: int


class PoolDevicesRow(Output):
    """Devices of the planned nodes."""

    total: int
    used: int
    stranded: int


class ExplainPoolOutput(Output):
    """Output of `pulumi-dra explain --pool NAME --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(
        description="Worst verdict of the workloads that run or could run in the pool."
    )
    pool: str
    machine: str
    count: PoolCountRow
    devices: PoolDevicesRow
    published: list[PublishedRow]
    workloads: list[PoolUseRow]
    doubts: list[PoolReasonRow] = Field(
        description="Objects and files that aren't in the plan, and that could change the verdict."
    )
    what_if: list[str] = Field(description="Changed fleet values, PATH=VALUE.")

"""Answer of `pulumi-dra explain --pool NAME`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.claim_report.contract import PoolReasonRow
from dra_command.contract.output import Output, VerdictText


class PublishedRow(Output):
    """So many equal devices of one node."""

    driver: str
    name: str = Field(description='The MIG profile or the product that they publish; "" where neither is.')
    devices: int
    memory: str = Field(description='As published, "23034Mi"; "" where there is none or it is not known.')


class PoolUseRow(Output):
    """What a workload has to do with the pool."""

    workload: str
    answer: VerdictText = Field(description="What an empty node of the pool says to its pods.")
    here: int = Field(description="Its pods on the pool.")
    pending: int = Field(description="Its pods that no pool takes.")
    elsewhere: list[str] = Field(description="Pools that take the others.")
    reasons: list[PoolReasonRow]


class PoolCountRow(Output):
    """Nodes of the pool: the limits, and the numbers of the plan."""

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
    """Answer of `pulumi-dra explain --pool NAME --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(description="The worst of the workloads that run here or could.")
    pool: str
    machine: str
    count: PoolCountRow
    devices: PoolDevicesRow
    published: list[PublishedRow]
    workloads: list[PoolUseRow]
    what_if: list[str] = Field(description="Values of the fleet that were changed, PATH=VALUE.")

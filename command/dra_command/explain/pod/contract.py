"""Output of `pulumi-dra explain --pod NAMESPACE/NAME`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.claim_report.contract import (
    ChosenRow,
    EditRow,
    HolderRow,
    PoolReasonRow,
    WhatIfRow,
)
from dra_command.contract.joint_fix import JointFixRow
from dra_command.contract.output import Output, VerdictText


class PoolForPodRow(Output):
    """Result for the pod on an empty node of one pool or, with an observed cluster, on one node."""

    name: str
    machine: str
    verdict: VerdictText
    reasons: list[PoolReasonRow]
    devices: list[ChosenRow] = Field(
        description="Devices that the pod's claims would get. request is CLAIM/REQUEST."
    )
    edits: list[EditRow]


class ExplainedPodRow(Output):
    """A pod of one template of the workload, planned together with all other workloads."""

    verdict: VerdictText
    pod: str
    workload: str
    pod_set: str = Field(
        description='Name of the template if the workload has several templates; otherwise, "".'
    )
    placed: int = Field(description="Number of the workload's pods that are assigned to a node.")
    pending: int
    claims: list[str] = Field(
        description="Claims of the workload's first pod. Pass one of these names to --claim."
    )
    pools: list[PoolForPodRow]
    holders: list[HolderRow] = Field(
        description=(
            "Workloads that use the requested devices, if the pools are too small for all "
            "workloads."
        )
    )
    missing: PoolReasonRow | None = Field(
        description="Missing part of the fleet, if no pool fits the pod."
    )
    pending_reasons: list[PoolReasonRow] = Field(
        description="Reasons why pods stay pending although each of them fits on a node."
    )


class ExplainPodOutput(Output):
    """Output of `pulumi-dra explain --pod NAMESPACE/NAME --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(description="Worst verdict of the workload's templates.")
    pods: list[ExplainedPodRow]
    joint_fix: JointFixRow | None = Field(
        description=(
            "Changes that make all workloads fit. null if the pod fits, or if no such changes "
            "are known."
        )
    )
    what_if: WhatIfRow | None = Field(
        description="With --what-if, all other keys apply to the changed fleet."
    )

"""Answer of `pulumi-dra explain --pod NAMESPACE/NAME`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.claim_report.contract import ChosenRow, EditRow, HolderRow, PoolReasonRow, WhatIfRow
from dra_command.contract.output import Output, VerdictText


class PoolForPodRow(Output):
    """What a node of one pool, before any pod of the demand, says to the pod; with an observed cluster, one node."""

    name: str
    machine: str
    verdict: VerdictText
    reasons: list[PoolReasonRow]
    devices: list[ChosenRow] = Field(description="What its claims would get; request is CLAIM/REQUEST.")
    edits: list[EditRow]


class ExplainedPodRow(Output):
    """A pod of one template of the workload, among all other workloads."""

    verdict: VerdictText
    pod: str
    workload: str
    pod_set: str = Field(description='The template, of a workload that has several; "" otherwise.')
    placed: int = Field(description="Pods of the workload that have a node.")
    pending: int
    claims: list[str] = Field(description="Of its first pod, by the names that --claim takes.")
    pools: list[PoolForPodRow]
    holders: list[HolderRow] = Field(description="Who has what it requests, where the pools are too small for all.")
    missing: PoolReasonRow | None = Field(description="What the fleet lacks where no pool of it can hold the pod.")
    pending_reasons: list[PoolReasonRow] = Field(description="Why pods are pending that a node would take.")


class ExplainPodOutput(Output):
    """Answer of `pulumi-dra explain --pod NAMESPACE/NAME --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(description="The worst of the templates of its workload.")
    pods: list[ExplainedPodRow]
    what_if: WhatIfRow | None = Field(description="With --what-if: all other keys answer for the changed fleet.")

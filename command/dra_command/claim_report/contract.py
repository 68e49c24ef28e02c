"""Output of `pulumi-dra explain`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.joint_fix import JointFixRow
from dra_command.contract.output import Output, VerdictText
from dra_command.contract.share import ShareRow


class PoolReasonRow(Output):
    """Reason why something doesn't fit or can't be evaluated."""

    code: str
    message: str
    fix: str


class ExclusionRow(Output):
    """Number of devices that this step of the search excludes."""

    step: Literal["selector", "unknown", "error", "capacity", "taken", "counters", "taint"]
    count: int
    owner: str = Field(
        serialization_alias="class",
        description="Class that contains the selector. Empty if the request contains the selector.",
    )
    expression: str
    detail: str
    values: list[str] = Field(description="Device values that the selector read.")


class AlternativeRow(Output):
    """One way to satisfy a request: the devices of the node, and the number of devices that remain
    after each step.
    """

    request: str
    wanted: int | None = Field(description="Number of devices. null for all matching devices.")
    seen: int
    left: int
    fault: str
    excluded: list[ExclusionRow]


class GroupRow(Output):
    """Number of devices with the same value."""

    value: str
    devices: int


class ConstraintRow(Output):
    """Groups of the remaining devices, by the attribute in a constraint."""

    match_attribute: str | None
    distinct_attribute: str | None
    requests: list[str]
    groups: list[GroupRow]
    without: int
    unknown: int


class ReadRow(Output):
    """Device values at one path that a selector reads."""

    path: list[str]
    values: list[GroupRow]
    absent: int
    unknown: int


class ConditionRow(Output):
    """One of the selector's conditions, with counts of devices. All conditions must be true."""

    expression: str
    matching: int
    failing: int
    erring: int
    unknown: int
    reads: list[ReadRow]
    wanted: str
    nearest: str
    error: str


class SelectorRow(Output):
    """A selector that excludes devices, condition by condition."""

    expression: str
    conditions: list[ConditionRow]
    warnings: list[str]


class ChosenRow(Output):
    """A device that the claim would get."""

    request: str
    device: str


class EditRow(Output):
    """One change of a smallest set of changes that would make the pod fit."""

    kind: str
    text: str


class ClaimPoolRow(Output):
    """Result for the claim on an empty node of a pool or, with an observed cluster, on a node."""

    name: str
    machine: str
    verdict: VerdictText
    reasons: list[PoolReasonRow]
    requests: list[list[AlternativeRow]] = Field(
        description="Alternatives for each request, in order."
    )
    constraints: list[ConstraintRow]
    selectors: list[SelectorRow]
    devices: list[ChosenRow]
    shares: list[ShareRow] = Field(
        description="Amounts that the claim would consume, if the devices are shared."
    )
    edits: list[EditRow]


class HolderRow(Output):
    """A workload whose pods use devices that the claim could use."""

    pool: str
    workload: str
    pods: int


class WhatIfRow(Output):
    """Fleet values that `--what-if` changed, and the verdict without the changes."""

    changes: list[str] = Field(description="PATH=VALUE from the command line.")
    verdict_before: VerdictText


class ExplainOutput(Output):
    """Output of `pulumi-dra explain --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText
    claim: str
    workload: str
    pools: list[ClaimPoolRow]
    holders: list[HolderRow] = Field(
        description="Workloads that use the devices, if not all pods fit in the pools."
    )
    missing: PoolReasonRow | None = Field(
        description="Missing part of the fleet, if no pool fits the pod: a MIG configuration, a "
        "driver, or machine types."
    )
    pending_reasons: list[PoolReasonRow] = Field(
        description="Reasons why pods stay pending although each of them fits on a node."
    )
    joint_fix: JointFixRow | None = Field(
        description=(
            "Changes that make all workloads fit. null if the claim fits, or if no such changes "
            "are known."
        )
    )
    what_if: WhatIfRow | None = Field(
        description="With --what-if, all other keys apply to the changed fleet."
    )

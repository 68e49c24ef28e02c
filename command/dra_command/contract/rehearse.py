"""Answer of `pulumi-dra rehearse`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output, VerdictText
from dra_command.contract.plan import PlacementRow


class PlannedRow(Output):
    """What the plan says of a workload."""

    placed: int
    pending: int
    placements: list[PlacementRow]
    verdict: VerdictText


class DeviceRow(Output):
    """One device that a claim of a pod holds."""

    claim: str
    request: str
    driver: str
    pool: str = Field(description="Pool of devices, as ResourceSlices name it: that of the node.")
    device: str


class PodRow(Output):
    """One pod; the node is empty while it is pending."""

    name: str
    node: str
    words: str = Field(description="What the scheduler says of a pending pod.")
    devices: list[DeviceRow]


class OutcomeRow(Output):
    """What became of a workload."""

    placed: int
    pending: int = Field(description="Pods without a node, those included that were never created.")
    created: int
    placements: list[PlacementRow]
    refused: str = Field(description="Why the API server did not take it, or its pods; empty where it did.")
    pods: list[PodRow]


class DifferenceRow(Output):
    """Why the outcome is not what the plan says."""

    reason: str
    message: str


class WorkloadRow(Output):
    """One workload, in order of arrival."""

    kind: str
    namespace: str
    name: str
    wanted: int
    plan: PlannedRow | None = Field(description="Null where the plan leaves the workload out.")
    outcome: OutcomeRow
    difference: DifferenceRow | None


class PoolRow(Output):
    """One pool of nodes."""

    name: str
    nodes: int
    nodes_used: int
    pods: int
    devices: int
    devices_used: int
    planned_devices_used: int | None = Field(description="Null for the system pool.")


class RehearseOutput(Output):
    """Answer of `pulumi-dra rehearse --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(
        description="fits: every pod has a node. does-not-fit: some are pending. cannot-tell: a difference is "
        "unexplained, or time ran out."
    )
    kubernetes: str = Field(description="Release of the control plane.")
    order: str
    seconds: float
    workloads: list[WorkloadRow]
    pools: list[PoolRow]
    notes: list[str]

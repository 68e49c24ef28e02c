"""Output of `pulumi-dra rehearse`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output, VerdictText
from dra_command.plan_report.contract.plan import PlanPlacementRow


class PlannedRow(Output):
    """Result for a workload in the plan."""

    placed: int
    pending: int
    placements: list[PlanPlacementRow]
    verdict: VerdictText


class SimulatedRow(Output):
    """Result for a workload in the planner's simulation, in this pod arrival order."""

    placed: int
    placements: list[PlanPlacementRow]


class DeviceRow(Output):
    """One device that a claim of a pod holds."""

    claim: str
    request: str
    driver: str
    pool: str = Field(description="Device pool in the node's ResourceSlices.")
    device: str


class RehearsedPodRow(Output):
    """One pod. The node is empty if the pod is pending."""

    name: str
    node: str
    words: str = Field(description="Scheduler's message for a pending pod.")
    devices: list[DeviceRow]


class RehearsedOutcomeRow(Output):
    """Result for a workload in the rehearsal."""

    placed: int
    pending: int = Field(
        description="Number of pods that aren't assigned to a node, including pods that were never "
        "created."
    )
    created: int
    placements: list[PlanPlacementRow]
    refused: str = Field(
        description="Reason why the API server rejected the workload or its pods. Empty if accepted."
    )
    pods: list[RehearsedPodRow]


class RehearsedDifferenceRow(Output):
    """Reason why the result differs from the plan or the simulation."""

    reason: str
    message: str


class RehearsedWorkloadRow(Output):
    """One workload, sorted by the arrival of its pods."""

    kind: str
    namespace: str
    name: str
    wanted: int
    plan: PlannedRow | None = Field(
        description="Result in the plan. null if the plan omits the workload."
    )
    simulation: SimulatedRow | None = Field(
        description="Result in the planner's simulation. null if nothing was simulated."
    )
    outcome: RehearsedOutcomeRow
    difference: RehearsedDifferenceRow | None = Field(
        description="Difference between plan and outcome."
    )
    deviation: RehearsedDifferenceRow | None = Field(
        description="Difference between simulation and outcome."
    )


class RehearsedPoolRow(Output):
    """One pool of nodes."""

    name: str
    nodes: int
    nodes_used: int
    pods: int
    devices: int
    devices_used: int
    planned_devices_used: int | None = Field(
        description="Number of devices that the plan uses. null for the system pool."
    )


class ScenarioWorkloadRow(Output):
    """One workload in a scenario."""

    kind: str
    namespace: str
    name: str
    before: int = Field(
        description="Number of pods that are assigned to a node before the scenario."
    )
    wanted: int = Field(description="Expected number of pods after the scenario.")
    simulation: SimulatedRow
    outcome: RehearsedOutcomeRow
    deviation: RehearsedDifferenceRow | None = Field(
        description="Difference between simulation and outcome."
    )


class RehearsedScenario(Output):
    """A scenario that ran after the placement of the workloads and after all earlier scenarios."""

    scenario: str
    event: str
    decided: bool = Field(description="False if the time limit was reached.")
    seconds: float
    workloads: list[ScenarioWorkloadRow]


class RehearseOutput(Output):
    """Output of `pulumi-dra rehearse --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(
        description="fits: every pod has a node. does-not-fit: pods are pending. cannot-tell: a "
        "difference is "
        "unexplained, or the time limit was reached."
    )
    kubernetes: str = Field(description="Kubernetes version of the control plane.")
    order: str
    seconds: float
    workloads: list[RehearsedWorkloadRow]
    pools: list[RehearsedPoolRow]
    notes: list[str]
    scenarios: list[RehearsedScenario] = Field(
        description="Scenarios in the order in which they ran."
    )


class RehearsedStepRow(Output):
    """A step of a migration on the real scheduler."""

    step: str = Field(description="Number and name: 02-move-chat.")
    placed: int
    pending: int = Field(
        description=(
            "Number of pods that aren't assigned to a node while the step's old and new pods exist "
            "at the same time."
        )
    )
    is_safe: bool = Field(description="True if the plan proves that no pod stays pending.")
    decided: bool = Field(description="False if the time limit was reached.")


class RehearseMigrationOutput(Output):
    """Output of `pulumi-dra rehearse --migration --format json`."""

    version: Literal[1] = 1
    steps: list[RehearsedStepRow]

"""Output of `pulumi-dra migrate --steps`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output


class StepPoolRow(Output):
    """A pool in a step."""

    name: str
    allocation: Literal["dra", "device-plugin"]
    during: int = Field(description="Number of nodes during the step.")
    after: int = Field(description="Number of nodes after the step.")
    drained: int = Field(description="Number of nodes to drain and delete at the end of the step.")


class MigrationStepRow(Output):
    """A step of a migration."""

    number: int
    folder: str = Field(description="Subfolder of --steps-folder that contains the step's files.")
    kind: Literal["prepare", "move", "serve", "shrink", "finish"]
    moves: list[str] = Field(description="Kind, namespace, and name of each workload that moves.")
    served: dict[str, str] = Field(
        description="DeviceClass that serves each requested resource (extendedResourceName), so that "
        "these workloads don't have to change. Empty if the workloads get new manifests."
    )
    pools: list[StepPoolRow]
    is_safe: bool = Field(description="True if no pod stays pending at any time during the step.")
    pending: int | None = Field(
        description="Number of pods that stay pending in the simulation. null if unknown."
    )
    reasons: list[str]
    hourly_usd: float | None = Field(
        description="Cost per hour while the step runs, excluding nodes for pending pods. null if "
        "a price is unknown."
    )
    hourly_usd_after: float | None
    commands: list[str]
    checks: list[str]
    rollback: list[str]


class StayingRow(Output):
    """Pods that no step moves, with the reason."""

    object: str
    pods: str
    result: Literal["rewritten", "served", "kept", "cannot"]
    reason: str


class MigrateStepsOutput(Output):
    """Output of `pulumi-dra migrate --steps --format json`."""

    version: Literal[1] = 1
    is_safe: bool
    peak_hourly_usd: float | None
    twins: dict[str, str] = Field(description="DRA pool that replaces each device-plugin pool.")
    without_twin: dict[str, str] = Field(
        description="Device-plugin pools that no DRA pool can replace, each with the reason."
    )
    steps: list[MigrationStepRow]
    staying: list[StayingRow]
    notes: list[str] = Field(description="Facts to clarify before the first step.")

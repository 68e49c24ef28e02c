"""Output of `pulumi-dra suggest`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dra_command.contract.output import Output, VerdictText


class MachineCountRow(Output):
    """Number of nodes of one machine type."""

    machine: str
    mig: str = Field(description="MIG configuration of the GPUs, or empty for whole GPUs.")
    nodes: int


class SuggestedRow(Output):
    """A fleet that runs all workloads, with the machine types, their cost, and the text of the
    fleet file.
    """

    hourly: float = Field(description="US dollars per hour for the simulated number of GPU nodes.")
    machines: list[MachineCountRow]
    fleet: dict[str, Any] = Field(description="Contents of a fleet file for --fleet.")
    notes: list[str] = Field(description="Settings that the claims need, and the plan's warnings.")


class PackedRow(Output):
    """A simpler fleet that certainly costs more than the best one, so that it wasn't simulated."""

    hourly_packing: float = Field(
        description="US dollars per hour for the packing. The scheduler might need more nodes."
    )
    hourly_bound: float = Field(
        description="Proven lower bound in US dollars per hour for these machine types."
    )
    machines: list[MachineCountRow] = Field(description="Nodes of the packing.")
    fleet: dict[str, Any] = Field(
        description="Contents of a fleet file for --fleet, with maximums that allow more "
        "nodes. Plan it to get the simulated number of nodes."
    )


class NotComparedRow(Output):
    """A machine type that the region offers, but that `suggest` didn't compare."""

    machine: str
    why: str


class ObstacleRow(Output):
    """A workload that doesn't fit on any fleet of the compared machine types, with reasons and
    fixes.
    """

    subject: str
    reasons: list[str]
    fixes: list[str]


class SuggestOutput(Output):
    """Output of `pulumi-dra suggest --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText
    currency: Literal["USD"] = "USD"
    priced_on: str = Field(description="Date of the oldest price used. Empty if unknown.")
    best: SuggestedRow | None = Field(
        description="Cheapest fleet found. null if no fleet runs all workloads."
    )
    gap: float = Field(
        description="Largest fraction of this cost that another fleet could save, if it uses these "
        "machine types and is known to fit all pods. 0 means that no such fleet costs less."
    )
    gap_of_unknown: float = Field(
        default=0,
        description="The same maximum, assuming the largest possible values for unknown facts, "
        "such as the memory of a GPU or the allocatable memory of a node. At least "
        "`gap`.",
    )
    others: list[SuggestedRow] = Field(description="Simpler fleets, by price.")
    packed: list[PackedRow] = Field(
        default=[],
        description="Simpler fleets that weren't simulated, by the price of their packing.",
    )
    candidates: int = Field(description="Machine types compared.")
    not_compared: list[NotComparedRow]
    obstacles: list[ObstacleRow]

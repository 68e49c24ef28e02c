"""Answer of `pulumi-dra portfolio`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output, VerdictText

OutcomeText = Literal["fits", "does-not-fit", "cannot-tell", "failed", "not computed"]


class ScenarioTotalRow(Output):
    """One scenario over all stacks."""

    name: str
    fits: int
    does_not_fit: int
    cannot_tell: int
    failed: int = Field(description="Cells that have no answer; `cells` says why.")
    not_computed: int
    nodes: int = Field(description="Nodes that are built, within the maximums.")
    hourly: float | None = Field(description="US dollars per hour of these nodes; null where a price is not known.")


class StackRow(Output):
    """One stack over all scenarios."""

    name: str
    as_is: OutcomeText
    first_not_fitting: str | None = Field(description="First scenario of the file in which it does not certainly fit.")


class CellRow(Output):
    """One stack in one scenario."""

    stack: str
    scenario: str
    outcome: OutcomeText
    kubernetes: str
    nodes_bound: int | None
    nodes_packing: int | None
    nodes_simulated: int | None
    nodes: int | None = Field(description="What is built.")
    placed: int | None
    pending: int | None
    hourly: float | None
    bound: float | None = Field(description="Provably the least that any plan costs per hour.")
    why: str = Field(description="First reason where it does not fit, or why there is no answer.")
    digest: str = Field(description="Digest of all that the answer depends on.")


class StepRow(Output):
    """From so many more units on: nodes by pool, and what they cost."""

    units: int
    nodes: dict[str, int] = Field(description="Of the packing.")
    nodes_bound: int
    hourly: float | None


class CurveRow(Output):
    """How many more pods of one workload one stack takes."""

    stack: str
    scenario: str
    workload: str
    pods: int = Field(description="Pods that it has.")
    pods_per_unit: int
    steps: list[StepRow]
    placed_up_to: int | None = Field(description="So many more units are packed; null: some pod is pending already.")
    simulated_up_to: int | None = Field(description="So many more fit in the simulation too; null: not asked, or none.")
    refused_from: int | None = Field(description="So many more do not fit, proved; null: not proved.")
    most: int = Field(description="No more were tried.")


class IntervalRow(Output):
    """An estimate with its 95 % confidence interval."""

    estimate: float
    low: float
    high: float


class RiskRow(Output):
    """How often pods are pending on the planned nodes, in random orders of arrival, spot nodes lost."""

    stack: str
    scenario: str
    draws: int
    seed: int = Field(description="Seed of the first run; the next have the next.")
    spot_loss: float
    nodes: dict[str, int] = Field(description="Before any is lost.")
    unfinished: int = Field(description="Runs that took too long; they are not counted.")
    pending: IntervalRow = Field(description="Share of runs that leave a pod pending (Wilson score interval).")
    pods: IntervalRow = Field(description="Pending pods of a run in the mean.")
    most_pods: int
    lost: IntervalRow = Field(description="Lost nodes of a run in the mean.")


class AssignedRow(Output):
    """Where a workload goes."""

    workload: str
    cluster: str | None = Field(description="Null: no cluster has the labels.")
    may: list[str] = Field(description="Clusters that have the labels.")


class ClusterCostRow(Output):
    """What one cluster costs with what is assigned to it."""

    name: str
    cost: float
    nodes: int


class ClusterPlacementRow(Output):
    """The cheapest assignment found; every assignment costs `bound` or more."""

    verdict: VerdictText
    unit: Literal["usd", "nodes"] = Field(description="US dollars per hour, or nodes where a price is not known.")
    cost: float
    bound: float
    gap: float = Field(description="How much less any assignment could cost, as a part of this one; 0 is proved.")
    pending: int
    exhaustive: bool = Field(description="Whether every assignment was tried.")
    hourly_simulated: float | None = Field(description="Cost with the nodes that the simulation needs.")
    assigned: list[AssignedRow]
    clusters: list[ClusterCostRow]
    left_out: list[str] = Field(description="Clusters whose input is wrong.")
    assumptions: list[str]


class PortfolioOutput(Output):
    """Answer of `pulumi-dra portfolio --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(description="cannot-tell where a cell cannot be judged, or has no answer.")
    demand: Literal["floor", "steady", "ceiling", "peak"]
    scenarios: list[ScenarioTotalRow]
    stacks: list[StackRow]
    cells: list[CellRow]
    curves: list[CurveRow]
    risk: list[RiskRow]
    placement: ClusterPlacementRow | None
    faults: list[str] = Field(
        description="Cells of any question that have no answer, and why; patterns that match nothing."
    )

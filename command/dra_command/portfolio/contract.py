"""Output of `pulumi-dra portfolio`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output, VerdictText

OutcomeText = Literal["fits", "does-not-fit", "cannot-tell", "failed", "not computed"]


class ScenarioTotalRow(Output):
    """One scenario, summed over all stacks."""

    name: str
    fits: int
    does_not_fit: int
    cannot_tell: int
    failed: int = Field(
        description="Number of cells without a result. `cells` contains the reasons."
    )
    not_computed: int
    nodes: int = Field(description="Number of nodes to create, within the maximums.")
    hourly: float | None = Field(
        description="US dollars per hour for these nodes. null if a price is unknown."
    )


class StackRow(Output):
    """One stack in all scenarios."""

    name: str
    as_is: OutcomeText
    first_not_fitting: str | None = Field(
        description="First scenario in the file whose verdict isn't `fits`."
    )


class CellRow(Output):
    """One stack in one scenario."""

    stack: str
    scenario: str
    outcome: OutcomeText
    kubernetes: str
    nodes_bound: int | None
    nodes_packing: int | None
    nodes_simulated: int | None
    nodes: int | None = Field(description="Number of nodes to create.")
    placed: int | None
    pending: int | None
    stalled: int | None = Field(
        description="Number of rollouts that never finish, although the pods fit."
    )
    hourly: float | None = Field(
        description="Cost of the nodes to create, in US dollars per hour. null if a price is "
        "unknown."
    )
    bound: float | None = Field(description="Proven lower bound on the cost per hour.")
    why: str = Field(
        description="First reason why the cell doesn't fit, or why it doesn't have a result."
    )
    digest: str = Field(description="Digest of all inputs that determine the result.")


class StepRow(Output):
    """Nodes of each pool for this number of additional pods or more, with their cost."""

    units: int
    nodes: dict[str, int] = Field(description="Number of nodes in each pool, in the packing.")
    nodes_bound: int
    hourly: float | None


class CurveRow(Output):
    """Number of additional pods of one workload that fit in one stack."""

    stack: str
    scenario: str
    workload: str
    pods: int = Field(description="Number of pods in the workload.")
    pods_per_unit: int
    steps: list[StepRow]
    placed_up_to: int | None = Field(
        description="Number of additional units (of pods_per_unit pods each) in the packing. null "
        "if a pod is already pending."
    )
    simulated_up_to: int | None = Field(
        description="Number of additional units in the simulation. null if not requested, or if "
        "none fit."
    )
    refused_from: int | None = Field(
        description="Lowest number of additional units that provably doesn't fit. null if the plan "
        "has no such proof."
    )
    most: int = Field(description="Highest number of additional units that `portfolio` tried.")


class IntervalRow(Output):
    """An estimate with its 95% confidence interval."""

    estimate: float
    low: float
    high: float


class RiskRow(Output):
    """Estimated frequency of pending pods on the planned nodes, with random pod arrival orders and
    failed Spot nodes.
    """

    stack: str
    scenario: str
    draws: int
    seed: int = Field(description="Seed of the first run. Each following run adds 1.")
    spot_loss: float
    nodes: dict[str, int] = Field(description="Number of nodes before a failure.")
    unfinished: int = Field(
        description="Number of runs that exceeded the time limit. Results exclude these runs."
    )
    pending: IntervalRow = Field(
        description="Share of runs in which a pod stays pending (Wilson score interval)."
    )
    pods: IntervalRow = Field(description="Mean number of pending pods per run.")
    most_pods: int
    lost: IntervalRow = Field(description="Mean number of failed nodes per run.")


class AssignedRow(Output):
    """The cluster that a workload is assigned to."""

    workload: str
    cluster: str | None = Field(
        description="Cluster that runs the workload. null if no cluster has the required labels."
    )
    may: list[str] = Field(description="Clusters with the required labels.")


class ClusterCostRow(Output):
    """Cost of one cluster with the workloads that are assigned to it."""

    name: str
    cost: float
    nodes: int


class ClusterPlacementRow(Output):
    """The cheapest assignment found. No assignment costs less than `bound`."""

    verdict: VerdictText
    unit: Literal["usd", "nodes"] = Field(
        description="US dollars per hour, or number of nodes if a price is unknown."
    )
    cost: float
    bound: float
    gap: float = Field(
        description="Maximum savings of any other assignment, as a fraction of this cost. 0 means that "
        "no assignment costs less."
    )
    pending: int
    exhaustive: bool = Field(description="True if `portfolio` tried every assignment.")
    hourly_simulated: float | None = Field(description="Cost with the simulated number of nodes.")
    assigned: list[AssignedRow]
    clusters: list[ClusterCostRow]
    left_out: list[str] = Field(description="Clusters with invalid input.")
    assumptions: list[str]


class PortfolioOutput(Output):
    """Output of `pulumi-dra portfolio --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(
        description="cannot-tell if the verdict of a cell is cannot-tell, or if a cell has no result."
    )
    demand: Literal["floor", "steady", "ceiling", "peak"]
    scenarios: list[ScenarioTotalRow]
    stacks: list[StackRow]
    cells: list[CellRow]
    curves: list[CurveRow]
    risk: list[RiskRow]
    placement: ClusterPlacementRow | None
    faults: list[str] = Field(
        description="Cells without a result and the reasons, and patterns without a match."
    )

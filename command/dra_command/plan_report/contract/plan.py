"""Output of `pulumi-dra plan`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dra_command.claim_report.contract import ExplainOutput
from dra_command.contract.joint_fix import JointFixRow
from dra_command.contract.output import Output, VerdictText
from dra_command.contract.share import ShareRow
from dra_command.findings.contract import DiagnosticRow
from dra_command.plan_report.contract.detail import DetailRow
from dra_command.plan_report.contract.nodes import (
    CostShareRow,
    FilledNodesRow,
    KindRow,
    OrderOutcomeRow,
    PlanDifferenceRow,
    PodsRow,
    PoolCostRow,
    WorkloadName,
)


class ChangeRow(Output):
    """Part of a selector, with its replacement. An empty replacement means that the part is
    removed.
    """

    before: str
    after: str


class WorkloadReasonRow(Output):
    """Reason why something doesn't fit or can't be evaluated."""

    code: str
    message: str
    fix: str
    claim: str = Field(
        default="", description="NAMESPACE/NAME of the claim that causes the problem, if any."
    )
    request: str = ""
    pool: str = ""
    changes: list[ChangeRow] = Field(
        default_factory=list, description="Selector change in the fix."
    )


class PlanCountRow(Output):
    """Node counts of a pool: the limits in the fleet, the proven minimum, the best packing found,
    and the number that the default scheduler needs in every simulated pod arrival order.
    """

    min: int
    bound: int
    packing: int
    simulated: int | None = Field(
        description="Number of nodes that the scheduler needs. null if the plan doesn't include a "
        "simulation, or if the number exceeds the maximum."
    )
    max: int


class PlanNodesRow(Output):
    """Node counts when the pool is created."""

    min: int
    desired: int
    max: int


class PlanDevicesRow(Output):
    """Devices on the nodes in the packing. Stranded devices are free, but no pod can use them."""

    total: int
    used: int
    stranded: int


class PlanPoolRow(Output):
    """One node pool or, with an observed cluster, one node."""

    name: str
    machine: str
    count: PlanCountRow
    nodes: PlanNodesRow
    existing: int | None = Field(
        default=None,
        description="Number of existing nodes. null unless you pass both a fleet and an observed "
        "cluster.",
    )
    devices: PlanDevicesRow
    price_per_hour: float | None = Field(description="US dollars per node-hour. null if unknown.")
    enough: int = Field(
        description="Sufficient maximum for this pool. If every pool has its sufficient maximum, "
        "all pods that fit on a node can run. Equal to the pool's own maximum if no increase is "
        "necessary or known."
    )
    levels: LevelsRow | None = Field(
        description="Node counts at each demand level. null for an observed cluster."
    )
    recommended: int = Field(
        description="Number of nodes to create: either the simulated number or the packing's "
        "number."
    )
    spare: int = Field(
        default=0, description="Number of these nodes that replace failed nodes (`redundancy`)."
    )
    kinds: list[KindRow] = Field(description="Devices on these nodes, by kind. See filled_nodes.")


class LevelRow(Output):
    """Node counts of a pool at one demand: the proven minimum, the packing, and the number that the
    scheduler needs.
    """

    bound: int
    packing: int
    simulated: int | None = Field(
        description="Number of nodes that the scheduler needs. null if the search found no such "
        "number, or if this demand level wasn't simulated. The floor level is simulated only if "
        "it's selected."
    )


class LevelsRow(Output):
    """Node counts of a pool at each demand level."""

    floor: LevelRow
    steady: LevelRow
    ceiling: LevelRow
    peak: LevelRow


class LimitRow(Output):
    """A limit that multiple pools share: a quota of the account, or a reservation."""

    name: str
    unit: str = Field(description="Unit of the amounts: vCPU, GPU, node, address, or pod address.")
    most: int = Field(description="Limit.")
    used: int = Field(description="Amount used by the nodes to create, including the system pool.")
    pools: dict[str, int] = Field(description="Amount used by one node of each pool.")


class DemandRow(Output):
    """Number of pods that run at the same time. null if the number is unlimited."""

    floor: int
    steady: int
    ceiling: int | None
    peak: int | None


class VerdictsRow(Output):
    """The verdict on the pods at each demand level, without rollouts that never finish."""

    floor: VerdictText
    steady: VerdictText
    ceiling: VerdictText
    peak: VerdictText


class PlanPlacementRow(Output):
    """Number of pods of a workload in one pool."""

    pool: str
    pods: int


class FitRow(Output):
    """Result for one pod of the workload on an empty node of one pool."""

    pool: str
    verdict: VerdictText


class WayRow(Output):
    """Number of devices of a class."""

    device_class: str
    devices: int | None = Field(description="Number of devices, or null for all devices on a node.")


class PodRequestRow(Output):
    """One request of a claim."""

    claim: str
    request: str
    ways: list[WayRow] = Field(
        description="Alternatives, in order. A single entry if the request has no alternatives."
    )
    shared: bool = Field(
        description="True if other pods use the same claim, and therefore the same devices."
    )


class PodRequestsRow(Output):
    """Requests of each pod of one role."""

    role: str
    requests: list[PodRequestRow]
    equal: list[str] = Field(
        description="Attributes that must have the same value on all allocated devices "
        "(matchAttribute)."
    )


class PlanWorkloadRow(Output):
    """Result for one workload."""

    kind: str
    namespace: str
    name: str
    each_pod: list[PodRequestsRow] = Field(
        description="Devices that the pods request. Empty if the pods don't request devices."
    )
    demand: DemandRow
    placed: int
    pending: int
    verdicts: VerdictsRow
    placements: list[PlanPlacementRow] = Field(
        description="Number of pods in each pool, in the packing."
    )
    pools: list[FitRow]
    reasons: list[WorkloadReasonRow]


class CostRow(Output):
    """Price of the planned nodes or, with an observed cluster and a fleet, of the added nodes."""

    hourly: float
    currency: Literal["USD"]
    priced_on: str = Field(
        description="Date of the oldest price used. Empty if the fleet sets the prices."
    )
    bound: float = Field(description="Proven lower bound.")
    pools: list[PoolCostRow]
    shares: list[CostShareRow] = Field(
        description="Cost by workload, rounded to the cent. A node's price is divided evenly among "
        "its GPUs. A GPU's price is divided among its MIG devices by memory, and a shared device's "
        "price is divided among its pods."
    )


class AllocatedRow(Output):
    """One device that is allocated to a claim."""

    request: str
    node: str
    driver: str
    pool: str
    device: str
    shares: list[ShareRow] = Field(
        description="Amounts that the claim consumes, if the device is shared."
    )


class PlanClaimRow(Output):
    """Devices of one claim."""

    namespace: str
    name: str
    pod: str
    devices: list[AllocatedRow]


class TotalRow(Output):
    """Node counts of all pools together, as in `PlanCountRow`."""

    bound: int
    packing: int
    simulated: int | None
    recommended: int


class StrandingRow(Output):
    """A pod arrival order in which pods stay pending, with the number of these pods."""

    order: str
    pods: int
    pending: list[PodsRow] = Field(description="Cost by workload.")


class FixRow(Output):
    """A change that lets the simulation place all pods in every simulated order."""

    kind: Literal["taint", "affinity", "profile", "maximum", "guards"]
    message: str
    nodes: dict[str, int] = Field(description="Number of nodes in each pool with this change.")
    saves_per_hour: float | None = Field(
        description="Savings in US dollars, compared with the nodes to create. Negative if the "
        "change costs more. null if a price is unknown."
    )
    patch: dict[str, Any] | None = Field(
        description="Keys to merge into the fleet (pools by name), or a kustomize Component. "
        "null if neither can express the change."
    )


class SimulationRow(Output):
    """Simulation of the default scheduler in several pod arrival orders. A random order
    has a seed.
    """

    orders: list[str]
    scale: int = Field(
        description=(
            "Factor by which the simulation divided the numbers of pods and nodes to stay within "
            "the time limit."
        )
    )
    complete: bool = Field(description="True if the simulation finished within the time limit.")
    at_packing: list[StrandingRow] = Field(
        description="Pod arrival orders in which pods stay pending if Pulumi creates only the "
        "nodes in the packing."
    )
    at_maximum: list[StrandingRow] = Field(
        description="Pod arrival orders in which pods stay pending even if every pool is at its "
        "maximum. Empty if the search found node counts."
    )
    outcomes: list[OrderOutcomeRow] = Field(
        description="Outcome of the pod arrival orders with the simulated counts, or with every "
        "pool at its "
        "maximum if at_maximum isn't empty. Orders with the same outcome are grouped. Empty if "
        "neither was simulated at full scale."
    )
    fixes: list[FixRow] = Field(
        default_factory=list[FixRow],
        description="Changes that let all pods fit on cheaper nodes, cheapest first.",
    )
    tried_all_fixes: bool = Field(
        default=True,
        description="False if the search for fixes ended at its limit of simulated steps "
        "(--simulate).",
    )
    left_out: list[WorkloadName] = Field(
        default_factory=list[WorkloadName],
        description="Workloads whose pods don't fit in any pool. The simulation omits these "
        "pods, because they stay pending regardless of the node counts.",
    )


class GuardRow(Output):
    """One guard. The list is sorted by the number of pods that are pending without the guard."""

    number: int
    kind: Literal["steer", "split", "pack", "spread"]
    effect: str
    who_acts: str = Field(
        description="Command that applies the guard (`pulumi up`), or the people who apply it by "
        "changing manifests (the namespace owners)."
    )
    pending_without: list[int] = Field(
        description="Minimum and maximum number of pods that stay pending if the planned nodes are "
        "created without this guard. Empty if unknown."
    )


class SteeringRow(Output):
    """Number of pods that a guard sends to one pool."""

    pool: str
    templates: list[str] = Field(description="ResourceClaimTemplates, as NAMESPACE/NAME.")
    workloads: list[WorkloadName]
    spread: str = Field(
        description="Pods with the same value are spread evenly across the pool's nodes. Empty if "
        "these pods don't have to be spread."
    )


class GuardsRow(Output):
    """Guards that make the scheduler follow the plan, and the result without them."""

    guards: list[GuardRow]
    rules: list[SteeringRow]
    split: dict[str, str] = Field(
        description="Pools that replace a split pool, each with the name of the split pool."
    )
    orders: list[str] = Field(description="Pod arrival orders in which all pods fit.")
    in_any_order: list[str] = Field(
        description="Pools whose pods provably fit, regardless of the order in which they arrive and "
        "the nodes that the scheduler chooses."
    )
    proved: dict[str, bool] = Field(
        default_factory=dict,
        description="Other guarantees that the simulation proved with the guards: `ceiling` "
        "(maximum replicas), `peak` (rollouts), and `loss` (lost nodes, if the "
        "fleet sets redundancy).",
    )
    free_hourly: float | None = Field(
        description="USD per hour without guards. null if the search didn't find node counts."
    )
    free_pending: list[int] | None = Field(
        description="Minimum and maximum number of pods that stay pending without guards. null "
        "if all pods fit, or if unknown."
    )


class PlanOutput(Output):
    """Output of `pulumi-dra plan --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText
    kubernetes: str
    demand: Literal["floor", "steady", "ceiling", "peak"] = "steady"
    assumptions: list[str]
    pools: list[PlanPoolRow]
    nodes: TotalRow
    method: str = Field(description="Name of the packing that the plan uses.")
    simulation: SimulationRow | None = Field(
        description="Simulation of the scheduler. null if the plan doesn't include a simulation."
    )
    workloads: list[PlanWorkloadRow]
    cost: CostRow | None
    limits: list[LimitRow] = Field(
        default_factory=list,
        description="Limits that multiple pools share. Empty without such limits.",
    )
    verdicts: VerdictsRow = Field(
        description="Combined verdict for all workloads at each demand level."
    )
    pods: int = Field(description="Total number of pods in all workloads at the selected demand.")
    filled_nodes: FilledNodesRow
    failing_claims: list[ExplainOutput] = Field(
        description="Claims that no pool can satisfy, with the result for each pool and "
        "selector term (as in `explain`)."
    )
    difference: PlanDifferenceRow | None = Field(
        description="Difference from the saved plan. null without --stack or without a saved plan."
    )
    diagnostics: list[DiagnosticRow]
    cloud: str = Field(default="", description="Headroom of the fleet. Empty without a fleet.")
    region: str = Field(default="", description="Headroom of the fleet. Empty without a fleet.")
    claims: list[PlanClaimRow] | None = Field(
        default=None, description="Devices of each claim. Only with --observed or --detail."
    )
    detail: DetailRow | None = Field(
        default=None,
        description="Costs, free capacity, and stranded devices. Only with --detail and without "
        "--observed.",
    )
    joint_fix: JointFixRow | None = Field(
        default=None,
        description="Changes that make multiple workloads fit at the same time. Absent unless at "
        "least two workloads don't fit and the search finds such changes.",
    )
    guards: GuardsRow | None = Field(
        default=None, description="Guards of the plan. Absent for a plan without guards."
    )

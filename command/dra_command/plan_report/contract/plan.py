"""Answer of `pulumi-dra plan`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dra_command.claim_report.contract import ExplainOutput
from dra_command.contract.output import Output, VerdictText
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
    """Part of a selector, and what to write instead; empty: drop it."""

    before: str
    after: str


class WhyRow(Output):
    """Why something does not fit or cannot be told."""

    code: str
    message: str
    fix: str
    claim: str = Field(default="", description="NAMESPACE/NAME of the claim at fault, where one is.")
    request: str = ""
    pool: str = ""
    changes: list[ChangeRow] = Field(default_factory=list, description="What the fix changes of a selector.")


class PlanCountRow(Output):
    """Nodes of a pool: the fleet's limits, the proved least, what the best packing found needs, and with how many the
    default scheduler places everything in every order tried.
    """

    min: int
    bound: int
    packing: int
    simulated: int | None = Field(description="null where it was not simulated, or not found within the maximum.")
    max: int


class PlanNodesRow(Output):
    """What the pool is created with."""

    min: int
    desired: int
    max: int


class PlanDevicesRow(Output):
    """Devices on the planned nodes; stranded ones are free, and no pod of the demand can use them."""

    total: int
    used: int
    stranded: int


class PlanPoolRow(Output):
    """One node pool; with an observed cluster, one node."""

    name: str
    machine: str
    count: PlanCountRow
    nodes: PlanNodesRow
    existing: int | None = Field(
        default=None, description="Nodes that are there already, with a fleet and an observed cluster; else null."
    )
    devices: PlanDevicesRow
    price_per_hour: float | None = Field(description="US dollars per node and hour; null when unknown.")
    enough: int = Field(
        description="A maximum under which, with those of the other pools, all that some node takes is placed: the "
        "pool's own where no raise is needed, or none was found."
    )
    levels: LevelsRow | None = Field(description="null with an observed cluster.")
    recommended: int = Field(description="Nodes that are built for the demand: simulated, or the packing.")
    spare: int = Field(default=0, description="Those of them that are there for nodes that are lost (`redundancy`).")
    kinds: list[KindRow] = Field(description="Devices by kind on the nodes that are built; see filled_nodes.")


class LevelRow(Output):
    """Nodes of a pool at one demand: the proved least, what the packing needs, and what the scheduler needs."""

    bound: int
    packing: int
    simulated: int | None = Field(
        description="null where no such counts were found, or the demand was not simulated: floor, unless it is judged."
    )


class LevelsRow(Output):
    """Nodes of a pool for each demand."""

    floor: LevelRow
    steady: LevelRow
    ceiling: LevelRow
    peak: LevelRow


class LimitRow(Output):
    """What pools share: a quota of the account, or a reservation."""

    name: str
    unit: str = Field(description="What it counts: vCPU, GPU, node, address or pod address.")
    most: int = Field(description="How much there is.")
    used: int = Field(description="What the nodes that are built take, those of the system pool with them.")
    pools: dict[str, int] = Field(description="What one node of each pool takes.")


class DemandRow(Output):
    """Pods at the same time; null where nothing bounds them."""

    floor: int
    steady: int
    ceiling: int | None
    peak: int | None


class VerdictsRow(Output):
    """A verdict for each demand."""

    floor: VerdictText
    steady: VerdictText
    ceiling: VerdictText
    peak: VerdictText


class PlanPlacementRow(Output):
    """So many pods on one pool."""

    pool: str
    pods: int


class FitRow(Output):
    """Whether an empty node of one pool takes a pod of the workload."""

    pool: str
    verdict: VerdictText


class WayRow(Output):
    """So many devices of a class."""

    device_class: str
    devices: int | None = Field(description="null: all that a node has.")


class PodRequestRow(Output):
    """One request of a claim."""

    claim: str
    request: str
    ways: list[WayRow] = Field(description="In the order in which they are tried; one where there is no choice.")
    shared: bool = Field(description="Whether other pods that name the claim use the same devices.")


class PodRequestsRow(Output):
    """What each pod of one role requests."""

    role: str
    requests: list[PodRequestRow]
    equal: list[str] = Field(description="Attributes that must be equal for some of its devices (matchAttribute).")


class PlanWorkloadRow(Output):
    """What becomes of one workload."""

    kind: str
    namespace: str
    name: str
    each_pod: list[PodRequestsRow] = Field(description="Devices that its pods request; empty for none.")
    demand: DemandRow
    placed: int
    pending: int
    verdicts: VerdictsRow
    placements: list[PlanPlacementRow]
    pools: list[FitRow]
    reasons: list[WhyRow]


class CostRow(Output):
    """Price of the planned nodes; with an observed cluster and a fleet, of those that are added to it."""

    hourly: float
    currency: Literal["USD"]
    priced_on: str = Field(description="Date of the oldest price used; empty when the fleet names the prices.")
    bound: float = Field(description="Provably the least.")
    pools: list[PoolCostRow]
    shares: list[CostShareRow] = Field(
        description="Who the nodes are paid for, to the cent: the price of a node is divided evenly among its GPUs, "
        "that of a GPU among its slices by memory, that of a device among those that share it."
    )


class AllocatedRow(Output):
    """One device that a claim holds."""

    request: str
    node: str
    driver: str
    pool: str
    device: str


class PlanClaimRow(Output):
    """Devices of one claim."""

    namespace: str
    name: str
    pod: str
    devices: list[AllocatedRow]


class TotalRow(Output):
    """Nodes of all pools together, by the three numbers; see `PlanCountRow`."""

    bound: int
    packing: int
    simulated: int | None
    recommended: int


class StrandingRow(Output):
    """An order of arrival in which pods stay pending, and how many."""

    order: str
    pods: int
    pending: list[PodsRow] = Field(description="The same by workload.")


class FixRow(Output):
    """A change with which the simulation placed everything in every order of arrival."""

    kind: Literal["taint", "affinity", "profile", "maximum"]
    message: str
    nodes: dict[str, int] = Field(description="Nodes of each pool that it takes.")
    saves_per_hour: float | None = Field(
        description="US dollars, against what is built; negative where it costs more, null where a price is unknown."
    )
    patch: dict[str, Any] | None = Field(
        description="Keys to merge into the fleet (pools by name), or a kustomize Component; null where neither can "
        "hold it."
    )


class SimulationRow(Output):
    """The default scheduler, simulated in several orders of arrival; a random one has its seed."""

    orders: list[str]
    scale: int = Field(description="Pods and nodes were divided by so much to keep to the time given.")
    complete: bool = Field(description="Whether the time given sufficed.")
    at_packing: list[StrandingRow] = Field(description="Orders that leave pods pending on the nodes of the packing.")
    at_maximum: list[StrandingRow] = Field(
        description="The same with every pool at its maximum; empty unless no counts were found."
    )
    outcomes: list[OrderOutcomeRow] = Field(
        description="How the orders end with the simulated counts, or with every pool at its maximum where at_maximum "
        "is not empty; orders that end the same together. Empty where neither was simulated at full scale."
    )
    fixes: list[FixRow] = Field(
        default_factory=list[FixRow], description="What would place everything on cheaper nodes, the cheapest first."
    )
    left_out: list[WorkloadName] = Field(
        default_factory=list[WorkloadName],
        description="Workloads whose pods fit no pool: they are pending on any counts, and were not simulated.",
    )


class GuardRow(Output):
    """One guard, in the order of the pods that are pending without it."""

    number: int
    kind: Literal["steer", "split", "pack"]
    effect: str
    who_acts: str = Field(description="`pulumi up`, or the owners of namespaces who have to change manifests.")
    pending_without: list[int] = Field(
        description="Fewest and most pods that stay pending on the plan's nodes without this guard. Empty if unknown."
    )


class SteeringRow(Output):
    """Pods that go to one pool."""

    pool: str
    templates: list[str] = Field(description="ResourceClaimTemplates, as NAMESPACE/NAME.")
    workloads: list[WorkloadName]


class GuardsRow(Output):
    """Guards that make the scheduler follow the plan, and the plan without them."""

    guards: list[GuardRow]
    rules: list[SteeringRow]
    split: dict[str, str] = Field(description="Pools that replace split pools, with the pool that each is a part of.")
    orders: list[str] = Field(description="Pod arrival orders in which all pods fit.")
    free_hourly: float | None = Field(description="USD per hour without guards. null if no counts were found.")
    free_pending: list[int] | None = Field(
        description="Fewest and most pods that stay pending without guards. null if all pods fit or it is unknown."
    )


class PlanOutput(Output):
    """Answer of `pulumi-dra plan --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText
    kubernetes: str
    demand: Literal["floor", "steady", "ceiling", "peak"] = "steady"
    assumptions: list[str]
    pools: list[PlanPoolRow]
    nodes: TotalRow
    method: str = Field(description="Name of the packing that gave the plan.")
    simulation: SimulationRow | None = Field(description="null where nothing was simulated.")
    workloads: list[PlanWorkloadRow]
    cost: CostRow | None
    limits: list[LimitRow] = Field(
        default_factory=list, description="What pools share; empty where they share nothing."
    )
    verdicts: VerdictsRow = Field(description="Of all workloads together, for each demand.")
    pods: int = Field(description="Pods of all workloads at the demand judged.")
    filled_nodes: FilledNodesRow
    failing_claims: list[ExplainOutput] = Field(
        description="Claims that no pool can satisfy, pool by pool and term by term, as `explain` tells them."
    )
    difference: PlanDifferenceRow | None = Field(
        description="To the saved plan; null without --stack, or where none is."
    )
    diagnostics: list[DiagnosticRow]
    cloud: str = Field(default="", description="Of the fleet; empty without one.")
    region: str = Field(default="", description="Of the fleet; empty without one.")
    claims: list[PlanClaimRow] | None = Field(default=None, description="With --observed or --detail.")
    detail: DetailRow | None = Field(default=None, description="With --detail on a fleet alone.")
    guards: GuardsRow | None = Field(default=None, description="Guards of the plan. Absent for a plan without guards.")

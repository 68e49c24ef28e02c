"""The JSON that the command prints, as models: fields are added, never changed.

The published schemas in `docs/schema/` are made from these.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

VerdictText = Literal["fits", "does-not-fit", "cannot-tell"]


class _Output(BaseModel):
    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


class Finding(_Output):
    """One finding about one object."""

    severity: Literal["error", "warning", "note"]
    code: str
    file: str
    line: int = Field(description="1-based; 0 when unknown.")
    path: str = Field(description="Field path inside the object.")
    message: str
    fix: str


class WhyRow(_Output):
    """Why something does not fit or cannot be told."""

    code: str
    message: str
    fix: str
    claim: str = Field(default="", description="NAMESPACE/NAME of the claim at fault, where one is.")
    request: str = ""
    pool: str = ""


class CountRow(_Output):
    """Nodes of a pool: the fleet's limits, the proved least, what the best packing found needs."""

    min: int
    bound: int
    plan: int
    max: int


class NodesRow(_Output):
    """What the pool is created with."""

    min: int
    desired: int
    max: int


class DevicesRow(_Output):
    """Devices on the planned nodes; stranded ones are free, and no pod of the demand can use them."""

    total: int
    used: int
    stranded: int


class PoolRow(_Output):
    """One node pool; with an observed cluster, one node."""

    name: str
    machine: str
    count: CountRow
    nodes: NodesRow
    devices: DevicesRow
    price_per_hour: float | None = Field(description="US dollars per node and hour; null when unknown.")


class DemandRow(_Output):
    """Pods at the same time; null where nothing bounds them."""

    floor: int
    steady: int
    ceiling: int | None
    peak: int | None


class VerdictsRow(_Output):
    """A verdict for each demand."""

    steady: VerdictText
    ceiling: VerdictText
    peak: VerdictText


class PlacementRow(_Output):
    """So many pods on one pool."""

    pool: str
    pods: int


class FitRow(_Output):
    """Whether an empty node of one pool takes a pod of the workload."""

    pool: str
    verdict: VerdictText


class WorkloadRow(_Output):
    """What becomes of one workload."""

    kind: str
    namespace: str
    name: str
    demand: DemandRow
    placed: int
    pending: int
    verdicts: VerdictsRow
    placements: list[PlacementRow]
    pools: list[FitRow]
    reasons: list[WhyRow]


class CostRow(_Output):
    """Price of the planned nodes."""

    hourly: float
    currency: Literal["USD"]
    priced_on: str = Field(description="Date of the oldest price used; empty when the fleet names the prices.")
    bound: float = Field(description="Provably the least.")


class AllocatedRow(_Output):
    """One device that a claim holds."""

    request: str
    node: str
    driver: str
    pool: str
    device: str


class ClaimRow(_Output):
    """Devices of one claim."""

    namespace: str
    name: str
    pod: str
    devices: list[AllocatedRow]


class TotalRow(_Output):
    """Nodes of all pools together: provably the least, and what the plan takes."""

    bound: int
    plan: int


class PlanOutput(_Output):
    """Answer of `pulumi-dra plan --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText
    kubernetes: str
    demand: Literal["floor", "steady", "ceiling", "peak"] = "steady"
    assumptions: list[str]
    pools: list[PoolRow]
    nodes: TotalRow
    method: str = Field(description="Name of the packing that gave the plan.")
    workloads: list[WorkloadRow]
    cost: CostRow | None
    diagnostics: list[Finding]
    claims: list[ClaimRow] | None = Field(default=None, description="With --observed or --detail.")


class CheckOutput(_Output):
    """Answer of `pulumi-dra check --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText
    diagnostics: list[Finding]


class Fault(_Output):
    """What is wrong with the input, and what would make it right."""

    file: str
    line: int
    path: str
    message: str
    fix: str


class ErrorOutput(_Output):
    """Answer of every subcommand with --format json when the input is wrong."""

    version: Literal[1] = 1
    error: Fault
    others: list[Fault] = Field(default_factory=list, description="Further faults of the same input.")

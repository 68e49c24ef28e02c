"""A request for a plan, and the plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet
from dra_planner.manifests import Manifests
from dra_planner.model import Demand, DemandLevel, DeviceClass, Figures, Reason, Verdict, WorkloadRef
from dra_planner.offers import Offer
from dra_planner.sizing import DeviceCount, Sizing
from dra_planner.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What to plan: workloads on a fleet's pools, or, with `observed`, on the nodes of a snapshot.

    `kubernetes` judges for another release than the fleet's. `paths` is what the workloads were read from, for the
    record. `level` is the demand that pools are sized for.
    """

    sources: tuple[Source, ...]
    fleet: Fleet | None = None
    observed: tuple[Source, ...] = ()
    kubernetes: str = ""
    paths: tuple[str, ...] = ()
    level: DemandLevel = "steady"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRange:
    """What a pool is created with."""

    minimum: int
    desired: int
    maximum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPool:
    """One pool: the fleet's limits, the proved least, what the plan needs, and what it is created with."""

    name: str
    machine: str
    minimum: int
    bound: int
    plan: int
    maximum: int
    nodes: NodeRange
    devices: DeviceCount
    hourly_usd: Decimal | None
    zones: tuple[str, ...] = ()
    left: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWorkload:
    """One workload at the plan's level, and its verdicts at every level."""

    workload: WorkloadRef
    figures: Figures
    placed: int
    pending: int
    verdicts: Mapping[DemandLevel, Verdict] = field(hash=False)
    placements: tuple[tuple[str, int], ...]
    fits: tuple[tuple[str, Verdict], ...]
    reasons: tuple[Reason, ...]
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Price per hour of the planned nodes, and the proved least; `priced_on` is the oldest date of a price used."""

    hourly_usd: Decimal
    bound_usd: Decimal
    priced_on: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenDevice:
    """One device that a claim would get."""

    request: str
    node: str
    driver: str
    pool: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenClaim:
    """The devices of one claim; `pod` is the pod that it was allocated for."""

    namespace: str
    name: str
    pod: str
    devices: tuple[GivenDevice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The answer: a verdict (see `overall_verdict`), sizes, and all that they rest on."""

    level: DemandLevel
    verdict: Verdict
    kubernetes: str
    fleet: Fleet | None
    offers: tuple[Offer, ...]
    classes: Mapping[str, DeviceClass] = field(hash=False)
    demand: Demand
    pools: tuple[PlannedPool, ...]
    workloads: tuple[PlannedWorkload, ...]
    cost: Cost | None
    nodes_bound: int
    method: str
    assumptions: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    sizings: Mapping[DemandLevel, Sizing] = field(default_factory=dict, hash=False)
    claims: tuple[GivenClaim, ...] = ()
    inputs: Mapping[str, object] = field(default_factory=dict, hash=False)
    manifests: Manifests | None = field(default=None, compare=False)  # what it was made from, for rules
    system_offer: Offer | None = None  # where pods run that want no device, when there are such

    def pool(self, name: str) -> PlannedPool:
        """Return the pool of that name; raises KeyError."""
        for pool in self.pools:
            if pool.name == name:
                return pool
        raise KeyError(name)

    def workload(self, kind: str, namespace: str, name: str) -> PlannedWorkload:
        """Return the workload of that name; raises KeyError."""
        for each in self.workloads:
            if each.workload == (kind, namespace, name):
                return each
        raise KeyError(f"{kind} {namespace}/{name}")


def overall_verdict(placing: Verdict, findings: Iterable[Diagnostic]) -> Verdict:
    """Return the one verdict of a plan: what placing its pods says, and *does not fit* where a finding is an error.

    Headline, JSON, the plan's document and the exit status all go by it.
    """
    return "does-not-fit" if any(finding.severity == "error" for finding in findings) else placing

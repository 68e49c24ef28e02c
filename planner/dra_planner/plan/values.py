"""A request for a plan, and the plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Final

from dra_planner.errors import Diagnostic
from dra_planner.model import (
    NO_GUARDS,
    Demand,
    DemandLevel,
    DeviceClass,
    Figures,
    Guards,
    Reason,
    SharedLimit,
    Verdict,
    WorkloadRef,
    worst,
)
from dra_planner.sources import Source

if TYPE_CHECKING:
    from dra_planner.fleet import Fleet
    from dra_planner.manifests import Manifests
    from dra_planner.offers import Offer
    from dra_planner.plan.demand.device_demand import DeviceDemand
    from dra_planner.plan.hindrances.hindrance import Hindrance
    from dra_planner.plan.judgement.guarded import Guarded
    from dra_planner.plan.judgement.judgement import Judgement
    from dra_planner.sizing import DeviceCount

STEPS_PER_SECOND: Final = 100_000
"""How many steps of a simulation an ordinary core takes in a second, so that a time can be given;
no clock is read.
"""
SIMULATED_STEPS: Final = 2 * STEPS_PER_SECOND
MISSING_POOL: Final = "pool-missing"
"""The code of a reason that says what the fleet lacks."""
MAY_RUN_OUT: Final = "addresses-may-run-out"
"""The code of the finding that a quota of addresses may not be enough."""

FILE_NOT_READ: Final = "file-not-read"
"""The code of the finding that a file can't be read."""
DEVICES_CONTESTED: Final = "devices-contested"
"""The code of the finding that it isn't known whether two pods get one device."""
DOUBTS: Final = frozenset({MAY_RUN_OUT, FILE_NOT_READ, DEVICES_CONTESTED})
"""The codes of findings for which the verdict is *cannot tell*, although all pods are placed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What to plan: workloads on a fleet's pools, on the nodes of a snapshot (`observed`), or, with
    both, on these and so many more of the pools as it takes.

    `kubernetes` judges for another release than the fleet's. `paths` is what the workloads were
    read from, for the record. `level` is the demand that pools are sized for. `steps` is how much
    may be simulated; 0 leaves it out. `devices_only` leaves out what the pools of the fleet are not
    there for: see `DeviceDemand`. `with_fixes` looks for cheaper ways to place everything where the
    packing is not enough. `compares_placements` also simulates a plan with guards without them, to
    tell what they are worth.
    """

    sources: tuple[Source, ...]
    fleet: Fleet | None = None
    observed: tuple[Source, ...] = ()
    kubernetes: str = ""
    paths: tuple[str, ...] = ()
    level: DemandLevel = "steady"
    steps: int = SIMULATED_STEPS
    devices_only: bool = False
    with_fixes: bool = True
    compares_placements: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRange:
    """What a pool is created with."""

    minimum: int
    desired: int
    maximum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPool:
    """One pool: the fleet's limits, the three numbers, which of them is built, and what the pool is
    created with.

    `bound` is provably the least, `packing` what the best packing found needs, `simulated` with how
    many the default scheduler places everything in every order tried; None where that was not
    simulated or not found.
    """

    name: str
    machine: str
    minimum: int
    bound: int
    packing: int
    simulated: int | None
    maximum: int
    nodes: NodeRange
    devices: DeviceCount
    hourly_usd: Decimal | None
    zones: tuple[str, ...] = ()
    left: Mapping[str, int] = field(default_factory=dict, hash=False)
    recommended: int = 0
    spare: int = 0  # of those recommended, for nodes that are lost
    existing: int | None = None  # nodes that are there already; None where that was not asked
    # a maximum under which, with those of the other pools, all that some node takes is placed
    enough: int = 0

    @property
    def row(self) -> dict[str, dict[str, int | None]]:
        """Limits, the three numbers, what is built and its devices, by the names they have in
        documents.
        """
        nodes, devices = self.nodes, self.devices
        return {
            "count": {
                "min": self.minimum,
                "bound": self.bound,
                "packing": self.packing,
                "simulated": self.simulated,
                "max": self.maximum,
            },
            "nodes": {"min": nodes.minimum, "desired": nodes.desired, "max": nodes.maximum},
            "devices": {"total": devices.total, "used": devices.used, "stranded": devices.stranded},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUse:
    """What pools share, and how much of it the nodes that are built take."""

    limit: SharedLimit
    used: int


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
    """Price per hour of the planned nodes, and the proved least; `priced_on` is the oldest date of
    a price used.
    """

    hourly_usd: Decimal
    bound_usd: Decimal  # rounded down to a ten-thousandth
    priced_on: str

    @property
    def gap(self) -> Decimal:
        """How much less any plan could cost, as a part of this one; 0 is proved."""
        if self.bound_usd >= self.hourly_usd.quantize(Decimal("0.0001"), ROUND_FLOOR):
            return Decimal(0)
        return 1 - self.bound_usd / self.hourly_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class JointFix:
    """Steps that together let every workload run, and the judgement after them, which says *fits*.

    `more_usd` is the change in price per hour of the nodes that are used, compared with those that
    the plan uses now; None if a price is unknown.
    """

    steps: tuple[str, ...]
    judgement: Judgement
    fleet: Fleet
    more_usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The judgement in the words of a fleet: one verdict (see `overall_verdict`), what each pool is
    created with.
    """

    judgement: Judgement
    verdict: Verdict
    fleet: Fleet | None  # None: on the nodes of a snapshot
    pools: tuple[PlannedPool, ...]
    workloads: tuple[PlannedWorkload, ...]
    cost: Cost | None
    assumptions: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    # what ceiling and peak demand are worse off with; no verdict depends on it
    beside: tuple[Diagnostic, ...] = ()
    inputs: Mapping[str, object] = field(default_factory=dict, hash=False)
    # what it was made from, for rules
    manifests: Manifests | None = field(default=None, compare=False)
    placing: Verdict | None = None  # the verdict without hindrances, if there are any
    # what keeps pods from running although their devices fit
    hindrances: tuple[Hindrance, ...] = ()
    # with `devices_only`: what was not judged
    left_out: DeviceDemand | None = field(default=None, compare=False)
    limits: tuple[LimitUse, ...] = ()  # of the fleet, as far as they concern its pools
    guarded: Guarded | None = None  # the guards of the plan, and the plan without them
    joint_fix: JointFix | None = field(default=None, compare=False)  # of all misfits together

    @property
    def guards(self) -> Guards:
        """The guards of the plan; none if the scheduler is left as it is."""
        return NO_GUARDS if self.guarded is None else self.guarded.guards

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What reading and planning found, and what keeps pods from running."""
        return (*self.diagnostics, *(each.diagnostic for each in self.hindrances))

    @property
    def level(self) -> DemandLevel:
        """The demand that pools are sized for."""
        return self.judgement.level

    @property
    def kubernetes(self) -> str:
        """The release that it was judged for: "1.34"."""
        return self.judgement.features.version

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What the nodes of each pool offer."""
        return self.judgement.offers

    @property
    def classes(self) -> Mapping[str, DeviceClass]:
        """The DeviceClasses of the cluster by name."""
        return self.judgement.classes

    @property
    def demand(self) -> Demand:
        """What the workloads ask for."""
        return self.judgement.demand

    @property
    def nodes_bound(self) -> int:
        """The fewest nodes of all pools together that could do; proved."""
        return self.judgement.sizing.nodes_bound

    @property
    def pods(self) -> int:
        """Pods of all workloads at the level judged, with what rollouts add; those that nothing
        bounds are left out.
        """
        return sum(
            max(each.figures.at(self.level) or 0, each.placed + each.pending)
            for each in self.workloads
        )

    def verdict_at(self, level: DemandLevel) -> Verdict:
        """Return the verdict for one level of demand: the plan's own for the level judged."""
        if level == self.level:
            return self.verdict
        placing = worst(
            (
                *(each.verdicts[level] for each in self.workloads),
                *(h.verdict for h in self.hindrances),
            )
        )
        return overall_verdict(placing, self.diagnostics)

    @property
    def method(self) -> str:
        """Name of the packing that gave the plan."""
        return self.judgement.sizing.method

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
    """Return the one verdict of a plan: what placing its pods says, and *does not fit* if a
    finding is an error.

    Addresses that may run out, files that can't be read, and devices of two allocators are doubts.
    Headline, JSON, the plan's document, and the exit status all go by it.
    """
    found = tuple(findings)
    if any(finding.severity == "error" and finding.code not in DOUBTS for finding in found):
        return "does-not-fit"
    if placing == "fits" and any(finding.code in DOUBTS for finding in found):
        return "cannot-tell"
    return placing

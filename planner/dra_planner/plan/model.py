"""The values of a plan: its request and its result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from dra_planner.errors import FILE_NOT_READ, Diagnostic
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
from dra_planner.records import equality
from dra_planner.sources import Source
from dra_planner.wording import price_change

if TYPE_CHECKING:
    from dra_planner.claims.raised_quotas import RaisedQuota
    from dra_planner.fleet import Fleet
    from dra_planner.manifests import Manifests
    from dra_planner.offers import Offer
    from dra_planner.plan.blockers.blocker import Blocker
    from dra_planner.plan.demand.device_demand import DeviceDemand
    from dra_planner.plan.judgement.guarded import Guarded
    from dra_planner.plan.judgement.judgement import Judgement
    from dra_planner.sizing import DeviceCount

STEPS_PER_SECOND: Final = 100_000
"""Simulation steps per second on an ordinary core, to convert a time limit without reading a
clock.
"""
SIMULATED_STEPS: Final = 2 * STEPS_PER_SECOND
MISSING_POOL: Final = "pool-missing"
"""The code of a reason about a missing pool or setting of the fleet."""
MAY_RUN_OUT: Final = "addresses-may-run-out"
"""The code of the finding about an address quota that may be too small."""

DEVICES_CONTESTED: Final = "devices-contested"
GUARDS_OUTDATED: Final = "guards-outdated"
"""The code of the finding about two pods that might get the same device."""
DOUBTS: Final = frozenset({MAY_RUN_OUT, FILE_NOT_READ, DEVICES_CONTESTED, GUARDS_OUTDATED})
"""The codes of findings that make the verdict *cannot tell*, although all pods are placed."""


class PlanRequest(Struct, frozen=True, kw_only=True):
    """The request for a plan: workloads on a fleet's pools, on the nodes of a snapshot
    (`observed`), or both: on these nodes and as many additional nodes of the pools as needed.

    `kubernetes` is a Kubernetes version other than the fleet's. `paths` are the sources of the
    workloads, which the plan records. `level` is the demand that pools are sized for. `steps`
    limits the simulation. 0 disables it. `devices_only` excludes demand that isn't meant for the
    fleet's pools (see `DeviceDemand`). `with_fixes` searches for cheaper ways to place all pods if
    the packing doesn't suffice. `compares_placements` also simulates a plan without its guards, to
    report their benefit.
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


class NodeRange(Struct, frozen=True, kw_only=True):
    """The initial size of a pool."""

    minimum: int
    desired: int
    maximum: int


@equality(unhashed=("left",))
class PlannedPool(Struct, frozen=True, kw_only=True):
    """One pool: the fleet's limits, the three node counts, the built count, and the pool's initial
    size.

    `bound` is the proven minimum, `packing` is the number of nodes in the best packing found, and
    `simulated` is the number with which the default scheduler places all pods in every simulated
    order (None if it wasn't simulated or found).
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
    left: Mapping[str, int] = {}
    recommended: int = 0
    spare: int = 0  # number of recommended nodes that are spare nodes for failures
    # number of existing nodes; None if the plan isn't for a snapshot with a fleet
    existing: int | None = None
    # a sufficient maximum: with all pools at these values, every pod that fits some node is placed
    enough: int = 0

    @property
    def row(self) -> dict[str, dict[str, int | None]]:
        """The limits, the three node counts, built nodes, and devices, with their names in
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


class LimitUse(Struct, frozen=True, kw_only=True):
    """A limit that pools share, and its use by the built nodes."""

    limit: SharedLimit
    used: int


@equality(unhashed=("verdicts",))
class PlannedWorkload(Struct, frozen=True, kw_only=True):
    """A workload at the plan's level, and its verdicts at every level."""

    workload: WorkloadRef
    figures: Figures
    placed: int
    pending: int
    verdicts: Mapping[DemandLevel, Verdict]
    placements: tuple[tuple[str, int], ...]
    fits: tuple[tuple[str, Verdict], ...]
    reasons: tuple[Reason, ...]
    assumptions: tuple[str, ...] = ()


class Cost(Struct, frozen=True, kw_only=True):
    """Price per hour of the planned nodes, and its proven minimum.

    `priced_on` is the date of the oldest used price.
    """

    hourly_usd: Decimal
    bound_usd: Decimal  # rounded down to four decimal places
    priced_on: str

    @property
    def gap(self) -> Decimal:
        """The maximum savings of any other plan, as a share of this plan's price. 0 means proven
        optimal.
        """
        if self.bound_usd >= self.hourly_usd.quantize(Decimal("0.0001"), ROUND_FLOOR):
            return Decimal(0)
        return 1 - self.bound_usd / self.hourly_usd


class JointFix(Struct, frozen=True, kw_only=True):
    """Steps with which all workloads fit, and the judgement after these steps.

    `demand` is the changed demand without guards. `more_usd` is the change in the price per hour of
    all used nodes; None if a price is unknown. `rollout_usd` is the same with the nodes of all
    additional pods of rollouts. `repeated` is the same change, as the text for each workload whose
    pools are too small. `quotas` are the raised limits of ResourceQuotas.
    """

    steps: tuple[str, ...]
    demand: Demand
    judgement: Judgement
    fleet: Fleet | None  # None if the nodes come from a snapshot
    more_usd: Decimal | None
    rollout_usd: Decimal | None = None
    repeated: str = ""
    quotas: tuple[RaisedQuota, ...] = ()

    @property
    def most_usd(self) -> Decimal | None:
        """The change in the price during rollouts, which isn't less than before them."""
        if self.more_usd is None or self.rollout_usd is None:
            return None
        return max(self.more_usd, self.rollout_usd)

    @property
    def cost(self) -> str:
        """The change in the price, and the larger one during rollouts."""
        more, most = self.more_usd, self.most_usd
        if most is None or most == more:
            return price_change(more)
        return f"{price_change(more)}; during rollouts, up to {price_change(most)}"


@equality(ignored=("manifests", "left_out", "joint_fix"), unhashed=("inputs",))
class Plan(Struct, frozen=True, kw_only=True):
    """The result of a plan in terms of the fleet: one verdict (see `overall_verdict`), and each
    pool's initial size.
    """

    judgement: Judgement
    placing: Verdict  # whether the pods can be placed, without blockers and rollouts
    fleet: Fleet | None  # None if the nodes come from a snapshot
    pools: tuple[PlannedPool, ...]
    workloads: tuple[PlannedWorkload, ...]
    cost: Cost | None
    assumptions: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    # findings about rollouts, and about ceiling and peak demand; only stalled rollouts are errors
    beside: tuple[Diagnostic, ...] = ()
    # warnings of the rules about its objects, which don't affect any verdict either
    advice: tuple[Diagnostic, ...] = ()
    inputs: Mapping[str, object] = {}
    # the inputs of the plan, for rules
    manifests: Manifests | None = None
    # causes that prevent pods from running although their devices fit
    blockers: tuple[Blocker, ...] = ()
    # the pods that weren't evaluated (with `devices_only`)
    left_out: DeviceDemand | None = None
    limits: tuple[LimitUse, ...] = ()  # assumptions of the fleet that affect its pools
    guarded: Guarded | None = None  # the guards of the plan, and the result without guards
    joint_fix: JointFix | None = None  # the common fix for all workloads that don't fit

    @property
    def guards(self) -> Guards:
        """The guards of the plan, empty if the scheduler is unchanged."""
        return NO_GUARDS if self.guarded is None else self.guarded.guards

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Findings of reading and planning, and blockers."""
        return (*self.diagnostics, *(each.diagnostic for each in self.blockers))

    @property
    def verdict(self) -> Verdict:
        """The verdict of the headline, JSON, the plan file, and the exit status: *does not fit* if
        a rollout never finishes, or otherwise the verdict of the pods.
        """
        return "does-not-fit" if self.stalled else self.running

    @property
    def running(self) -> Verdict:
        """The verdict of the pods, without rollouts."""
        return worst((self.placing, *(each.verdict for each in self.blockers)))

    @property
    def stalled(self) -> tuple[str, ...]:
        """The workloads that can run, but whose rollouts never finish."""
        errors = (each for each in self.beside if each.severity == "error")
        return tuple(name for each in errors for name in each.subjects)

    @property
    def level(self) -> DemandLevel:
        """The level of demand that pools are sized for."""
        return self.judgement.level

    @property
    def kubernetes(self) -> str:
        """The Kubernetes version of the plan, for example "1.34"."""
        return self.judgement.features.version

    @property
    def offers(self) -> tuple[Offer, ...]:
        """The offers of the pools' nodes."""
        return self.judgement.offers

    @property
    def classes(self) -> Mapping[str, DeviceClass]:
        """The DeviceClasses of the cluster by name."""
        return self.judgement.classes

    @property
    def demand(self) -> Demand:
        """The demand of the workloads."""
        return self.judgement.demand

    @property
    def nodes_bound(self) -> int:
        """The proven minimum number of nodes in all pools together."""
        return self.judgement.sizing.nodes_bound

    @property
    def pods(self) -> int:
        """Number of pods at the evaluated level, including rollouts, without workloads of unlimited
        size.
        """
        return sum(
            max(each.figures.at(self.level) or 0, each.placed + each.pending)
            for each in self.workloads
        )

    def verdict_at(self, level: DemandLevel) -> Verdict:
        """Return the verdict of the pods at one level of demand."""
        if level == self.level:
            return self.running
        placing = worst(
            (
                *(each.verdicts[level] for each in self.workloads),
                *(h.verdict for h in self.blockers),
            )
        )
        return overall_verdict(placing, self.diagnostics)

    @property
    def method(self) -> str:
        """Name of the packing method of the plan."""
        return self.judgement.sizing.method

    def pool(self, name: str) -> PlannedPool:
        """Return the pool with that name. Raises KeyError."""
        for pool in self.pools:
            if pool.name == name:
                return pool
        raise KeyError(name)

    def workload(self, kind: str, namespace: str, name: str) -> PlannedWorkload:
        """Return the workload with that name. Raises KeyError."""
        for each in self.workloads:
            if each.workload == (kind, namespace, name):
                return each
        raise KeyError(f"{kind} {namespace}/{name}")


def overall_verdict(placing: Verdict, findings: Iterable[Diagnostic]) -> Verdict:
    """Return the overall verdict of a plan: the result of placing its pods, or *does not fit* if a
    finding is an error.

    Addresses that might run out, unreadable files, devices with two allocators, and guards of
    another plan change it to *cannot tell*. The headline, JSON, the plan file, and the exit status
    use this verdict.
    """
    found = tuple(findings)
    if any(finding.severity == "error" and finding.code not in DOUBTS for finding in found):
        return "does-not-fit"
    if placing == "fits" and any(finding.code in DOUBTS for finding in found):
        return "cannot-tell"
    return placing

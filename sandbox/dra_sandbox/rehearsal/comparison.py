"""Compare plan, simulation, and outcome, and explain each difference or mark it as unexplained."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan, PlannedWorkload
from dra_planner.wording import counted
from dra_sandbox.rehearsal.differences import (
    REASONS,
    OutcomeDifference,
    ReasonCode,
    deviation,
    enough_runs,
)
from dra_sandbox.rehearsal.outcome import RehearsalOutcome, RehearsedWorkload
from dra_sandbox.rehearsal.scenarios import ScenarioOutcome
from dra_sandbox.rehearsal.simulation import Simulated, SimulatedWorkload

_OF_ORDER = frozenset({"one-pod-at-a-time", "who-goes-without"})
_WAITING = frozenset({"pod-waits-for-others", "scheduler-not-defined"})
_MISSING = frozenset(
    {
        "reference-not-found",
        "object-not-defined",
        "priority-class-not-found",
        "runtime-class-not-found",
    }
)
_NEVER_STARTED = frozenset({"claim-not-prepared", "object-not-defined"})
"""The codes of pods that the scheduler places, but that never start."""


class ComparedWorkload(Struct, frozen=True):
    """One workload: its wanted pods, the predictions of plan and simulation, the outcome, and the
    reasons for differences.

    `difference` is between plan and outcome, and `deviation` between simulation and outcome.
    """

    wanted: int
    planned: PlannedWorkload | None
    outcome: RehearsedWorkload
    difference: OutcomeDifference | None = None
    simulated: SimulatedWorkload | None = None
    deviation: OutcomeDifference | None = None

    @property
    def pending(self) -> int:
        """Number of pods without a node, including pods that weren't created."""
        return max(self.wanted, len(self.outcome.pods)) - self.outcome.placed

    @property
    def is_unexplained(self) -> bool:
        """True if a difference has no known reason."""
        return any(
            each is not None and each.reason == "unexplained"
            for each in (self.difference, self.deviation)
        )


class Comparison(Struct, frozen=True):
    """A rehearsal: the plan, the outcome, and a row for each workload, in arrival order.

    `notes` are sentences about omitted objects and invented values. `seconds` is the time from the
    first workload to the last verdict. `scenarios` contains the outcomes of the scenarios, in
    order.
    """

    plan: Plan
    outcome: RehearsalOutcome
    rows: tuple[ComparedWorkload, ...]
    order: str
    release: str
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    scenarios: tuple[ScenarioOutcome, ...] = ()

    @property
    def pending(self) -> int:
        """Number of pods without a node in all workloads."""
        return sum(row.pending for row in self.rows)

    @property
    def unexplained(self) -> tuple[ComparedWorkload, ...]:
        """The rows whose difference has no known reason."""
        return tuple(row for row in self.rows if row.is_unexplained)


def compare(
    plan: Plan,
    outcome: RehearsalOutcome,
    room_left: Mapping[WorkloadRef, int],
    runs: Iterable[Simulated],
    *,
    one_by_one: bool,
    idle: Collection[WorkloadRef] = (),
) -> tuple[ComparedWorkload, ...]:
    """Return a row for each workload.

    `room_left` is the number of pending pods of each workload for which the planner finds a place
    on the final nodes. If it finds one, planner and scheduler disagree about the rules, not about
    the order. `runs` are the simulated results, first without random choices, then with other
    tie-breaking. Additional runs are computed only if the first differs from the outcome, until one
    run explains the difference. `idle` are the workloads of `find_idle`, which the simulation
    omits.
    """
    planned = {each.workload: each for each in plan.workloads}
    taken = enough_runs(runs, outcome.workloads, one_by_one=one_by_one)
    short = any(not pod.node for each in outcome.workloads for pod in each.pods) or any(
        each.refused and each.placed < planned[each.workload].placed
        for each in outcome.workloads
        if each.workload in planned
    )
    shared = any(each.pending for each in plan.workloads) and sum(
        each.placed for each in outcome.workloads
    ) >= sum(each.placed for each in plan.workloads)
    sharing = set(_sharing(plan))
    stuck = _stuck_on(outcome, planned)
    crowded = {pool for pools in stuck.values() for pool in pools}
    rows: list[ComparedWorkload] = []
    for each in outcome.workloads:
        known, simulated = planned.get(each.workload), taken[0].get(each.workload)
        wanted = known.placed + known.pending if known is not None else len(each.pods)
        row = ComparedWorkload(wanted, known, each, simulated=simulated)
        room = room_left.get(each.workload, 0)
        shares = each.workload in sharing
        difference = _difference(row, room, decided=outcome.decided, short=short, shares=shares)
        if shared and difference is not None and difference.reason == "one-pod-at-a-time":
            difference = OutcomeDifference("who-goes-without")
        away = (
            None
            if simulated is None or not outcome.decided
            else deviation(each, taken, one_by_one=one_by_one)
        )
        if each.workload in idle and not each.placed:
            kind: ReasonCode = "refused-as-planned" if each.refused else "waits-for-others"
            rows.append(replace(row, difference=OutcomeDifference(kind, each.refused)))
            continue
        gives_way = each.workload in stuck or _loses_in(crowded, simulated, each)
        if each.workload in stuck or (
            gives_way and difference is not None and difference.reason in _OF_ORDER
        ):
            difference = OutcomeDifference("claim-not-prepared")
        if gives_way and away is not None and away.reason == "unexplained":
            away = OutcomeDifference("claim-not-prepared")
        rows.append(replace(row, difference=difference, deviation=away))
    return tuple(rows)


def _stuck_on(
    outcome: RehearsalOutcome, planned: Mapping[WorkloadRef, PlannedWorkload]
) -> dict[WorkloadRef, Collection[str]]:
    """Return the pools of placed workloads whose claims the nodes never prepare."""
    return {
        each.workload: each.pools.keys()
        for each in outcome.workloads
        if each.placed and _is_never_prepared(planned.get(each.workload))
    }


def find_idle(plan: Plan, refused: Container[WorkloadRef]) -> frozenset[WorkloadRef]:
    """Return the workloads that don't run here, as the plan predicts, although the simulation
    counts their pods. The API server rejected them because an object is missing, or they wait for
    a component that doesn't run.
    """
    return frozenset(
        each.workload
        for each in plan.workloads
        if any(
            reason.code in _WAITING or (reason.code in _MISSING and each.workload in refused)
            for reason in each.reasons
        )
    )


def _loses_in(
    pools: Collection[str], simulated: SimulatedWorkload | None, outcome: RehearsedWorkload
) -> bool:
    """Return True if a workload has fewer pods than simulated in these pools, but not in any other
    pool.
    """
    if simulated is None:
        return False
    lost = {pool for pool, pods in simulated.pools.items() if outcome.pools.get(pool, 0) < pods}
    return bool(lost) and lost <= set(pools)


def _is_never_prepared(planned: PlannedWorkload | None) -> bool:
    """Return True if a driver can't prepare the claims of a workload, or if an object is missing
    that the rehearsal doesn't need.

    The scheduler doesn't know about this.
    """
    return planned is not None and any(each.code in _NEVER_STARTED for each in planned.reasons)


def _sharing(plan: Plan) -> Iterator[WorkloadRef]:
    """Yield the workloads whose pods share a claim."""
    for shape in plan.judgement.demand.shapes:
        if any(claim.shared for claim in shape.claims):
            yield from (member.workload for member in shape.members)


def _difference(
    row: ComparedWorkload, room: int, *, decided: bool, short: bool, shares: bool
) -> OutcomeDifference | None:
    planned, outcome = row.planned, row.outcome
    if planned is None:
        if outcome.refused:
            return OutcomeDifference("refused-as-planned", outcome.refused)
        return (
            OutcomeDifference("unexplained", "the plan doesn't contain this workload")
            if outcome.pods
            else None
        )
    forbidden = [
        pool
        for pool, verdict in planned.fits
        if verdict == "does-not-fit" and outcome.pools.get(pool)
    ]
    # the plan searches for a node on which all of them fit
    if forbidden and shares and row.pending and not room:
        return OutcomeDifference("shared-claim")
    if forbidden:
        return OutcomeDifference(
            "unexplained",
            f"pods run on {', '.join(forbidden)}, although the plan states that they don't "
            "fit on these pools",
        )
    if room:
        found = f"according to the plan, {room} of the pending pods fit on the current nodes"
        return OutcomeDifference("unexplained", found)
    if outcome.placed == planned.placed and row.pending == planned.pending:
        same = dict(planned.placements) == dict(outcome.pools)
        return None if same else OutcomeDifference("choice-of-node")
    if not decided:
        return OutcomeDifference("not-decided-in-time")
    if outcome.placed > planned.placed:
        return _better(planned, short=short)
    return _worse(row, planned)


def _better(planned: PlannedWorkload, *, short: bool) -> OutcomeDifference:
    """Return the reason why more pods are placed than planned. `short` is True if other pods are
    pending instead.
    """
    if planned.verdicts.get("steady") != "cannot-tell":
        if short:
            return OutcomeDifference("who-goes-without")
        pods = counted(planned.pending, "pod")
        return OutcomeDifference("unexplained", f"according to the plan, {pods} can't be placed")
    undecided = any(verdict == "cannot-tell" for _, verdict in planned.fits)
    return OutcomeDifference("decided-by-unknown" if undecided else "packing-not-found")


def _worse(row: ComparedWorkload, planned: PlannedWorkload) -> OutcomeDifference:
    """Return the reason why fewer pods are placed than planned."""
    outcome = row.outcome
    if outcome.refused:
        return OutcomeDifference("pods-refused", outcome.refused)
    if any(verdict == "cannot-tell" for _, verdict in planned.fits):
        return OutcomeDifference("decided-by-unknown")
    created = len(outcome.pods)
    if created < row.wanted:
        if planned.workload.kind == "StatefulSet" and outcome.placed < created:
            return OutcomeDifference("ordered-start", REASONS["one-pod-at-a-time"])
        return OutcomeDifference("unexplained", f"only {created} of {row.wanted} pods were created")
    if any(not pod.is_judged for pod in outcome.pods):
        return OutcomeDifference("unexplained", "the scheduler hasn't tried every pod")
    return OutcomeDifference("one-pod-at-a-time")

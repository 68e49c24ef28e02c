"""Plan and outcome side by side: every difference with the reason for it, or as one that nobody has explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan, PlannedWorkload
from dra_sandbox.rehearsal.outcome import Outcome, WorkloadOutcome

ReasonCode = Literal[
    "one-pod-at-a-time",
    "choice-of-node",
    "packing-not-found",
    "decided-by-unknown",
    "ordered-start",
    "pods-refused",
    "refused-as-planned",
    "not-decided-in-time",
    "unexplained",
]

REASONS: Mapping[ReasonCode, str] = {
    "one-pod-at-a-time": "The scheduler takes pods one at a time and never moves one: pods stay pending although "
    "a packing of all exists, and on the nodes as they are now the plan finds no place for them either.",
    "choice-of-node": "Several pools take these pods; the scheduler scores nodes where the plan packs them.",
    "packing-not-found": "The plan could not tell: it proved no packing, and the scheduler found one.",
    "decided-by-unknown": "The plan could not tell: it depends on values that only the node knows, invented here.",
    "ordered-start": "A StatefulSet starts its pods one after the other: those behind a pending pod are not created.",
    "pods-refused": "The API server refused to create pods: a quota, a limit or an admission rule.",
    "refused-as-planned": "The API server refuses the object, as the plan says.",
    "not-decided-in-time": "The time limit was reached before the scheduler had judged every pod.",
    "unexplained": "Plan and scheduler disagree, and none of the known reasons explains it: please report it.",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """Why a workload's outcome is not what the plan says; `detail` adds what is particular to it."""

    reason: ReasonCode
    detail: str = ""

    @property
    def message(self) -> str:
        """The reason in a sentence, and the detail."""
        return f"{REASONS[self.reason]} {self.detail}".rstrip()


@dataclass(frozen=True, slots=True)
class WorkloadRow:
    """One workload: how many pods it is to have, what the plan says, what became of it, and why that differs."""

    wanted: int
    planned: PlannedWorkload | None
    outcome: WorkloadOutcome
    difference: Difference | None = None

    @property
    def pending(self) -> int:
        """Pods without a node, those included that were not created."""
        return max(self.wanted, len(self.outcome.pods)) - self.outcome.placed


@dataclass(frozen=True, slots=True)
class Comparison:
    """A rehearsal: the plan, the outcome, and a row for each workload in order of arrival.

    `notes` are sentences about what was left out or invented; `seconds` from the first workload to the last verdict.
    """

    plan: Plan
    outcome: Outcome
    rows: tuple[WorkloadRow, ...]
    order: str
    release: str
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def pending(self) -> int:
        """Pods of all workloads that have no node."""
        return sum(row.pending for row in self.rows)

    @property
    def unexplained(self) -> tuple[WorkloadRow, ...]:
        """The rows whose difference has no known reason."""
        return tuple(row for row in self.rows if row.difference and row.difference.reason == "unexplained")


def compare(plan: Plan, outcome: Outcome, room_left: Mapping[WorkloadRef, int]) -> tuple[WorkloadRow, ...]:
    """Return a row for each workload.

    `room_left` says for how many pending pods of a workload the planner finds a place on the nodes as they are at the
    end: where it finds one, planner and scheduler disagree about the rules, not about the order.
    """
    planned = {each.workload: each for each in plan.workloads}
    return tuple(
        _row(planned.get(each.workload), each, room_left.get(each.workload, 0), decided=outcome.decided)
        for each in outcome.workloads
    )


def _row(planned: PlannedWorkload | None, outcome: WorkloadOutcome, room: int, *, decided: bool) -> WorkloadRow:
    wanted = planned.placed + planned.pending if planned is not None else len(outcome.pods)
    row = WorkloadRow(wanted, planned, outcome)
    return WorkloadRow(wanted, planned, outcome, _difference(row, room, decided=decided))


def _difference(row: WorkloadRow, room: int, *, decided: bool) -> Difference | None:
    planned, outcome = row.planned, row.outcome
    if planned is None:
        if outcome.refused:
            return Difference("refused-as-planned", outcome.refused)
        return Difference("unexplained", "the plan does not know this workload") if outcome.pods else None
    forbidden = [pool for pool, verdict in planned.fits if verdict == "does-not-fit" and outcome.pools.get(pool)]
    if forbidden:
        return Difference("unexplained", f"pods run on {', '.join(forbidden)}, which the plan says cannot take them")
    if room:
        found = f"the plan finds a place for {room} of the pending pods on the nodes as they are now"
        return Difference("unexplained", found)
    if outcome.placed == planned.placed and row.pending == planned.pending:
        same = dict(planned.placements) == dict(outcome.pools)
        return None if same else Difference("choice-of-node")
    if not decided:
        return Difference("not-decided-in-time")
    if outcome.placed > planned.placed:
        return _better(planned)
    return _worse(row, planned)


def _better(planned: PlannedWorkload) -> Difference:
    """More pods are placed than the plan says."""
    if planned.verdicts.get("steady") != "cannot-tell":
        return Difference("unexplained", f"the plan says that {planned.pending} pods cannot be placed")
    undecided = any(verdict == "cannot-tell" for _, verdict in planned.fits)
    return Difference("decided-by-unknown" if undecided else "packing-not-found")


def _worse(row: WorkloadRow, planned: PlannedWorkload) -> Difference:
    """Fewer pods are placed than the plan says."""
    outcome = row.outcome
    if outcome.refused:
        return Difference("pods-refused", outcome.refused)
    if any(verdict == "cannot-tell" for _, verdict in planned.fits):
        return Difference("decided-by-unknown")
    created = len(outcome.pods)
    if created < row.wanted:
        if planned.workload.kind == "StatefulSet" and outcome.placed < created:
            return Difference("ordered-start", REASONS["one-pod-at-a-time"])
        return Difference("unexplained", f"only {created} of {row.wanted} pods were created")
    if any(not pod.is_judged for pod in outcome.pods):
        return Difference("unexplained", "the scheduler has not judged every pod")
    return Difference("one-pod-at-a-time")

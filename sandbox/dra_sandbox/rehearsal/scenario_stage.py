"""The cluster of a rehearsal after its workloads are placed. Scenarios run on it in order."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan
from dra_sandbox.control_plane import ApiServer
from dra_sandbox.rehearsal.cluster import PlannedCluster
from dra_sandbox.rehearsal.differences import OutcomeDifference, deviation, enough_runs
from dra_sandbox.rehearsal.outcome import RehearsedWorkload, read_outcome
from dra_sandbox.rehearsal.scenario_changes import CHANGES, RehearsedCluster, ScenarioChange
from dra_sandbox.rehearsal.scenarios import RehearsalScenario, ScenarioOutcome, ScenarioRow
from dra_sandbox.rehearsal.scheduler_decisions import Decisions
from dra_sandbox.rehearsal.simulation import Simulated, SimulatedWorkload, Simulation
from dra_sandbox.rehearsal.workloads import Arrival, made_by, workload_of

Json = dict[str, Any]


class RehearsalStage(Struct):
    """The cluster of a rehearsal between two scenarios: its nodes, and the last applied
    workloads.
    """

    server: ApiServer
    decisions: Decisions
    plan: Plan
    cluster: PlannedCluster
    first: tuple[Json, ...]
    arrivals: list[Arrival]
    wanted: dict[WorkloadRef, int]
    within_seconds: float
    played: int = 0

    @property
    def refs(self) -> tuple[WorkloadRef, ...]:
        """The workloads in arrival order."""
        return tuple(arrival.workload for arrival in self.arrivals)

    def play(self, scenario: RehearsalScenario) -> ScenarioOutcome:
        """Run the scenario, and return the outcome of the workloads.

        Raises UnknownSubject if the subject doesn't exist, and Refused if the API server rejects a
        change.
        """
        started = time.monotonic()
        before = Counter(
            workload_of(pod) for pod in self.decisions.pods if pod["spec"].get("nodeName")
        )
        change = CHANGES[scenario.kind](self._standing(), scenario.subject)
        self.wanted.update(change.wanted)
        after = {ref: self.wanted.get(ref, 0) for ref in self.refs}
        gone = {(each["metadata"]["namespace"], each["metadata"]["name"]) for each in change.gone}
        self.cluster, self.arrivals = (
            change.cluster,
            [_without(arrival, gone) for arrival in change.arrivals],
        )
        self.played += 1
        simulation = self._simulation(change)
        first = simulation.run()
        change.act()
        decided = self.decisions.wait(
            lambda pods: change.is_done(pods) and _has(pods, after), self.within_seconds
        )
        outcome = read_outcome(
            self.refs, self.decisions.pods, self.decisions.claims, self.cluster, {}, decided=decided
        )
        rows = tuple(
            _rows(outcome.workloads, before, after, first, simulation, change.without_controller)
        )
        return ScenarioOutcome(scenario, change.event, rows, decided, time.monotonic() - started)

    def _standing(self) -> RehearsedCluster:
        return RehearsedCluster(
            server=self.server,
            pods=self.decisions.pods,
            plan=self.plan,
            cluster=self.cluster,
            first=self.first,
            arrivals=self.arrivals,
            rollouts=self.played,
        )

    def _simulation(self, change: ScenarioChange) -> Simulation:
        return Simulation.of(
            change.after,
            [*self.first, *(each for arrival in self.arrivals for each in arrival.objects)],
            kubernetes=self.plan.kubernetes,
            refs=self.refs,
            made_by=made_by(self.arrivals),
            pool_of=self.cluster.pool_of,
            one_by_one=False,
            guards=self.plan.guards,
        )


def _without(arrival: Arrival, gone: set[tuple[str, str]]) -> Arrival:
    """Return the arrival without the bare pods that are permanently lost."""
    kept = tuple(
        each for each in arrival.objects if each["kind"] != "Pod" or _key(each) not in gone
    )
    return replace(arrival, objects=kept)


def _key(item: Json) -> tuple[str, str]:
    return item["metadata"].get("namespace") or "default", item["metadata"].get("name", "")


def _rows(
    outcomes: Iterable[RehearsedWorkload],
    before: Mapping[WorkloadRef, int],
    wanted: Mapping[WorkloadRef, int],
    first: Simulated,
    simulation: Simulation,
    without_controller: frozenset[WorkloadRef],
) -> Iterator[ScenarioRow]:
    found = list(outcomes)
    runs = enough_runs(chain([first], simulation.further()), found, one_by_one=False)
    for each in found:
        ref = each.workload
        pods = len(each.pods) if ref.kind == "DaemonSet" else wanted.get(ref, 0)
        row = ScenarioRow(before.get(ref, 0), pods, each, first.get(ref, SimulatedWorkload()))
        away = deviation(each, runs, one_by_one=False)
        if ref in without_controller:
            away = OutcomeDifference("no-controller")
        yield replace(row, deviation=away)


def _has(pods: Iterable[Json], wanted: Mapping[WorkloadRef, int]) -> bool:
    found = Counter(workload_of(pod) for pod in pods)
    return all(found[ref] >= count for ref, count in wanted.items() if ref.kind != "DaemonSet")

"""Run a rehearsal: create the plan's cluster, apply its workloads, and read the outcome."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source
from dra_planner.wording import counted, listed, verb
from dra_sandbox.control_plane import ApiRejection, ApiServer, ControlPlane
from dra_sandbox.rehearsal.cluster import PlannedCluster, planned_cluster
from dra_sandbox.rehearsal.comparison import Comparison, compare, find_idle
from dra_sandbox.rehearsal.controller_delays import RETRY_SECONDS, wait_for_quotas
from dra_sandbox.rehearsal.guards import apply_guards, patch_workloads
from dra_sandbox.rehearsal.outcome import read_outcome
from dra_sandbox.rehearsal.scenario_stage import RehearsalStage
from dra_sandbox.rehearsal.scenarios import RehearsalScenario
from dra_sandbox.rehearsal.scheduler_decisions import Decisions, PendingWork
from dra_sandbox.rehearsal.simulation import Simulated, Simulation, written
from dra_sandbox.rehearsal.snapshot import take_pods_alone
from dra_sandbox.rehearsal.workload_removal import clear_workloads
from dra_sandbox.rehearsal.workloads import (
    DOCUMENT_ORDER,
    Arrival,
    WorkloadOrder,
    Workloads,
    made_by,
    read_workloads,
    workload_of,
)

Json = dict[str, Any]

_THREADS: Final = 8


class RehearsalRequest(Struct, frozen=True, kw_only=True):
    """The input of a rehearsal: a plan for a fleet, and its manifests.

    With `one_by_one`, each workload is applied after every earlier pod has a node or is
    unschedulable. Otherwise, all workloads are applied at once. Afterward, the `scenarios` run in
    order.
    """

    plan: Plan
    sources: tuple[Source, ...]
    order: WorkloadOrder = DOCUMENT_ORDER
    one_by_one: bool = False
    within_seconds: float = 180
    scenarios: tuple[RehearsalScenario, ...] = ()


class Where(Struct, frozen=True):
    """A cluster for the rehearsal: its API server, its version such as "1.36.3", and the
    scheduler's queues, if they can be read.
    """

    server: ApiServer
    release: str
    load: PendingWork | None = None

    @classmethod
    def of(cls, plane: ControlPlane) -> Where:
        """Return the sandbox's own control plane as a cluster for the rehearsal."""
        return cls(ApiServer.of(plane), plane.version, PendingWork(plane))


def rehearse(where: ControlPlane | Where, request: RehearsalRequest) -> Comparison:
    """Return the outcome of the workloads on an empty cluster, compared with the plan.

    Raises ApiRejection if the API server rejects the cluster's objects, ControlPlaneError if the
    control plane doesn't answer, and UnknownSubject for a scenario with an unknown name.
    """
    return next(iter(rehearse_in_turn(where, [request])))


def rehearse_in_turn(
    where: ControlPlane | Where, requests: Sequence[RehearsalRequest]
) -> Iterator[Comparison]:
    """Yield the outcome of each request.

    All requests have the same plan, and all workloads are deleted between two requests. Raises the
    same exceptions as `rehearse`.
    """
    here = where if isinstance(where, Where) else Where.of(where)
    server = here.server
    cluster = planned_cluster(requests[0].plan)
    _create(server, cluster.objects)
    apply_guards(server, requests[0].plan, requests[0].within_seconds)
    for turn, request in enumerate(requests):
        if turn:
            clear_workloads(server)
        decisions = Decisions(server, here.load)
        try:
            decisions.wait_for_nodes(len(cluster.nodes), request.within_seconds)
            yield _rehearse(here, cluster, decisions, request)
        finally:
            decisions.stop()


def _rehearse(
    where: Where, cluster: PlannedCluster, decisions: Decisions, request: RehearsalRequest
) -> Comparison:
    plan, server = request.plan, where.server
    assert plan.manifests is not None, "a saved plan file doesn't contain manifests to apply"
    workloads = patch_workloads(read_workloads(request.sources, plan.manifests, plan.level), plan)
    arrivals = request.order.arrange(workloads.arrivals)
    refs = [arrival.workload for arrival in arrivals]
    started = time.monotonic()
    refused, decided = _arrive(server, decisions, workloads, request)
    seconds = time.monotonic() - started
    refused |= _failed_creations(server, refs)
    idle = find_idle(plan, refused)
    room = _room_left(server, plan, decisions.pods, idle)
    late = len(room)
    if room:
        decisions.wait_for_retry(room, RETRY_SECONDS)
        room = _room_left(server, plan, decisions.pods, idle)
        late -= len(room)
    outcome = read_outcome(
        refs, decisions.pods, decisions.claims, cluster, refused, decided=decided
    )
    running = replace(
        workloads, arrivals=tuple(each for each in workloads.arrivals if each.workload not in idle)
    )
    arrived = [each for each in arrivals if each.workload not in idle]
    runs = _simulated(plan, cluster, running, arrived, one_by_one=request.one_by_one)
    rows = compare(
        plan, outcome, Counter(room.values()), runs, one_by_one=request.one_by_one, idle=idle
    )
    wanted = {row.outcome.workload: row.wanted for row in rows}
    stage = RehearsalStage(
        server, decisions, plan, cluster, workloads.first, arrivals, wanted, request.within_seconds
    )
    return Comparison(
        plan=plan,
        outcome=outcome,
        rows=rows,
        order=f"{request.order}{', one by one' if request.one_by_one else ''}",
        release=where.release,
        notes=tuple(_notes(cluster, workloads, late)),
        seconds=seconds,
        scenarios=tuple(stage.play(scenario) for scenario in request.scenarios),
    )


def _simulated(
    plan: Plan,
    cluster: PlannedCluster,
    workloads: Workloads,
    arrivals: Sequence[Arrival],
    *,
    one_by_one: bool,
) -> Iterator[Simulated]:
    """Return the simulated results for these arrivals, first without random choices, then with
    other tie-breaking.
    """
    simulation = Simulation.of(
        cluster.objects,
        [*workloads.first, *(each for arrival in workloads.arrivals for each in arrival.objects)],
        kubernetes=plan.kubernetes,
        refs=[arrival.workload for arrival in arrivals],
        made_by=made_by(arrivals),
        pool_of=cluster.pool_of,
        one_by_one=one_by_one,
        guards=plan.guards,
    )
    return simulation.runs()


def _create(server: ApiServer, objects: Iterable[Json]) -> None:
    """Create the objects of the cluster in parallel, kind by kind."""
    kinds: dict[str, list[Json]] = {}
    for each in objects:
        kinds.setdefault(each["kind"], []).append(each)
    with ThreadPoolExecutor(_THREADS) as threads:
        for members in kinds.values():
            for done in [threads.submit(server.create, each) for each in members]:
                done.result()


def _arrive(
    server: ApiServer, decisions: Decisions, workloads: Workloads, request: RehearsalRequest
) -> tuple[dict[WorkloadRef, str], bool]:
    """Apply all workloads.

    Return the reasons why workloads were rejected, and whether the scheduler has decided about
    every pod.
    """
    refused: dict[WorkloadRef, str] = {}
    until = time.monotonic() + request.within_seconds
    taken: list[Json] = []
    for each in workloads.first:
        try:
            taken.append(server.apply(each))
        except ApiRejection as problem:
            ref = WorkloadRef(
                each["kind"],
                each["metadata"].get("namespace", ""),
                each["metadata"].get("name", ""),
            )
            refused[ref] = str(problem)
    wait_for_quotas(server, taken, until - time.monotonic())
    wanted = {each.workload: each.placed + each.pending for each in request.plan.workloads}
    arrived: dict[WorkloadRef, int] = {}
    decided = True
    for arrival in request.order.arrange(workloads.arrivals):
        try:
            _apply(server, arrival)
        except ApiRejection as problem:
            refused[arrival.workload] = str(problem)
            continue
        arrived[arrival.workload] = wanted.get(arrival.workload, 0)
        if request.one_by_one:
            decided = decisions.wait(lambda pods: has_all(pods, arrived), until - time.monotonic())
    if not request.one_by_one:
        decided = decisions.wait(lambda pods: has_all(pods, arrived), until - time.monotonic())
    return refused, decided


def _apply(server: ApiServer, arrival: Arrival) -> None:
    if arrival.made_here:
        with ThreadPoolExecutor(_THREADS) as threads:
            for done in [threads.submit(server.create, pod) for pod in arrival.objects]:
                done.result()
        return
    for each in arrival.objects:
        if each["metadata"].get("name"):
            server.apply(each)
        else:
            server.create(each)


def has_all(pods: Sequence[Json], wanted: Mapping[WorkloadRef, int]) -> bool:
    """Return True if every workload has all its pods. A StatefulSet only needs its pods up to the
    first pending one.
    """
    found: Counter[WorkloadRef] = Counter()
    waiting: set[WorkloadRef] = set()
    for pod in pods:
        ref = workload_of(pod)
        found[ref] += 1
        if not pod["spec"].get("nodeName"):
            waiting.add(ref)
    return all(
        found[ref] >= count or (ref.kind == "StatefulSet" and ref in waiting)
        for ref, count in wanted.items()
    )


def _failed_creations(server: ApiServer, refs: Iterable[WorkloadRef]) -> dict[WorkloadRef, str]:
    """Return the errors of controllers that couldn't create pods."""
    failures: dict[WorkloadRef, str] = {}
    events = [
        each for each in server.listed("/api/v1/events")[0] if each.get("reason") == "FailedCreate"
    ]
    for ref in refs if events else ():
        for event in events:
            about = event["involvedObject"]
            name = about.get("name", "")
            if about.get("namespace") == ref.namespace and (
                name == ref.name or name.startswith(f"{ref.name}-")
            ):
                failures[ref] = str(event.get("message", ""))
    return failures


def _room_left(
    server: ApiServer, plan: Plan, pods: Sequence[Json], idle: Container[WorkloadRef]
) -> dict[tuple[str, str], WorkloadRef]:
    """Return the pending pods for which the planner finds a place on the current nodes, by
    workload. `idle` workloads are omitted.
    """
    pending = {
        (each["metadata"]["namespace"], each["metadata"]["name"]): workload_of(each)
        for each in pods
        if not each["spec"].get("nodeName") and workload_of(each) not in idle
    }
    if not pending:
        return {}
    text = written(take_pods_alone(server))
    judged = make_plan(
        PlanRequest(
            sources=(),
            observed=(Source("the rehearsed cluster", text),),
            kubernetes=plan.kubernetes,
        )
    )
    found = {
        (each.workload.namespace, each.workload.name) for each in judged.workloads if each.placed
    }
    return {name: ref for name, ref in pending.items() if name in found}


def _notes(cluster: PlannedCluster, workloads: Workloads, late: int) -> Iterable[str]:
    """Return notes about invented values and omitted objects. `late` pods waited until the
    scheduler retried all pods.
    """
    yield from cluster.invented
    if late:
        pods = f"{counted(late, 'pod')} {verb(late, 'were')}"
        yield (
            f"{pods} placed only when the scheduler retried after 5 minutes, because no event "
            "reported the free capacity"
        )
    kinds = sorted({arrival.workload.kind for arrival in workloads.arrivals if arrival.made_here})
    if kinds:
        yield (
            f"the rehearsal doesn't install the controllers for {listed(kinds)}, "
            "so it created the pods for these workloads itself, as the plan does"
        )
    if workloads.left_out:
        kinds = [f"{count} {kind}" for kind, count in sorted(workloads.left_out.items())]
        yield f"omitted, because these objects don't create pods: {', '.join(kinds)}"

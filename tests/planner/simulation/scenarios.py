"""Plays a scenario on a simulated cluster, one workload after another.

A scenario file contains the existing objects (nodes, slices, classes, and so on), the workloads in
arrival order, and the results of real schedulers for each Kubernetes version.
"""

from __future__ import annotations

from collections import Counter
from itertools import count as numbers
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field

from dra_planner.allocation import Refusal, Undecided
from dra_planner.claims import expand_claims
from dra_planner.model import Blocked, ObjectKey, WorkloadRef
from dra_planner.offers import observe_offers
from dra_planner.plan import read_checked
from dra_planner.releases import Features
from dra_planner.simulation import SETTLED, Simulator, observed_nodes
from dra_planner.simulation.cluster.cluster import SimulatedPod
from dra_planner.simulation.scheduler.scheduling import SchedulingFailure
from dra_planner.simulation.simulator import STEPS, Run
from dra_planner.simulation.workloads.controllers import Controller, Replicas
from dra_planner.simulation.workloads.rollouts import RollingReplicas
from dra_planner.sources import Source

CASES = Path(__file__).parent / "scheduling_cases"
WORKLOADS = {"Pod", "Deployment", "StatefulSet", "Job", "DaemonSet"}
NAMED = {"Pod", "StatefulSet"}  # kinds whose pods have predictable names
Json = dict[str, Any]


class Outcome(Struct):
    """What became of the pods, by workload."""

    placed: Counter[str] = field(default_factory=Counter)
    pending: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Any] = {}
    nodes: dict[str, dict[str, int]] = {}
    devices: list[str] = []


def load(name: str) -> Json:
    return yaml.safe_load((CASES / f"{name}.yaml").read_text())


def play(case: Json, features: Features) -> Outcome:
    """Return what becomes of the scenario's workloads on that release."""
    return _Play(case, features).play()


class FinishingJob(Replicas):
    """A Job whose pods complete as soon as they run, which frees their resources."""

    finished: int = 0

    def delete(self, runs: Any) -> list[SimulatedPod]:
        ended = [pod for pod in self.pods if runs(pod)]
        self.pods = [pod for pod in self.pods if pod not in ended]
        self.finished += len(ended)
        self.wanted -= len(ended)
        return ended


class _Play:
    def __init__(self, case: Json, features: Features) -> None:
        given, when = _documents(case["given"]), _documents(case["when"])
        latest = {(d["kind"], _key(d)): d for d in when}
        self.events = [d for d in when if d["kind"] in WORKLOADS]
        self.manifests = read_checked(
            [Source("case", yaml.safe_dump_all([*given, *latest.values()]))], features
        )
        self.demand = expand_claims(self.manifests, {}, features)
        nodes = observed_nodes(observe_offers(self.manifests, features))
        self.setting = Simulator.of(self.demand, nodes, self.manifests.classes, features).setting
        self.run = Run(self.setting, SETTLED, STEPS)
        self.controllers: dict[WorkloadRef, list[Controller]] = {}
        self.stuck: dict[str, tuple[int, str]] = {}

    def play(self) -> Outcome:
        for document in self.events:
            self.submit(document)
        return self.outcome()

    def submit(self, document: Json) -> None:
        ref = WorkloadRef(document["kind"], *_key(document))
        for blocked in (b for b in self.demand.blocked if b.member.workload == ref):
            if not _is_never_created(blocked):
                self.stuck[_name(ref)] = (_pods(blocked), _blocked_class(blocked))
        gated = self._gated(ref)
        if gated:
            self.stuck[_name(ref)] = (gated, "gated")
            return
        fresh = [
            each
            for document in self.setting.documents()
            for each in document
            if each.workload == ref
        ]
        if ref in self.controllers:
            fresh = [
                self._roll_out(*pair, document)
                for pair in zip(self.controllers[ref], fresh, strict=True)
            ]
        elif _finishes(document):
            fresh = [
                FinishingJob(each.workload, each.kind, each.wanted, each.names) for each in fresh
            ]
        self.controllers[ref] = fresh
        self.run.start(fresh)

    def _roll_out(self, before: Controller, after: Replicas, document: Json) -> RollingReplicas:
        self.run.retire(before)
        wanted, strategy = after.wanted, document["spec"].get("strategy", {})
        rolling = strategy.get("rollingUpdate", {})
        surge = _share(rolling.get("maxSurge", "25%"), wanted, up=True)
        unavailable = _share(rolling.get("maxUnavailable", "25%"), wanted, up=False)
        recreates = strategy.get("type") == "Recreate"
        if recreates:
            surge, unavailable = 0, wanted
        names = (
            ObjectKey(after.workload.namespace, f"{after.workload.name}-new-{number}")
            for number in numbers()
        )
        return RollingReplicas(
            after.workload,
            after.kind,
            wanted,
            names,
            list(before.pods),
            (),
            surge,
            unavailable,
            waits_for_ends=recreates,
        )

    def _gated(self, ref: WorkloadRef) -> int:
        for workload in self.manifests.workloads:
            if workload.ref == ref:
                sets = [s for s in workload.pod_sets if s.template.spec.scheduling_gates]
                return sum(s.figures.ceiling or 0 for s in sets)
        return 0

    # -- the end

    def outcome(self) -> Outcome:
        outcome, simulated = Outcome(), self.run.outcome()
        cluster = simulated.cluster
        for ref, controllers in self.controllers.items():
            name = _name(ref)
            pods = [pod for each in controllers for pod in (*each.pods, *getattr(each, "old", ()))]
            running = [cluster.pods[pod.name] for pod in pods if pod.name in cluster.pods]
            outcome.placed[name] += len(running) + sum(
                getattr(each, "finished", 0) for each in controllers
            )
            if running:
                outcome.nodes[name] = dict(
                    Counter(simulated.nodes[placed.node].name for placed in running)
                )
            for placed in running:
                shown = placed.pod.name.name if ref.kind in NAMED else f"{ref.name}-*"
                template = cluster.start.templates[placed.node]
                for got in placed.picks:
                    for pick in got.picks:
                        id_ = template.candidates[pick.index].id
                        claim = f"{ref.namespace}/{shown}-{got.name}"
                        outcome.devices.append(f"{claim} {pick.request} = {id_.pool}/{id_.device}")
            waiting = [simulated.pending[pod.name] for pod in pods if pod.name in simulated.pending]
            outcome.pending[name] += len(waiting)
            for failure in waiting:
                outcome.reasons[name] = self._reason(ref, failure)
        for key, claim in cluster.claims.items():
            outcome.devices += [
                f"{key} {d.request} = {d.pool}/{d.device}" for d in claim.allocation.devices
            ]
        for name, (count, kind) in self.stuck.items():
            outcome.pending[name] += count
            outcome.reasons[name] = kind
        outcome.placed, outcome.pending = +outcome.placed, +outcome.pending
        outcome.devices.sort()
        return outcome

    def _reason(self, ref: WorkloadRef, failure: SchedulingFailure) -> Any:
        """The scheduler counts nodes that a DaemonSet's pod doesn't target, but the simulation
        doesn't check these nodes.
        """
        reason = reason_class(failure)
        others = len(self.setting.nodes) - 1
        return {**reason, "node-selector": others} if ref.kind == "DaemonSet" and others else reason


_RESOURCES = ("cpu", "memory", "pods")
_ERRORS = (
    "CEL runtime error",
    "exceeds the claim limit",
    "currently being updated",
    "Too many: 257",
    "field is immutable",
    "constraint would not be satisfied",
)


def reason_class(failure: SchedulingFailure) -> Any:
    """Return the class of the reason: of the error, or the nodes counted by what turned each of
    them down.
    """
    if failure.error is not None and failure.error.error is not None:
        message = failure.error.error.message
        return "error: " + next((text for text in _ERRORS if text in message), message)
    verdicts = [each.verdict for each in failure.rejections]
    if any(isinstance(v, Refusal) and v.message.endswith("does not exist") for v in verdicts):
        return "class-missing"
    counts: Counter[str] = Counter()
    for each in failure.rejections:
        counts.update(dict.fromkeys(_verdict_classes(each.verdict), each.nodes))
    return dict(counts)


def _verdict_classes(verdict: Refusal | Undecided) -> list[str]:
    if isinstance(verdict, Undecided):
        return ["undecided"]
    if verdict.misfit is None:
        return ["claim-elsewhere" if verdict.kind == "claim" else verdict.kind]
    if verdict.misfit.filter == "resources":
        return [name for name, _, _ in verdict.misfit.shortages]
    same = {"node-name": "node-selector", "topology-label": "spread"}
    return [same.get(verdict.misfit.filter, verdict.misfit.filter)]


def _documents(text: str) -> list[Json]:
    return [d for d in yaml.safe_load_all(text) if d]


def _key(document: Json) -> ObjectKey:
    return ObjectKey(document["metadata"].get("namespace", "default"), document["metadata"]["name"])


def _name(ref: WorkloadRef) -> str:
    return f"{ref.namespace}/{ref.name}"


def _pods(blocked: Blocked) -> int:
    return blocked.member.figures.steady


def _is_never_created(blocked: Blocked) -> bool:
    """A quota on pods keeps the controller from making them; one on devices lets them wait for
    their claims.
    """
    return blocked.reason.code == "quota-exceeded" and "limits pods" in blocked.reason.message


def _blocked_class(blocked: Blocked) -> str:
    codes = {"class-not-found": "class-missing", "claim-consumers-limit": "error: Too many: 257"}
    return codes.get(blocked.reason.code, "blocked")


def _finishes(document: Json) -> bool:
    metadata = document.get("spec", {}).get("template", {}).get("metadata", {})
    return metadata.get("annotations", {}).get("scheduling-case/finish") == "yes"


def _share(value: int | str, count: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    whole, rest = divmod(int(value.rstrip("%")) * count, 100)
    return whole + (up and rest > 0)

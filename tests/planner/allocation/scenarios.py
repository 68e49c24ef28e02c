"""Plays a scenario on a simulated cluster: controllers create pods, `run` schedules them, one workload after another.

A scenario file says what is given (nodes, slices, classes…), which workloads come in which order, and what real
schedulers of each Kubernetes release did with them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from dra_planner.allocation.cluster import Cluster, QueuedPod, open_cluster
from dra_planner.allocation.node_filters import reject_for_good
from dra_planner.allocation.run import Pending, run
from dra_planner.allocation.verdicts import Refusal, Undecided
from dra_planner.claims import expand_claims
from dra_planner.manifests import Manifests
from dra_planner.model import (
    Blocked,
    Demand,
    NodeSelector,
    NodeSelectorTerm,
    ObjectKey,
    Requirement,
    Shape,
    Toleration,
    WorkloadRef,
)
from dra_planner.offers import observe_offers
from dra_planner.plan import read_checked
from dra_planner.releases import Features
from dra_planner.sources import Source

CASES = Path(__file__).parent / "cases"
WORKLOADS = {"Pod", "Deployment", "StatefulSet", "Job", "DaemonSet"}
Json = dict[str, Any]


@dataclass
class Outcome:
    """What became of the pods, by workload."""

    placed: Counter[str] = field(default_factory=Counter)
    pending: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, dict[str, int]] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)


def load(name: str) -> Json:
    return yaml.safe_load((CASES / f"{name}.yaml").read_text())


def play(case: Json, features: Features, choose: str = "least-allocated", seed: int | None = None) -> Outcome:
    """Return what becomes of the scenario's workloads on that release."""
    return _Play(case, features, choose, seed).play()


class _Play:
    def __init__(self, case: Json, features: Features, choose: str, seed: int | None) -> None:
        given, when = _documents(case["given"]), _documents(case["when"])
        latest = {(d["kind"], _key(d)): d for d in when}
        self.events = [d for d in when if d["kind"] in WORKLOADS]
        manifests = read_checked([Source("case", yaml.safe_dump_all([*given, *latest.values()]))], features)
        self.manifests: Manifests = manifests
        self.demand: Demand = expand_claims(manifests, {}, features)
        offers = observe_offers(manifests, features)
        self.cluster: Cluster = open_cluster(offers, manifests.classes, features, self.demand.shapes)
        self.features, self.choose, self.seed = features, choose, seed
        self.owner: dict[ObjectKey, str] = {}
        self.shown: dict[ObjectKey, str] = {}  # how answers name the pod
        self.waiting: list[QueuedPod] = []
        self.why: dict[ObjectKey, Pending] = {}
        self.finished: Counter[str] = Counter()
        self.stuck: dict[str, tuple[int, str]] = {}
        self.number = 0
        self.generation: Counter[str] = Counter()

    def play(self) -> Outcome:
        for document in self.events:
            self.submit(document)
        return self.outcome()

    # -- controllers

    def submit(self, document: Json) -> None:
        name = str(_key(document))
        ref = WorkloadRef(document["kind"], *_key(document))
        shapes = [(s, m) for s in self.demand.shapes for m in s.members if m.workload == ref]
        for blocked in (b for b in self.demand.blocked if b.member.workload == ref):
            if not _is_never_created(blocked):
                self.stuck[name] = (_pods(blocked), _blocked_class(blocked))
        gated = self._gated(ref)
        if gated:
            self.stuck[name] = (gated, "gated")
            return
        for shape, member in shapes:
            self._control(document, name, shape, member.figures.steady)

    def _control(self, document: Json, name: str, shape: Shape, count: int) -> None:
        kind = document["kind"]
        self.generation[name] += 1
        if shape.per_node:
            self.create(name, [_pinned(shape, node, self.cluster) for node in self._daemon_nodes(shape)], kind)
        elif kind == "StatefulSet":
            for ordinal in range(count):
                (pod,) = self.create(name, [shape], kind, f"{document['metadata']['name']}-{ordinal}")
                if pod not in self.cluster.pods:
                    break
        elif self.generation[name] > 1:
            self._roll(document, name, shape, count)
        elif _finishes(document):
            self.create(name, [shape] * count, kind)
            self._finish(name)
        else:
            self.create(name, [shape] * count, kind)

    def _roll(self, document: Json, name: str, shape: Shape, count: int) -> None:
        """Replace the pods of a Deployment as its strategy says, until nothing moves."""
        old = [pod for pod, owner in self.owner.items() if owner == name]
        strategy = document["spec"].get("strategy", {})
        if strategy.get("type") == "Recreate":
            self.delete(old)
            self.create(name, [shape] * count, "Deployment")
            return
        rolling = strategy.get("rollingUpdate", {})
        surge = _share(rolling.get("maxSurge", "25%"), count, up=True)
        unavailable = _share(rolling.get("maxUnavailable", "25%"), count, up=False)
        new: list[ObjectKey] = []
        while True:
            before = (len(old), len(new))
            broken = [pod for pod in old if pod not in self.cluster.pods]
            ready = [pod for pod in (*old, *new) if pod in self.cluster.pods]
            spare = max(0, len(ready) - (count - unavailable))
            going = broken + [pod for pod in old if pod in self.cluster.pods][:spare]
            self.delete(going)
            old = [pod for pod in old if pod not in going]
            room = min(count - len(new), count + surge - len(old) - len(new))
            if room > 0:
                new += self.create(name, [shape] * room, "Deployment")
            else:
                self.schedule()
            if (len(old), len(new)) == before:
                return

    def _finish(self, name: str) -> None:
        """Pods of the job end as soon as they run, which frees what they hold."""
        while True:
            running = [p for p, owner in self.owner.items() if owner == name and p in self.cluster.pods]
            if not running:
                return
            self.finished[name] += len(running)
            self.delete(running)
            self.schedule()

    def create(self, name: str, shapes: list[Shape], kind: str, pod_name: str = "") -> list[ObjectKey]:
        namespace, workload = name.split("/")
        made = []
        for shape in shapes:
            self.number += 1
            own = pod_name or (workload if kind == "Pod" else f"{workload}-{self.number}")
            key = ObjectKey(namespace, own)
            self.owner[key] = name
            self.shown[key] = own if pod_name or kind == "Pod" else f"{workload}-*"
            self.waiting.append(QueuedPod(key, shape, recreated=kind != "Pod"))
            made.append(key)
        self.schedule()
        return made

    def delete(self, pods: list[ObjectKey]) -> None:
        for key in pods:
            self.owner.pop(key, None)
            self.why.pop(key, None)
            self.waiting = [pod for pod in self.waiting if pod.name != key]
            if key in self.cluster.pods:
                self.cluster = self.cluster.without_pod(key)

    def schedule(self) -> None:
        result = run(self.waiting, self.cluster, self.choose, seed=self.seed)
        self.cluster = result.cluster
        self.why = {pending.pod.name: pending for pending in result.pending}
        self.waiting = [pending.pod for pending in result.pending]
        for key in result.preempted:
            if key not in self.cluster.pods and key not in self.why:
                self.owner.pop(key, None)

    def _daemon_nodes(self, shape: Shape) -> list[str]:
        tolerant = replace(shape.pod, tolerations=(*shape.pod.tolerations, _ANY_UNSCHEDULABLE))
        return [n for n, state in self.cluster.nodes.items() if reject_for_good(tolerant, state.node) is None]

    def _gated(self, ref: WorkloadRef) -> int:
        for workload in self.manifests.workloads:
            if workload.ref == ref:
                sets = [s for s in workload.pod_sets if s.template.spec.scheduling_gates]
                return sum(s.figures.ceiling or 0 for s in sets)
        return 0

    # -- the end

    def outcome(self) -> Outcome:
        outcome = Outcome(placed=Counter(self.finished))
        nodes: dict[str, Counter[str]] = defaultdict(Counter)
        for key, placed in self.cluster.pods.items():
            owner = self.owner[key]
            outcome.placed[owner] += 1
            nodes[owner][placed.node] += 1
            state = self.cluster.nodes[placed.node]
            for got in placed.picks:
                claim = f"{key.namespace}/{self.shown[key]}-{got.name}"
                for pick in got.picks:
                    id_ = state.template.candidates[pick.index].id
                    outcome.devices.append(f"{claim} {pick.request} = {id_.pool}/{id_.device}")
        for key, claim in self.cluster.claims.items():
            for d in claim.allocation.devices:
                outcome.devices.append(f"{key} {d.request} = {d.pool}/{d.device}")
        for key, pending in self.why.items():
            owner = self.owner[key]
            outcome.pending[owner] += 1
            outcome.reasons[owner] = reason_class(pending)
        for owner, (count, kind) in self.stuck.items():
            outcome.pending[owner] += count
            outcome.reasons[owner] = kind
        outcome.nodes = {owner: dict(counts) for owner, counts in nodes.items()}
        outcome.devices.sort()
        return outcome


_ANY_UNSCHEDULABLE = Toleration("node.kubernetes.io/unschedulable", "Exists")
_RESOURCES = ("cpu", "memory", "pods")
_ERRORS = (
    "CEL runtime error",
    "exceeds the claim limit",
    "currently being updated",
    "Too many: 257",
    "field is immutable",
    "constraint would not be satisfied",
)


def reason_class(pending: Pending) -> Any:
    """Return the class of the reason: of the error, or the nodes counted by what turned each of them down."""
    if pending.error is not None:
        return "error: " + next((text for text in _ERRORS if text in pending.error.message), pending.error.message)
    if any(isinstance(v, Refusal) and v.message.endswith("does not exist") for v in pending.verdicts.values()):
        return "class-missing"
    counts: Counter[str] = Counter()
    for verdict in pending.verdicts.values():
        counts.update(_verdict_classes(verdict))
    return dict(counts)


def _verdict_classes(verdict: Refusal | Undecided) -> list[str]:
    if isinstance(verdict, Undecided):
        return ["undecided"]
    if verdict.misfit is None:
        return ["claim-elsewhere" if verdict.kind == "claim" else verdict.kind]
    if verdict.misfit.filter == "resources":
        return [name for name, _, _ in verdict.misfit.shortages]
    return [{"node-name": "node-selector"}.get(verdict.misfit.filter, verdict.misfit.filter)]


def _documents(text: str) -> list[Json]:
    return [d for d in yaml.safe_load_all(text) if d]


def _key(document: Json) -> ObjectKey:
    return ObjectKey(document["metadata"].get("namespace", "default"), document["metadata"]["name"])


def _pods(blocked: Blocked) -> int:
    return blocked.member.figures.steady


def _is_never_created(blocked: Blocked) -> bool:
    """A quota on pods keeps the controller from making them; one on devices lets them wait for their claims."""
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


def _pinned(shape: Shape, node: str, cluster: Cluster) -> Shape:
    """The pod that a DaemonSet makes for one node."""
    here = Requirement("metadata.name", "In", (node,))
    affinity = NodeSelector((NodeSelectorTerm(match_fields=(here,)),))
    pod = replace(shape.pod, node_affinity=affinity, tolerations=(*shape.pod.tolerations, _ANY_UNSCHEDULABLE))
    return replace(shape, id=f"{shape.id}@{node}", pod=pod)

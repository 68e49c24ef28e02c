"""Planning on the nodes of a snapshot: nothing is sized; pods are taken one by one, in document order.

Each pod goes to the first node that takes it. Pods that the snapshot shows on nodes, and claims that hold devices
there, stay where they are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from dra_planner.allocation import NodeState, Placement, Refusal, Undecided, open_node, place, sight_of
from dra_planner.allocation.interpod import PodView, Sight
from dra_planner.allocation.node_selectors import node_matches
from dra_planner.allocation.pod_resources import host_ports
from dra_planner.allocation.state import HeldClaim
from dra_planner.claims import expand_claims
from dra_planner.errors import ManifestError, Place
from dra_planner.manifests import Manifests, read_manifests
from dra_planner.model import (
    Demand,
    DeviceClass,
    Figures,
    Member,
    ObjectKey,
    Reason,
    Shape,
    Verdict,
    WorkloadRef,
    worst,
)
from dra_planner.offers import Offer, observe_offers
from dra_planner.plan.values import (
    GivenClaim,
    GivenDevice,
    NodeRange,
    Plan,
    PlannedPool,
    PlannedWorkload,
    PlanRequest,
)
from dra_planner.releases import Features, features_of, parse_version
from dra_planner.sizing import DeviceCount, count_state
from dra_planner.sources import Source

_KUBELET = re.compile(r"^\s*-?\s*\"?kubeletVersion\"?:\s*\"?v?(1\.\d+)", re.MULTILINE)


def plan_on_snapshot(request: PlanRequest) -> Plan:
    """Return what becomes of the workloads on the nodes of the snapshot, at steady demand.

    Without manifests beside the snapshot its own pods that sit on no node are the workloads. Raises ManifestError for
    a snapshot without nodes, or of a release that neither it nor the request names.
    """
    features = features_of(_minor(request))
    snapshot = read_manifests(request.observed, features)
    if not snapshot.nodes:
        raise ManifestError(
            "holds no Node",
            place=Place(request.observed[0].name),
            fix="kubectl get nodes,resourceslices,deviceclasses,resourceclaims,pods -A -o yaml",
        )
    given = read_manifests(request.sources, features) if request.sources else snapshot
    manifests = _together(given, snapshot)
    demand = expand_claims(manifests, manifests.classes, features)
    offers = observe_offers(snapshot, features)
    cluster = _Cluster.of(offers, demand, manifests.classes, features)
    for shape, member in _in_document_order(demand):
        cluster.take(shape, member)
    for blocked in demand.blocked:
        pods = blocked.member.figures.steady
        if pods:
            cluster.answer(blocked.member).wait(pods, blocked.verdict, (blocked.reason,))
    workloads = tuple(cluster.planned(ref) for ref in sorted(_refs(demand)))
    return Plan(
        level="steady",
        verdict=worst(workload.verdicts["steady"] for workload in workloads),
        kubernetes=features.version,
        fleet=None,
        offers=offers,
        classes=manifests.classes,
        demand=demand,
        pools=tuple(_node(offer, state) for offer, state in zip(offers, cluster.nodes, strict=True)),
        workloads=workloads,
        cost=None,
        nodes_bound=len(offers),
        method="pods in document order, each on the first node that takes it",
        assumptions=_assumptions(demand, offers, features),
        diagnostics=(*snapshot.diagnostics, *(given.diagnostics if given is not snapshot else ())),
        claims=tuple(cluster.claims),
        manifests=manifests,
    )


@dataclass(slots=True)
class _Answer:
    """What adds up for one workload."""

    index: int = 0  # of its next pod
    placed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    pending: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    reasons: dict[Reason, None] = field(default_factory=dict)

    def wait(self, pods: int, verdict: Verdict, reasons: Iterable[Reason]) -> None:
        self.pending += pods
        self.verdicts.append(verdict)
        self.reasons.update(dict.fromkeys(reasons))


@dataclass(slots=True)
class _Cluster:
    """Nodes as they fill up."""

    demand: Demand
    nodes: list[NodeState]
    homes: dict[ObjectKey, frozenset[int]]  # shared claims that are allocated, and the nodes they can be used on
    answers: dict[WorkloadRef, _Answer] = field(default_factory=dict)
    claims: list[GivenClaim] = field(default_factory=list)

    @classmethod
    def of(
        cls, offers: Iterable[Offer], demand: Demand, classes: Mapping[str, DeviceClass], features: Features
    ) -> _Cluster:
        sight = sight_of(demand.shapes)
        nodes = [_open(offer, classes, features, sight) for offer in offers]
        homes: dict[ObjectKey, frozenset[int]] = {}
        for key, claim in demand.shared_claims.items():
            if claim.allocation is None:
                continue
            selector = claim.allocation.node_selector
            home = frozenset(i for i, each in enumerate(nodes) if selector is None or node_matches(selector, each.node))
            homes[key] = home
            for index in home:
                held = HeldClaim(key, len(claim.reserved_for), pinned=selector is not None)
                claims = tuple(sorted((*nodes[index].claims, held), key=lambda each: each.key))
                nodes[index] = replace(nodes[index], claims=claims, _cache={})
        return cls(demand, nodes, homes)

    def answer(self, member: Member) -> _Answer:
        return self.answers.setdefault(member.workload, _Answer())

    def take(self, shape: Shape, member: Member) -> None:
        """Place the pods of one member; a pod that finds no node stands for those after it."""
        answer = self.answer(member)
        if shape.per_node:
            self._take_daemon(shape, member, answer)
            return
        for done in range(member.figures.steady):
            where = [place(shape, self.nodes[index]) for index in self._open_to(shape)]
            if not self._put(shape, member, answer, where):
                answer.wait(member.figures.steady - done, *_why_not(where, self.homes, shape))
                return

    def _take_daemon(self, shape: Shape, member: Member, answer: _Answer) -> None:
        for index, node in enumerate(self.nodes):
            result = place(shape, node)
            if isinstance(result, Placement):
                self._commit(shape, member, answer, index, result)
            elif not _is_elsewhere(result):
                answer.wait(1, *_why_not([result], self.homes, shape))

    def _open_to(self, shape: Shape) -> list[int]:
        """Nodes on which every allocated claim of the shape can be used."""
        homes = [self.homes[claim.shared] for claim in shape.claims if claim.shared in self.homes]
        return [index for index in range(len(self.nodes)) if all(index in home for home in homes)]

    def _put(
        self, shape: Shape, member: Member, answer: _Answer, where: list[Placement | Refusal | Undecided]
    ) -> bool:
        if any(isinstance(each, Refusal) and each.kind == "error" for each in where):
            return False
        for index, result in zip(self._open_to(shape), where, strict=True):
            if isinstance(result, Placement):
                self._commit(shape, member, answer, index, result)
                return True
        return False

    def _commit(self, shape: Shape, member: Member, answer: _Answer, index: int, result: Placement) -> None:
        node = self.nodes[index] = result.node
        ref = member.workload
        pod = ref.name if ref.kind == "Pod" else f"{ref.name}-{answer.index}"
        answer.index += 1
        answer.placed[node.node.name] += 1
        for picks in result.picks:
            if picks.shared is not None:
                allocation = result.claims[picks.name]
                selector = allocation.node_selector
                self.homes[picks.shared] = frozenset(
                    i for i, each in enumerate(self.nodes) if selector is None or node_matches(selector, each.node)
                )
            self.claims.append(_given(picks.shared, picks.name, ref, pod, node.node.name, result))

    def planned(self, ref: WorkloadRef) -> PlannedWorkload:
        """Return the answer for one workload."""
        answer = self.answers.get(ref, _Answer())
        verdict = worst(answer.verdicts)
        members = [member for shape in self.demand.shapes for member in shape.members if member.workload == ref]
        members += [blocked.member for blocked in self.demand.blocked if blocked.member.workload == ref]
        figures = sum((member.figures for member in members), start=Figures.fixed(0))
        return PlannedWorkload(
            workload=ref,
            figures=figures,
            placed=sum(answer.placed.values()),
            pending=answer.pending,
            verdicts={"steady": verdict, "ceiling": "cannot-tell", "peak": "cannot-tell"},
            placements=tuple(sorted(answer.placed.items())),
            fits=(),
            reasons=tuple(answer.reasons),
        )


def _open(offer: Offer, classes: Mapping[str, DeviceClass], features: Features, sight: Sight) -> NodeState:
    devices = [device for claim in offer.claims if claim.allocation for device in claim.allocation.devices]
    state = open_node(
        offer.node, offer.slices, classes, features, deductions=offer.used, allocated=devices, sight=sight
    )
    for pod in offer.pods:
        view = PodView(pod.meta.namespace, pod.meta.labels, pod.spec.pod_anti_affinity)
        state = state.with_pod({}, host_ports(pod.spec), view, (), state.claims)
    return state


def _why_not(
    where: list[Placement | Refusal | Undecided], homes: Mapping[ObjectKey, frozenset[int]], shape: Shape
) -> tuple[Verdict, tuple[Reason, ...]]:
    errors = [each for each in where if isinstance(each, Refusal) and each.kind == "error"]
    undecided = [each for each in where if isinstance(each, Undecided)]
    refused = [each for each in where if isinstance(each, Refusal)]
    reasons: dict[tuple[str, str], Reason] = {}
    unfit: list[Refusal | Undecided] = [*errors] if errors else [*undecided, *refused]
    for each in unfit:
        for reason in each.reasons:
            reasons.setdefault((reason.code, reason.message), replace(reason, pool=each.node.node.name))
    if not where:
        elsewhere = next((claim.shared for claim in shape.claims if claim.shared in homes), None)
        message = f"claim {elsewhere} is allocated where no node of the snapshot is"
        return "does-not-fit", (Reason(code="claim-elsewhere", message=message, claim=str(elsewhere)),)
    return "cannot-tell" if undecided and not errors else "does-not-fit", tuple(reasons.values())


def _is_elsewhere(result: Refusal | Undecided) -> bool:
    misfit = result.misfit if isinstance(result, Refusal) else None
    return misfit is not None and misfit.filter in ("node-name", "taint", "node-selector")


def _given(
    shared: ObjectKey | None, name: str, ref: WorkloadRef, pod: str, node: str, result: Placement
) -> GivenClaim:
    devices = tuple(
        GivenDevice(request=each.request, node=node, driver=each.driver, pool=each.pool, device=each.device)
        for each in result.claims[name].devices
    )
    claim = shared.name if shared is not None else f"{pod}-{name}"
    return GivenClaim(namespace=ref.namespace, name=claim, pod=pod, devices=devices)


def _in_document_order(demand: Demand) -> Iterator[tuple[Shape, Member]]:
    """Higher priority first, then as the documents stand."""
    pairs = [(shape, member) for shape in demand.shapes for member in shape.members]
    return iter(sorted(pairs, key=lambda each: (-each[0].pod.priority, each[1].place, each[1].workload)))


def _refs(demand: Demand) -> set[WorkloadRef]:
    members = [member for shape in demand.shapes for member in shape.members]
    return {member.workload for member in (*members, *(blocked.member for blocked in demand.blocked))}


def _node(offer: Offer, state: NodeState) -> PlannedPool:
    total, used = count_state(state)
    return PlannedPool(
        name=offer.name,
        machine=offer.machine,
        minimum=1,
        bound=1,
        plan=1,
        maximum=1,
        nodes=NodeRange(minimum=1, desired=1, maximum=1),
        devices=DeviceCount(total=total, used=used, stranded=0),
        hourly_usd=None,
        zones=offer.zones,
    )


def _together(given: Manifests, snapshot: Manifests) -> Manifests:
    """What is given, with the claims, templates, classes and namespaces that the cluster has already."""
    if given is snapshot:
        return snapshot
    return replace(
        given,
        claims={**snapshot.claims, **given.claims},
        templates={**snapshot.templates, **given.templates},
        classes={**snapshot.classes, **given.classes},
        namespaces={**snapshot.namespaces, **given.namespaces},
    )


def _minor(request: PlanRequest) -> int:
    if request.kubernetes:
        return parse_version(request.kubernetes)
    found = [parse_version(version) for version in _kubelets(request.observed)]
    if found:
        return max(found)
    raise ManifestError(
        "does not say which Kubernetes release it is of",
        place=Place(request.observed[0].name),
        fix="add --kubernetes 1.34 (or the release of the cluster)",
    )


def _kubelets(sources: Iterable[Source]) -> list[str]:
    return [match for source in sources for match in _KUBELET.findall(source.text)]


def _assumptions(demand: Demand, offers: Iterable[Offer], features: Features) -> tuple[str, ...]:
    said = [
        f"Kubernetes {features.version} with its default feature gates, at its latest known patch",
        "pods are taken in document order, higher priority first, each on the first node that takes it",
        *demand.assumptions,
        *(assumption for offer in offers for assumption in offer.assumptions),
    ]
    return tuple(dict.fromkeys(said))

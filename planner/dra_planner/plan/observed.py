"""Planning on the nodes of a snapshot: nothing is sized; pods are taken one by one, as the scheduler takes them.

Pods that the snapshot shows on nodes, and claims that hold devices there, stay where they are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dra_planner.allocation import NodeState, Refusal, Undecided, place
from dra_planner.allocation.cluster import Cluster, QueuedPod, open_cluster
from dra_planner.allocation.node_selectors import FIELD_NAME
from dra_planner.allocation.results import allocation_of
from dra_planner.allocation.run import Pending, run
from dra_planner.claims import expand_claims
from dra_planner.errors import ManifestError, Place
from dra_planner.manifests import Manifests
from dra_planner.model import (
    AllocatedDevice,
    Demand,
    Figures,
    Member,
    NodeSelector,
    NodeSelectorTerm,
    ObjectKey,
    Reason,
    Requirement,
    Shape,
    Verdict,
    WorkloadRef,
    generated_claim_name,
    worst,
)
from dra_planner.offers import Offer, observe_offers
from dra_planner.plan.reading import read_checked
from dra_planner.plan.values import (
    GivenClaim,
    GivenDevice,
    NodeRange,
    Plan,
    PlannedPool,
    PlannedWorkload,
    PlanRequest,
    overall_verdict,
)
from dra_planner.releases import Features, features_of, parse_version
from dra_planner.sizing import DeviceCount, count_state
from dra_planner.sources import Source

_KUBELET = re.compile(r"""\bkubeletVersion["']?\s*:\s*["']?v?(1\.\d+)""")


def plan_on_snapshot(request: PlanRequest) -> Plan:
    """Return what becomes of the workloads on the nodes of the snapshot, at steady demand.

    Without manifests beside the snapshot its own pods that sit on no node are the workloads. Raises ManifestError for
    a snapshot without nodes, or of a release that neither it nor the request names.
    """
    features = features_of(_minor(request))
    snapshot = read_checked(request.observed, features)
    if not snapshot.nodes:
        raise ManifestError(
            "holds no Node",
            place=Place(request.observed[0].name),
            fix="kubectl get nodes,resourceslices,deviceclasses,resourceclaims,pods -A -o yaml",
        )
    given = read_checked(request.sources, features) if request.sources else snapshot
    manifests = _together(given, snapshot)
    demand = expand_claims(manifests, manifests.classes, features)
    offers = observe_offers(snapshot, features)
    start = open_cluster(offers, manifests.classes, features, demand.shapes)
    arrivals = tuple(_arrivals(demand, start))
    result = run([arrival.pod for arrival in arrivals], start)
    pending = {each.pod.name: each for each in result.pending}
    workloads = _workloads(demand, arrivals, result.placed, pending)
    diagnostics = (*snapshot.diagnostics, *(given.diagnostics if given is not snapshot else ()))
    return Plan(
        level="steady",
        verdict=overall_verdict(worst(workload.verdicts["steady"] for workload in workloads), diagnostics),
        kubernetes=features.version,
        fleet=None,
        offers=offers,
        classes=manifests.classes,
        demand=demand,
        pools=tuple(_node(offer, result.cluster.nodes[offer.node.name]) for offer in offers),
        workloads=workloads,
        cost=None,
        nodes_bound=len(offers),
        method="pod by pod in document order, each on the node with the most room",
        assumptions=_assumptions(demand, offers, features),
        diagnostics=diagnostics,
        claims=tuple(_claims(arrivals, result.cluster)),
        manifests=manifests,
    )


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A pod in the queue, and the workload that it belongs to."""

    pod: QueuedPod
    workload: WorkloadRef


def _arrivals(demand: Demand, cluster: Cluster) -> Iterator[_Arrival]:
    """Yield the pods of the demand as the documents stand, named <workload>-<index> unless they are pods themselves."""
    index: Counter[WorkloadRef] = Counter()
    pairs = [(shape, member) for shape in demand.shapes for member in shape.members]
    for shape, member in sorted(pairs, key=lambda each: (each[1].place, each[1].workload, each[1].pod_set)):
        ref = member.workload
        for each in _pods_of(shape, member, cluster):
            name = ObjectKey(ref.namespace, ref.pod_name(index[ref]))
            index[ref] += 1
            yield _Arrival(QueuedPod(name, each, recreated=ref.kind != "Pod"), ref)


def _pods_of(shape: Shape, member: Member, cluster: Cluster) -> Iterator[Shape]:
    """Yield the shape of each pod: those of a DaemonSet are tied to one node each, as its controller does."""
    if not shape.per_node:
        for _ in range(member.figures.steady):
            yield shape
        return
    for name, state in cluster.nodes.items():
        answer = place(shape, state)
        misfit = answer.misfit if isinstance(answer, Refusal) else None
        if misfit is None or misfit.filter not in ("node-name", "taint", "node-selector"):
            yield _tied_to(shape, name)


def _tied_to(shape: Shape, node: str) -> Shape:
    here = Requirement(FIELD_NAME, "In", (node,))
    terms = shape.pod.node_affinity.terms if shape.pod.node_affinity is not None else (NodeSelectorTerm(),)
    tied = NodeSelector(tuple(replace(term, match_fields=(*term.match_fields, here)) for term in terms))
    return replace(shape, id=f"{shape.id}@{node}", pod=replace(shape.pod, node_affinity=tied))


def _workloads(
    demand: Demand, arrivals: Sequence[_Arrival], placed: Mapping[ObjectKey, str], pending: Mapping[ObjectKey, Pending]
) -> tuple[PlannedWorkload, ...]:
    figures, blocked = _figures(demand), [each for each in demand.blocked if each.member.figures.steady]
    where: dict[WorkloadRef, Counter[str]] = defaultdict(Counter)
    waiting: dict[WorkloadRef, list[Pending]] = defaultdict(list)
    for arrival in arrivals:
        if arrival.pod.name in placed:
            where[arrival.workload][placed[arrival.pod.name]] += 1
        elif arrival.pod.name in pending:
            waiting[arrival.workload].append(pending[arrival.pod.name])
    workloads = []
    for ref in sorted(figures):
        verdicts: list[Verdict] = ["cannot-tell" if each.is_undecided else "does-not-fit" for each in waiting[ref]]
        reasons = dict.fromkeys(reason for each in waiting[ref] for reason in _why(each))
        held = [each for each in blocked if each.member.workload == ref]
        verdicts += [each.verdict for each in held]
        reasons.update(dict.fromkeys(each.reason for each in held))
        workloads.append(
            PlannedWorkload(
                workload=ref,
                figures=figures[ref],
                placed=where[ref].total(),
                pending=len(waiting[ref]) + sum(each.member.figures.steady for each in held),
                verdicts={"steady": worst(verdicts), "ceiling": "cannot-tell", "peak": "cannot-tell"},
                placements=tuple(sorted(where[ref].items())),
                fits=(),
                reasons=tuple(reasons),
            )
        )
    return tuple(workloads)


def _figures(demand: Demand) -> dict[WorkloadRef, Figures]:
    figures: dict[WorkloadRef, Figures] = {}
    members = [member for shape in demand.shapes for member in shape.members]
    for member in (*members, *(blocked.member for blocked in demand.blocked)):
        figures[member.workload] = figures.get(member.workload, Figures.fixed(0)) + member.figures
    return figures


def _why(pending: Pending) -> Iterator[Reason]:
    """Yield what ended the attempt, or each different reason with the first node that gave it; the undecided first."""
    if pending.error is not None:
        yield from pending.error.reasons
        return
    seen: set[tuple[str, str]] = set()
    nodes = sorted(pending.verdicts.items(), key=lambda each: not isinstance(each[1], Undecided))
    for name, verdict in nodes:
        for reason in verdict.reasons:
            if (reason.code, reason.message) not in seen:
                seen.add((reason.code, reason.message))
                yield replace(reason, pool=name)


def _claims(arrivals: Sequence[_Arrival], cluster: Cluster) -> Iterator[GivenClaim]:
    """Yield the claims that pods of the demand were given, in order of arrival; a shared one with its first pod."""
    told: set[ObjectKey] = set()
    for arrival in arrivals:
        key = arrival.pod.name
        placed = cluster.pods.get(key)
        if placed is None:
            continue
        for got in placed.picks:
            devices = allocation_of(got.picks, cluster.nodes[placed.node].template).devices
            name = generated_claim_name(key.name, got.name)
            yield _given(key.namespace, name, key.name, placed.node, devices)
        for claim in arrival.pod.shape.claims:
            if claim.shared is not None and claim.shared in cluster.claims and claim.shared not in told:
                told.add(claim.shared)
                devices = cluster.claims[claim.shared].allocation.devices
                yield _given(claim.shared.namespace, claim.shared.name, key.name, placed.node, devices)


def _given(namespace: str, claim: str, pod: str, node: str, devices: Iterable[AllocatedDevice]) -> GivenClaim:
    return GivenClaim(
        namespace=namespace,
        name=claim,
        pod=pod,
        devices=tuple(
            GivenDevice(request=each.request, node=node, driver=each.driver, pool=each.pool, device=each.device)
            for each in devices
        ),
    )


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
        "pods are taken in document order, higher priority first, each on the node with the most room left",
        *demand.assumptions,
        *(assumption for offer in offers for assumption in offer.assumptions),
    ]
    return tuple(dict.fromkeys(said))

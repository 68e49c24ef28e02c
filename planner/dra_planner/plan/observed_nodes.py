"""A demand judged on nodes as they are: pods are taken one by one, as the scheduler takes them.

Pods that the snapshot shows on nodes, and claims that hold devices there, stay where they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_planner.allocation import Refusal, Undecided, place
from dra_planner.allocation.cluster import Cluster, QueuedPod, open_cluster
from dra_planner.allocation.node_selectors import FIELD_NAME
from dra_planner.allocation.results import allocation_of
from dra_planner.allocation.run import Pending, run
from dra_planner.model import (
    AllocatedDevice,
    Demand,
    DeviceClass,
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
from dra_planner.offers import Offer
from dra_planner.plan.given_claims import GivenClaim, GivenDevice
from dra_planner.plan.judgement import Judgement
from dra_planner.releases import Features
from dra_planner.sizing import DeviceCount, Sizing, WorkloadSize, count_state

_METHOD: Final = "pod by pod in document order, each on the node with the most room"


def judge_nodes(
    demand: Demand, offers: tuple[Offer, ...], classes: Mapping[str, DeviceClass], features: Features
) -> Judgement:
    """Return what becomes of steady demand on observed nodes; nothing is sized."""
    start = open_cluster(offers, classes, features, demand.shapes)
    arrivals = tuple(_arrivals(demand, start))
    result = run([arrival.pod for arrival in arrivals], start)
    pending = {each.pod.name: each for each in result.pending}
    workloads = _workloads(demand, arrivals, result.placed, pending)
    sizing = Sizing(
        level="steady",
        verdict=worst(size.verdict for size in workloads),
        pools=(),
        workloads=workloads,
        nodes_bound=len(offers),
        nodes_plan=len(offers),
        hourly_bound=None,
        hourly_plan=None,
        method=_METHOD,
    )
    counts = {offer.name: count_state(result.cluster.nodes[offer.node.name]) for offer in offers}
    return Judgement(
        demand=demand,
        offers=offers,
        classes=classes,
        features=features,
        level="steady",
        sizings={"steady": sizing},
        claims=tuple(_claims(arrivals, result.cluster)),
        devices={name: DeviceCount(total=total, used=used, stranded=0) for name, (total, used) in counts.items()},
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
) -> tuple[WorkloadSize, ...]:
    blocked = [each for each in demand.blocked if each.member.figures.steady]
    where: dict[WorkloadRef, Counter[str]] = defaultdict(Counter)
    waiting: dict[WorkloadRef, list[Pending]] = defaultdict(list)
    for arrival in arrivals:
        if arrival.pod.name in placed:
            where[arrival.workload][placed[arrival.pod.name]] += 1
        elif arrival.pod.name in pending:
            waiting[arrival.workload].append(pending[arrival.pod.name])
    sizes = []
    for ref in sorted({member.workload for member in _members(demand)}):
        verdicts: list[Verdict] = ["cannot-tell" if each.is_undecided else "does-not-fit" for each in waiting[ref]]
        reasons = dict.fromkeys(reason for each in waiting[ref] for reason in _why(each))
        held = [each for each in blocked if each.member.workload == ref]
        verdicts += [each.verdict for each in held]
        reasons.update(dict.fromkeys(each.reason for each in held))
        running, left = where[ref].total(), len(waiting[ref]) + sum(each.member.figures.steady for each in held)
        sizes.append(
            WorkloadSize(
                workload=ref,
                wanted=running + left,
                placed=running,
                pending=left,
                verdict=worst(verdicts),
                placements=tuple(sorted(where[ref].items())),
                reasons=tuple(reasons),
            )
        )
    return tuple(sizes)


def _members(demand: Demand) -> Iterator[Member]:
    for shape in demand.shapes:
        yield from shape.members
    yield from (blocked.member for blocked in demand.blocked)


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

"""Pods that are already running, pending, or terminating in the cluster of a simulation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from dra_planner.allocation import NodeState
from dra_planner.allocation.node.pod_rules import PodView
from dra_planner.allocation.verdicts import ClaimPicks
from dra_planner.model import (
    Demand,
    Member,
    ObjectKey,
    Shape,
)
from dra_planner.offers import Offer
from dra_planner.simulation.cluster.cluster import (
    PlacedPod,
    SimulatedPod,
)
from dra_planner.simulation.cluster.nodes import SimulatedNode
from dra_planner.simulation.cluster.pod_kinds import Kinds
from dra_planner.simulation.workloads.controllers import (
    BARE_POD,
)

if TYPE_CHECKING:  # offers contain them, and most users of offers don't need the manifest reader
    from dra_planner.manifests import BoundPod

_SAME_SELECTOR: Final = frozenset({"StatefulSet", "ReplicaSet", "ReplicationController"})
"""Kinds whose selectors match pods with any pod template of the object."""


def existing_pods(
    nodes: Sequence[SimulatedNode], states: Sequence[NodeState], kinds: Kinds, demand: Demand
) -> list[list[PlacedPod]]:
    """Return the pods that are already running, by node."""
    makers = {name: member for _, member in members_in_order(demand) for name in member.running}
    ages = _ages(nodes)
    return [
        _bound_pods(number, each.offer, states[number], kinds, makers, ages)
        for number, each in enumerate(nodes)
    ]


def terminating_pods(
    nodes: Iterable[SimulatedNode],
) -> tuple[tuple[ObjectKey, ...], tuple[ObjectKey, ...]]:
    """Return the terminating pods that must be deleted before their replacement is created, and the
    others.
    """
    going = [pod for each in nodes for pod in each.offer.pods if pod.going]
    return (
        tuple(pod.meta.key for pod in going if not _is_replaced_at_once(pod)),
        tuple(pod.meta.key for pod in going if _is_replaced_at_once(pod)),
    )


def _is_replaced_at_once(pod: BoundPod) -> bool:
    """Return True if a replacement is created while the old pod is terminating. Pods with fixed
    names must be deleted first.
    """
    return pod.owner is not None and pod.owner.kind not in (BARE_POD, "StatefulSet", "DaemonSet")


def members_in_order(demand: Demand) -> list[tuple[Shape, Member]]:
    """Return the members in document order, starting with those whose pods already exist in the
    cluster.
    """
    pairs = [(shape, member) for shape in demand.shapes for member in shape.members]
    return sorted(
        pairs,
        key=lambda each: (not each[1].ahead, each[1].place, each[1].workload, each[1].pod_set),
    )


def siblings_of(member: Member, *, is_outdated: bool = False) -> Hashable:
    """Return a value that is equal for pods of the member that the scheduler spreads by default.

    The selector of a Deployment's ReplicaSet contains the hash of the pod template, so pods with an
    earlier template don't count. The selector of a StatefulSet matches the pods of all revisions.
    Source: kubernetes/kubernetes:pkg/scheduler/framework/plugins/helper/spread.go@v1.36.3
    (DefaultSelector).
    """
    own = (member.workload, member.pod_set) if member.spreads else None
    if member.workload.kind in _SAME_SELECTOR:
        return own
    return (own, "before") if member.leaving or is_outdated else own


def _bound_pods(
    number: int,
    offer: Offer,
    state: NodeState,
    kinds: Kinds,
    makers: Mapping[ObjectKey, Member],
    ages: Mapping[str, int],
) -> list[PlacedPod]:
    placed: list[PlacedPod] = []
    for each in offer.pods:
        name = each.meta.key
        view = PodView(name.namespace, each.meta.labels, each.spec.pod_anti_affinity)
        here = [claim for claim in offer.claims if claim.meta.namespace == name.namespace]
        own = [claim for claim in here if claim.owner_pod == name.name]
        devices = tuple(
            device for claim in own if claim.allocation for device in claim.allocation.devices
        )
        shared = tuple(
            claim.meta.key
            for claim in here
            if not claim.owner_pod and claim.meta.name in each.claims.values()
        )
        picks = (ClaimPicks("", None, tuple(state.picks_of(devices))),)
        member = makers.get(name)
        siblings = None
        if member is not None:
            is_outdated = member.changed or name in member.outdated
            siblings = siblings_of(member, is_outdated=is_outdated)
        kind = kinds.of_bound(each.spec, view, siblings)
        since = ages.get(each.started, 0)
        placed.append(PlacedPod(SimulatedPod(name, kind, number), number, picks, shared, since))
    return placed


def _ages(nodes: Iterable[SimulatedNode]) -> dict[str, int]:
    """Return a negative number for each start time, with higher numbers for later times.

    Unknown times are omitted.
    """
    times = sorted(
        {pod.started for each in nodes for pod in each.offer.pods if pod.started}, reverse=True
    )
    return {time: -number for number, time in enumerate(times, 1)}

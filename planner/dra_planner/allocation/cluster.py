"""A cluster as pods are placed on it: its nodes, the pods on them, and the claims that pods share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dra_planner.allocation.devices import DeviceId
from dra_planner.allocation.node_selectors import node_matches
from dra_planner.allocation.place import MAX_CONSUMERS, needs_of
from dra_planner.allocation.state import HeldClaim, NodeState, open_offer
from dra_planner.allocation.verdicts import ClaimPicks, Placement
from dra_planner.model import AllocatedDevice, ClaimAllocation, DeviceClass, ObjectKey, Shape
from dra_planner.releases import Features

if TYPE_CHECKING:
    from dra_planner.offers import Offer


@dataclass(frozen=True, slots=True)
class QueuedPod:
    """A pod that waits for a node. `recreated`: a controller replaces it when it is preempted."""

    name: ObjectKey
    shape: Shape
    recreated: bool = False


@dataclass(frozen=True, slots=True)
class PlacedPod:
    """A pod on a node, and the devices of its own claims."""

    pod: QueuedPod
    node: str
    picks: tuple[ClaimPicks, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedClaim:
    """A claim that has devices already: where, and how many pods use it."""

    allocation: ClaimAllocation
    consumers: int = 0
    picked_on: str = ""  # the node whose state holds its devices; empty where they were there before


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes by name, in order; pods by name; shared claims that are allocated. A value."""

    nodes: Mapping[str, NodeState]
    pods: Mapping[ObjectKey, PlacedPod] = field(default_factory=dict)
    claims: Mapping[ObjectKey, SharedClaim] = field(default_factory=dict)

    def with_placement(self, pod: QueuedPod, node: str, placement: Placement) -> Cluster:
        """Return the cluster after the pod has been bound."""
        nodes, claims = dict(self.nodes), dict(self.claims)
        nodes[node] = placement.node
        for got in placement.picks:
            allocation = placement.claims[got.name]
            _share_devices(nodes, node, allocation.devices)
            if got.shared is not None:
                claims[got.shared] = SharedClaim(allocation, 0, node)
        for claim in pod.shape.claims:
            if claim.shared is not None and claim.shared in claims:
                shared = claims[claim.shared]
                claims[claim.shared] = replace(shared, consumers=shared.consumers + 1)
                _spread_claim(nodes, claim.shared, claims[claim.shared])
        own = tuple(got for got in placement.picks if got.shared is None)
        pods = {**self.pods, pod.name: PlacedPod(pod, node, own)}
        return Cluster(nodes, pods, claims)

    def without_pod(self, name: ObjectKey, *, keep_devices: bool = False) -> Cluster:
        """Return the cluster after a pod has gone: its own claims are freed, a shared one when nobody uses it.

        `keep_devices` leaves devices taken, as preemption sees its victims.
        """
        placed = self.pods[name]
        nodes, claims = dict(self.nodes), dict(self.claims)
        state, shape = nodes[placed.node], placed.pod.shape
        needs = needs_of(shape, state.template)
        picks = () if keep_devices else tuple(p for got in placed.picks for p in got.picks)
        nodes[placed.node] = state.without_pod(needs.requests, needs.ports, needs.view, picks, state.claims)
        if not keep_devices:
            _unshare_devices(nodes, placed.node, placed.picks)
            for claim in shape.claims:
                if claim.shared is not None and claim.shared in claims:
                    _leave_claim(nodes, claims, claim.shared)
        return Cluster(nodes, {key: pod for key, pod in self.pods.items() if key != name}, claims)

    def without_claim(self, key: ObjectKey) -> Cluster:
        """Return the cluster after a shared claim has given its devices back."""
        nodes, claims = dict(self.nodes), dict(self.claims)
        _free_claim(nodes, claims, key)
        return replace(self, nodes=nodes, claims=claims)


def open_cluster(
    offers: Iterable[Offer], classes: Mapping[str, DeviceClass], features: Features, shapes: Iterable[Shape] = ()
) -> Cluster:
    """Return the cluster of observed offers, with the claims that are allocated there; pods on it stay."""
    coming = tuple(shapes)
    nodes: dict[str, NodeState] = {}
    claims: dict[ObjectKey, SharedClaim] = {}
    for offer in offers:
        nodes[offer.node.name] = open_offer(offer, classes, features, coming)
        for claim in offer.claims:
            if claim.allocation is not None and not claim.owner_pod:
                claims[claim.meta.key] = SharedClaim(claim.allocation, len(claim.reserved_for))
    for key, shared in claims.items():
        _spread_claim(nodes, key, shared)
    return Cluster(nodes, {}, claims)


def usable_on(claim: SharedClaim, state: NodeState) -> bool:
    """Tell whether pods on the node can use the claim."""
    selector = claim.allocation.node_selector
    return selector is None or node_matches(selector, state.node)


def stale_claim(claim: SharedClaim, features: Features) -> bool:
    """Tell whether no consumer can be added: an older scheduler allocated the claim, without a timestamp."""
    return features.needs_allocation_time and features.binding_conditions and not claim.allocation.has_timestamp


def is_full(claim: SharedClaim) -> bool:
    """Tell whether no further pod can be added to the claim's consumers."""
    return claim.consumers >= MAX_CONSUMERS


def _spread_claim(nodes: dict[str, NodeState], key: ObjectKey, claim: SharedClaim) -> None:
    """Put the claim at the disposal of every node that can use it, and of no other."""
    held = HeldClaim(key, claim.consumers)
    for name, state in nodes.items():
        known = state.held_claim(key)
        if usable_on(claim, state):
            if known != held:
                nodes[name] = state.with_claims((*(c for c in state.claims if c.key != key), held))
        elif known is not None:
            nodes[name] = state.with_claims(c for c in state.claims if c.key != key)


def _share_devices(nodes: dict[str, NodeState], origin: str, devices: Sequence[AllocatedDevice]) -> None:
    """Mark devices that other nodes can reach, or whose counters they share, as taken there."""
    home = nodes[origin]
    for device in devices:
        index = home.template.index[DeviceId(device.driver, device.pool, device.device)]
        for name in _concerned(nodes, origin, index):
            nodes[name] = nodes[name].with_devices([device])


def _unshare_devices(nodes: dict[str, NodeState], origin: str, picks: Iterable[ClaimPicks]) -> None:
    template = nodes[origin].template
    for pick in (p for got in picks for p in got.picks if not p.admin):
        for name in _concerned(nodes, origin, pick.index):
            index = nodes[name].template.index.get(template.candidates[pick.index].id)
            if index is not None:
                nodes[name] = nodes[name].without_devices([replace(pick, index=index)])


def _concerned(nodes: Mapping[str, NodeState], origin: str, index: int) -> list[str]:
    """The other nodes that a device matters to. Nodes made from one template have hardware of their own."""
    template = nodes[origin].template
    candidate = template.candidates[index]
    source = candidate.device if candidate.slice.per_device_node_selection else candidate.slice
    if not source.node_name:
        return [name for name in nodes if name != origin]
    if not candidate.device.consumes_counters:
        return []
    return [name for name, state in nodes.items() if name != origin and state.template is not template]


def _leave_claim(nodes: dict[str, NodeState], claims: dict[ObjectKey, SharedClaim], key: ObjectKey) -> None:
    left = replace(claims[key], consumers=claims[key].consumers - 1)
    if left.consumers > 0:
        claims[key] = left
        _spread_claim(nodes, key, left)
    else:
        _free_claim(nodes, claims, key)


def _free_claim(nodes: dict[str, NodeState], claims: dict[ObjectKey, SharedClaim], key: ObjectKey) -> None:
    claim = claims.pop(key)
    for name, state in nodes.items():
        for device in claim.allocation.devices:
            index = state.template.index.get(DeviceId(device.driver, device.pool, device.device))
            if index is not None:
                state = state.without_devices([state.pick_of(device, index)])
        nodes[name] = state.with_claims(c for c in state.claims if c.key != key)

"""The state of one node: what of it is taken. A value; placing a pod gives the next one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dra_planner.allocation.node.pod_rules import NOTHING_SEEN, PodView, Sight
from dra_planner.allocation.node.ports import host_ports
from dra_planner.allocation.node.template import Template, build_template
from dra_planner.allocation.search.amounts import nanos
from dra_planner.allocation.search.devices import DeviceId
from dra_planner.allocation.search.holdings import Pick
from dra_planner.model import AllocatedDevice, Amounts, DeviceClass, Node, ObjectKey, ResourceSlice
from dra_planner.releases import Features

if TYPE_CHECKING:
    from dra_planner.offers import Offer

Port = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class HeldClaim:
    """A claim that pods share: the devices it holds here (bits and shares are in the state), and
    its consumers.
    """

    key: ObjectKey
    consumers: int
    pinned: bool = True  # only this node can serve it


@dataclass(frozen=True, slots=True, eq=False)
class NodeState:
    """A node and what is taken of it. Compare `key`, which is equal only for states with equal
    futures.

    `used` are amounts by name, sorted (`pods` among them); `taken` the devices in use, as bits over
    the template's candidates; `shares` what is used of shared devices; `pods` those that others may
    notice, with their number.
    """

    template: Template
    used: tuple[tuple[str, int], ...] = ()
    taken: int = 0
    shares: tuple[tuple[int, tuple[tuple[str, int], ...]], ...] = ()
    ports: frozenset[Port] = frozenset()
    pods: tuple[tuple[PodView, int], ...] = ()
    claims: tuple[HeldClaim, ...] = ()
    _cache: dict[str, Any] = field(default_factory=dict)

    @property
    def node(self) -> Node:
        return self.template.node

    @property
    def features(self) -> Features:
        return self.template.features

    @property
    def key(self) -> Hashable:
        """Equal keys, equal futures: the same pods fit, on the same devices but for their names."""
        key = self._cache.get("key")
        if key is None:
            key = self._cache["key"] = (
                self.template,
                self.used,
                self.taken,
                self.shares,
                self.ports,
                self.pods,
                self.claims,
            )
        return key

    def free(self, resource: str) -> int:
        """Return what is left of a resource."""
        return self.node.allocatable.get(resource, 0) - dict(self.used).get(resource, 0)

    def held_claim(self, key: ObjectKey) -> HeldClaim | None:
        """Return the shared claim of that name if its devices are here."""
        return next((claim for claim in self.claims if claim.key == key), None)

    def with_pod(
        self,
        requests: Mapping[str, int],
        ports: frozenset[Port],
        view: PodView,
        picks: Iterable[Pick],
        claims: tuple[HeldClaim, ...],
    ) -> NodeState:
        """Return the state after a pod has taken its part."""
        used = dict(self.used)
        for name, amount in requests.items():
            used[name] = used.get(name, 0) + amount
        taken, shares = _with_picks(self.taken, self.shares, picks)
        return NodeState(
            self.template,
            used=tuple(sorted(used.items())),
            taken=taken,
            shares=shares,
            ports=self.ports | ports if ports else self.ports,
            pods=_with_view(self.pods, view) if self.template.sight.notices(view) else self.pods,
            claims=claims,
        )

    def without_pod(
        self,
        requests: Mapping[str, int],
        ports: frozenset[Port],
        view: PodView,
        picks: Iterable[Pick],
        claims: tuple[HeldClaim, ...],
    ) -> NodeState:
        """Return the state after a pod has gone; `claims` are the shared claims that stay."""
        used = dict(self.used)
        for name, amount in requests.items():
            used[name] -= amount
        return replace(
            self,
            used=tuple(sorted((name, amount) for name, amount in used.items() if amount)),
            ports=self.ports - ports,
            pods=_without_view(self.pods, view),
            claims=claims,
            _cache={},
        ).without_devices(picks)

    def without_devices(self, picks: Iterable[Pick]) -> NodeState:
        """Return the state after a claim has given its devices back."""
        taken, shares = self.taken, {index: dict(used) for index, used in self.shares}
        for pick in picks:
            if pick.admin:
                continue
            if pick.share is None:
                taken &= ~(1 << pick.index)
                continue
            used = shares.get(pick.index, {})
            for name, amount in pick.share:
                used[name] -= amount
            if not any(used.values()):
                shares.pop(pick.index, None)
        left = tuple(sorted((index, tuple(sorted(used.items()))) for index, used in shares.items()))
        return replace(self, taken=taken, shares=left, _cache={})

    def with_used(self, used: tuple[tuple[str, int], ...]) -> NodeState:
        """Return the state with these amounts in use, sorted by name, and all else as it is."""
        return replace(self, used=used, _cache={})

    def on_template(self, template: Template) -> NodeState:
        """Return the same state of another node, whose devices are those of this one."""
        return replace(self, template=template, _cache={})

    def with_claims(self, claims: Iterable[HeldClaim]) -> NodeState:
        """Return the state with these shared claims at hand instead."""
        return replace(self, claims=tuple(sorted(claims, key=lambda c: c.key)), _cache={})

    def picks_of(self, devices: Iterable[AllocatedDevice]) -> list[Pick]:
        """Return allocated devices as the search would have picked them; those of other nodes are
        left out.
        """
        picks = []
        for device in devices:
            index = self.template.index.get(DeviceId(device.driver, device.pool, device.device))
            if index is not None and not device.admin_access:
                share = nanos(device.consumed_capacity) if device.share_id else None
                picks.append(Pick(device.request, index, False, share))
        return picks

    def with_picks(self, picks: Sequence[Pick]) -> NodeState:
        """Return the state after devices were given away, by this node or another."""
        if not picks:
            return self
        taken, shares = _with_picks(self.taken, self.shares, picks)
        for pick in picks:
            if pick.share is None:
                taken |= self.template.bits[self.template.candidates[pick.index].id]
        return replace(self, taken=taken, shares=shares, _cache={})


def _with_picks(
    taken: int, shares: tuple[tuple[int, tuple[tuple[str, int], ...]], ...], picks: Iterable[Pick]
) -> tuple[int, tuple[tuple[int, tuple[tuple[str, int], ...]], ...]]:
    grown: dict[int, dict[str, int]] = {}
    for pick in picks:
        if pick.admin:
            continue
        if pick.share is None:
            taken |= 1 << pick.index
            continue
        used = grown.setdefault(
            pick.index, dict(next((s for i, s in shares if i == pick.index), ()))
        )
        for name, amount in pick.share:
            used[name] = used.get(name, 0) + amount
    if grown:
        merged = dict(shares) | {
            index: tuple(sorted(used.items())) for index, used in grown.items()
        }
        shares = tuple(sorted(merged.items()))
    return taken, shares


def _with_view(
    pods: tuple[tuple[PodView, int], ...], view: PodView
) -> tuple[tuple[PodView, int], ...]:
    for position, (other, count) in enumerate(pods):
        if other == view:
            return (*pods[:position], (view, count + 1), *pods[position + 1 :])
    return (*pods, (view, 1))


def _without_view(
    pods: tuple[tuple[PodView, int], ...], view: PodView
) -> tuple[tuple[PodView, int], ...]:
    return tuple(
        (other, count - (other == view)) for other, count in pods if count > (other == view)
    )


def open_node(
    node: Node,
    slices: Sequence[ResourceSlice],
    classes: Mapping[str, DeviceClass],
    features: Features,
    *,
    deductions: Amounts | None = None,
    allocated: Iterable[AllocatedDevice] = (),
    sight: Sight = NOTHING_SEEN,
) -> NodeState:
    """Return the state of a node before any pod of the demand.

    `slices` are those of the node, or of the whole cluster where devices are shared between nodes;
    `deductions` what daemons and bound pods use (`pods` counts them); `allocated` the devices that
    claims hold already; `sight` what the pods to come notice of each other (`sight_of(shapes)`),
    needed where they have (anti-)affinity or spread.
    """
    template = build_template(node, slices, classes, features, sight)
    state = NodeState(template, used=tuple(sorted((deductions or {}).items())))
    return state.with_picks(state.picks_of(allocated))


def open_offer(
    offer: Offer,
    classes: Mapping[str, DeviceClass],
    features: Features,
    sight: Sight = NOTHING_SEEN,
) -> NodeState:
    """Return the state of (each of) an offer's nodes before any pod of the demand, what is there
    already included.

    `sight` is what the pods to come notice of each other (`sight_of`), needed where they keep apart
    or together.
    """
    devices = [d for claim in offer.claims if claim.allocation for d in claim.allocation.devices]
    state = open_node(
        offer.node,
        offer.slices,
        classes,
        features,
        deductions=offer.used,
        allocated=devices,
        sight=sight,
    )
    if offer.devices_doubt:
        state = replace(state, template=replace(state.template, devices_doubt=offer.devices_doubt))
    held = [
        HeldClaim(claim.meta.key, len(claim.reserved_for))
        for claim in offer.claims
        if claim.allocation is not None and not claim.owner_pod
    ]
    state = state.with_claims(held)
    for pod in offer.pods:
        view = PodView(pod.meta.namespace, pod.meta.labels, pod.spec.pod_anti_affinity)
        state = state.with_pod({}, host_ports(pod.spec), view, (), state.claims)
    return state

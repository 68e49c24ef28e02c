"""The immutable state of one node: its used resources and devices. Placing a pod returns the next
state.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

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


class HeldClaim(Struct, frozen=True):
    """A claim that pods share: its devices on this node, and its number of consumers."""

    key: ObjectKey
    consumers: int
    pinned: bool = True  # only this node can provide the resource


class NodeState(Struct, frozen=True, eq=False):
    """A node with its used resources.

    Compare `key`: states with equal keys accept the same pods in the future.

    `used` are amounts by name, sorted, including `pods`. `taken` are the devices in use, as bits
    over the template's candidates. `shares` are the used amounts of shared devices. `pods` are the
    pods to which other pods' rules refer, with their number.
    """

    template: Template
    used: tuple[tuple[str, int], ...] = ()
    taken: int = 0
    shares: tuple[tuple[int, tuple[tuple[str, int], ...]], ...] = ()
    ports: frozenset[Port] = frozenset()
    pods: tuple[tuple[PodView, int], ...] = ()
    claims: tuple[HeldClaim, ...] = ()
    _cache: dict[str, Any] = {}

    @property
    def node(self) -> Node:
        return self.template.node

    @property
    def features(self) -> Features:
        return self.template.features

    @property
    def key(self) -> Hashable:
        """If two states have equal keys, both accept the same pods, on the same devices (except for
        the devices' names).
        """
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
        """Return the free amount of a resource."""
        return self.node.allocatable.get(resource, 0) - dict(self.used).get(resource, 0)

    def held_claim(self, key: ObjectKey) -> HeldClaim | None:
        """Return the shared claim with that name if its devices are on this node."""
        return next((claim for claim in self.claims if claim.key == key), None)

    def with_pod(
        self,
        requests: Mapping[str, int],
        ports: frozenset[Port],
        view: PodView,
        picks: Iterable[Pick],
        claims: tuple[HeldClaim, ...],
    ) -> NodeState:
        """Return the state after a pod is added."""
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
        """Return the state after a pod is removed. `claims` are the shared claims that stay."""
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
        """Return the state after a claim's devices are freed."""
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
        """Return the state with these used amounts, sorted by name."""
        return replace(self, used=used, _cache={})

    def on_template(self, template: Template) -> NodeState:
        """Return this state for another node with the same devices."""
        return replace(self, template=template, _cache={})

    def with_claims(self, claims: Iterable[HeldClaim]) -> NodeState:
        """Return the state with these shared claims instead."""
        return replace(self, claims=tuple(sorted(claims, key=lambda c: c.key)), _cache={})

    def picks_of(self, devices: Iterable[AllocatedDevice]) -> list[Pick]:
        """Return allocated devices in the form of the search's picks, without devices of other
        nodes.
        """
        picks = []
        for device in devices:
            index = self.template.index.get(DeviceId(device.driver, device.pool, device.device))
            if index is not None and not device.admin_access:
                share = nanos(device.consumed_capacity) if device.share_id else None
                picks.append(Pick(device.request, index, False, share))
        return picks

    def with_picks(self, picks: Sequence[Pick]) -> NodeState:
        """Return the state after devices were allocated by this node or another one."""
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

    `slices` are the node's own slices, or the slices of the whole cluster if nodes share devices.
    `deductions` are the amounts that daemons and bound pods use, including `pods`. `allocated` are
    the devices of existing claims. `sight` describes the rules between the new pods
    (`sight_of(shapes)`). `sight` is required if they have (anti-)affinity or spread.
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
    """Return the state of each of an offer's nodes before any pod of the demand, including existing
    pods and claims. `sight` describes the rules between the new pods (`sight_of`). It's required
    if the pods have such rules.
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
    is_observed = offer.origin == "observed"
    if offer.devices_doubt or is_observed:
        template = replace(
            state.template, devices_doubt=offer.devices_doubt, is_observed=is_observed
        )
        state = replace(state, template=template)
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

"""A cluster with changing pods: the stages of nodes, the places of pods, and the claims that pods
share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation import NodeState, Placement
from dra_planner.allocation.node.ports import host_ports
from dra_planner.allocation.node.selectors import node_matches
from dra_planner.allocation.node.state import HeldClaim
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.place import needs_of
from dra_planner.allocation.search.devices import DeviceId, PoolId
from dra_planner.allocation.search.holdings import Pick
from dra_planner.allocation.search.results import allocation_of
from dra_planner.allocation.verdicts import ClaimPicks
from dra_planner.model import AllocatedDevice, ClaimAllocation, Node, ObjectKey, Taint
from dra_planner.offers import pod_requests
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.soft_spread_counts import Census
from dra_planner.simulation.cluster.stages import NodeStage, Population, Stages

_UNREACHABLE: Final = Taint("node.kubernetes.io/unreachable")
_NOMINATED: Final = Taint("pulumi-dra/nominated")  # exists only in the simulation


class SimulatedPod(Struct, frozen=True, eq=False):
    """A pod. `only_node` is the number of the only node that it can use, if a DaemonSet created it
    for that node.
    """

    name: ObjectKey
    kind: PodKind
    only_node: int | None = None


class PlacedPod(Struct, frozen=True):
    """A pod on a node (by number), and the devices of its own claims there.

    `since` orders pods by their start. If the values are equal, the order is unknown.
    """

    pod: SimulatedPod
    node: int
    picks: tuple[ClaimPicks, ...] = ()
    shared: tuple[ObjectKey, ...] = ()  # the shared claims that the pod uses
    since: int = 0


class SharedClaim(Struct, frozen=True):
    """A shared claim with devices: the numbers of the nodes on which it can be used, and its number
    of pods.
    """

    allocation: ClaimAllocation
    nodes: tuple[int, ...]
    consumers: int = 0


class Start(Struct, frozen=True, kw_only=True):
    """A cluster before any pod of the demand is placed. Nodes are in the scheduler's order."""

    nodes: tuple[Node, ...]
    templates: tuple[Template, ...]  # by node: its own devices, if equal nodes share a stage
    stages: tuple[NodeStage, ...]  # by node
    pods: tuple[PlacedPod, ...] = ()
    claims: Mapping[ObjectKey, SharedClaim] = {}


class Cluster:
    """A cluster whose nodes are identified by numbers. `version` changes with every change, and
    `now` is the start time of new pods.
    """

    def __init__(self, start: Start, stages: Stages, census: Census) -> None:
        self.start = start
        self.census = census
        self.stages = stages
        self.stage_of: list[NodeStage] = list(start.stages)
        self.nodes_in: dict[NodeStage, list[int]] = {}
        self.pods: dict[ObjectKey, PlacedPod] = {each.pod.name: each for each in start.pods}
        self.claims: dict[ObjectKey, SharedClaim] = dict(start.claims)
        self.version = 0
        # nodes whose stage has changed, in the order of the changes, each with the number of the
        # kind whose pod count changed (-1: no kind)
        self.changes: list[tuple[int, int]] = []
        self.now = 0
        # by node: 1 if other nodes are also in its stage
        self.alike = bytearray(len(self.stage_of))
        self._position = [0] * len(self.stage_of)
        self._reserved: dict[int, Template] = {}  # original templates
        self._pods_on: dict[int, dict[ObjectKey, PlacedPod]] = {}
        self._shared_pools = _shared_pools(start.stages)
        for node, stage in enumerate(self.stage_of):
            self._enter(node, stage)
        for each in start.pods:
            self._pods_on.setdefault(each.node, {})[each.pod.name] = each
            census.change(each.pod.kind, start.stages[each.node].template, 1)
        for key in self.claims:
            self._offer_claim(key)

    @property
    def population(self) -> Population:
        return [(stage, len(nodes)) for stage, nodes in self.nodes_in.items()]

    def pods_on(self, node: int) -> Iterator[PlacedPod]:
        """Yield the pods on a node in the order in which they started."""
        yield from self._pods_on.get(node, {}).values()

    def bind(self, pod: SimulatedPod, node: int, placement: Placement) -> PlacedPod:
        """Bind a pod to a node whose stage has this placement for it."""
        after = self.stages.after(self.stage_of[node], pod.kind)
        assert after is not None
        self._move(node, after, pod.kind.number)
        self.census.change(pod.kind, after.template, 1)
        own, shared = placement.picks, pod.kind.shared_claims
        if self._shared_pools:
            for got in own:
                self._take_elsewhere(node, got.picks)
        if shared:
            shared = self._share(node, placement, shared)
            own = tuple(got for got in own if got.shared is None)
        placed = PlacedPod(pod, node, own, shared, self.now)
        self.pods[pod.name] = self._pods_on.setdefault(node, {})[pod.name] = placed
        self.version += 1
        return placed

    def _share(
        self, node: int, placement: Placement, claims: tuple[ObjectKey, ...]
    ) -> tuple[ObjectKey, ...]:
        """Allocate the shared claims of a pod that have no devices yet, and return those with
        devices.
        """
        for got in placement.picks:
            if got.shared is not None:
                allocation = placement.claims[got.name]
                self.claims[got.shared] = SharedClaim(allocation, self._usable_on(allocation, node))
        allocated = tuple(key for key in claims if key in self.claims)
        for key in allocated:
            self._change_consumers(key, 1)
        return allocated

    def remove(self, name: ObjectKey) -> None:
        """Remove a pod and free its own claims. A shared claim is freed with its last pod."""
        placed = self.pods.pop(name)
        del self._pods_on[placed.node][name]
        template = self.stage_of[placed.node].template
        self.census.change(placed.pod.kind, template, -1)
        after = self.stage_without(placed, self.stage_of[placed.node])
        self._move(placed.node, after, placed.pod.kind.number)
        for got in placed.picks:
            self._give_back_elsewhere(placed.node, got.picks)
        for key in placed.shared:
            self._change_consumers(key, -1)
        self.version += 1

    def stage_without(
        self, placed: PlacedPod, stage: NodeStage, *, keep_devices: bool = False
    ) -> NodeStage:
        """Return the stage of a node after removing a pod. `keep_devices` keeps its devices
        allocated.
        """
        kind, state = placed.pod.kind, stage.state
        picks = () if keep_devices else tuple(pick for got in placed.picks for pick in got.picks)
        if kind.shape is None:
            left = state.without_pod(
                pod_requests(kind.spec), host_ports(kind.spec), kind.view, picks, state.claims
            )
        else:
            needs = needs_of(kind.shape, state.template)
            left = state.without_pod(needs.requests, needs.ports, needs.view, picks, state.claims)
        return self.stages.without_pod(stage, left, kind)

    def free_claim(self, key: ObjectKey) -> None:
        """Free the devices of a shared claim."""
        claim = self.claims.pop(key)
        for node, stage in enumerate(self.stage_of):
            state = stage.state
            if claim.nodes == (node,) or not self._is_private(claim.allocation):
                state = _without_allocated(state, claim.allocation.devices)
            if state.held_claim(key) is not None:
                state = state.with_claims(each for each in state.claims if each.key != key)
            self._move(node, self.stages.with_state(stage, state))
        self.version += 1

    def devices_of(self, placed: PlacedPod, got: ClaimPicks) -> tuple[AllocatedDevice, ...]:
        """Return the devices of a pod's claim, with the device names of its node."""
        return allocation_of(got.picks, self.start.templates[placed.node]).devices

    def devices_of_claim(self, key: ObjectKey) -> tuple[AllocatedDevice, ...]:
        """Return the devices of a shared claim, with the device names of the node where it was
        allocated.
        """
        claim = self.claims[key]
        if len(claim.nodes) != 1:
            return claim.allocation.devices
        (node,) = claim.nodes
        own, index = self.start.templates[node], self.stage_of[node].state.template.index
        named: list[AllocatedDevice] = []
        for device in claim.allocation.devices:
            at = index.get(DeviceId(device.driver, device.pool, device.device))
            named.append(device if at is None else replace(device, pool=own.candidates[at].id.pool))
        return tuple(named)

    # -- nodes

    def close(self, node: int) -> None:
        """Exclude a node from new pods, as the taint of an unreachable node does.

        Its pods stay. It counts for spreading pods over nodes, unless a constraint honors taints.
        """
        stage = self.stage_of[node]
        used = {**dict(stage.state.used), "pods": stage.node.allocatable.get("pods", 0)}
        state = stage.state.with_used(tuple(sorted(used.items())))
        template = _tainted(stage.template, _UNREACHABLE)
        self._move(node, self.stages.with_state(stage, state.on_template(template)))
        self.version += 1

    def reserve(self, node: int) -> None:
        """Exclude a node from new pods until `release`. If it's already reserved, do nothing."""
        stage = self.stage_of[node]
        if node not in self._reserved:
            self._reserved[node] = stage.template
            self._replace_template(node, _tainted(stage.template, _NOMINATED))

    def release(self, node: int) -> None:
        """Accept new pods on a reserved node again."""
        template = self._reserved.pop(node, None)
        if template is not None:
            self._replace_template(node, template)

    def _replace_template(self, node: int, template: Template) -> None:
        stage = self.stage_of[node]
        self._move(node, self.stages.with_state(stage, stage.state.on_template(template)))
        self.version += 1

    def _enter(self, node: int, stage: NodeStage) -> None:
        members = self.nodes_in.setdefault(stage, [])
        self._position[node] = len(members)
        members.append(node)
        self.alike[node] = self.alike[members[0]] = len(members) > 1

    def _move(self, node: int, stage: NodeStage, kind: int = -1) -> None:
        before = self.stage_of[node]
        if stage is before:
            return
        members, position = self.nodes_in[before], self._position[node]
        last = members.pop()
        if last != node:
            members[position] = last
            self._position[last] = position
        if len(members) == 1:
            self.alike[members[0]] = 0
        elif not members:
            del self.nodes_in[before]
        self.stage_of[node] = stage
        self.changes.append((node, kind))
        self._enter(node, stage)

    # -- devices that several nodes can use

    def _others(self, node: int, pick: Pick) -> Iterable[int]:
        """Return the other nodes that a change of a device affects."""
        if not self._shared_pools:
            return ()
        device = self.stage_of[node].state.template.candidates[pick.index].id
        nodes = self._shared_pools.get(PoolId(device.driver, device.pool), ())
        return [other for other in nodes if other != node]

    def _take_elsewhere(self, node: int, picks: Iterable[Pick]) -> None:
        home = self.stage_of[node].state
        for pick in picks:
            for other in self._others(node, pick):
                stage = self.stage_of[other]
                index = stage.state.template.index.get(home.template.candidates[pick.index].id)
                if index is not None:
                    state = stage.state.with_picks([replace(pick, index=index)])
                    self._move(other, self.stages.with_state(stage, state))

    def _give_back_elsewhere(self, node: int, picks: Iterable[Pick]) -> None:
        home = self.stage_of[node].state
        for pick in picks:
            for other in self._others(node, pick):
                stage = self.stage_of[other]
                index = stage.state.template.index.get(home.template.candidates[pick.index].id)
                if index is not None:
                    state = stage.state.without_devices([replace(pick, index=index)])
                    self._move(other, self.stages.with_state(stage, state))

    # -- shared claims

    def _usable_on(self, allocation: ClaimAllocation, node: int) -> tuple[int, ...]:
        if self._is_private(allocation):
            return (node,)
        return usable_nodes(allocation, self.start.nodes)

    @staticmethod
    def _is_private(allocation: ClaimAllocation) -> bool:
        """Return True if only the node of the allocation can use the device."""
        selector = allocation.node_selector
        return selector is not None and any(term.match_fields for term in selector.terms)

    def _change_consumers(self, key: ObjectKey, by: int) -> None:
        claim = self.claims[key] = replace(
            self.claims[key], consumers=self.claims[key].consumers + by
        )
        if claim.consumers > 0:
            self._offer_claim(key)
        else:
            self.free_claim(key)

    def _offer_claim(self, key: ObjectKey) -> None:
        """Make a claim available to the nodes that can use it."""
        claim = self.claims[key]
        held = HeldClaim(key, claim.consumers)
        for node in claim.nodes:
            stage = self.stage_of[node]
            if stage.state.held_claim(key) != held:
                others = (each for each in stage.state.claims if each.key != key)
                self._move(
                    node, self.stages.with_state(stage, stage.state.with_claims((*others, held)))
                )


def usable_nodes(allocation: ClaimAllocation, nodes: Sequence[Node]) -> tuple[int, ...]:
    """Return the numbers of the nodes on which pods can use an allocated claim."""
    selector = allocation.node_selector
    return tuple(
        number
        for number, node in enumerate(nodes)
        if selector is None or node_matches(selector, node)
    )


def _tainted(template: Template, taint: Taint) -> Template:
    node = replace(template.node, taints=(*template.node.taints, taint))
    return replace(template, node=node, memory={})


def _without_allocated(state: NodeState, devices: Iterable[AllocatedDevice]) -> NodeState:
    return state.without_devices(state.picks_of(devices))


def _shared_pools(stages: Sequence[NodeStage]) -> dict[PoolId, tuple[int, ...]]:
    """Return the device pools that several nodes can use, with these nodes. Nodes of one template
    have separate pools.
    """
    seen: dict[PoolId, list[int]] = {}
    for node, stage in enumerate(stages):
        for pool in stage.state.template.pools:
            seen.setdefault(pool.id, []).append(node)
    shared: dict[PoolId, tuple[int, ...]] = {}
    for pool_id, nodes in seen.items():
        templates = {id(stages[node].state.template): stages[node] for node in nodes}
        if len(nodes) > 1 and not _is_copied(tuple(templates.values()), pool_id):
            shared[pool_id] = tuple(nodes)
    return shared


def _is_copied(stages: Sequence[NodeStage], pool_id: PoolId) -> bool:
    """Return True if each node of these templates has its own copy of a pool.

    This is true if every device belongs to a single node, and either there is only one template, or
    several templates (such as the templates of a predicted pool for its zones) contain devices of
    the same node.
    """
    if len(stages) == 1:
        return _is_bound(stages[0], pool_id)
    homes = {home for stage in stages for home in _homes(stage, pool_id)}
    return len(homes) == 1 and all(homes)


def _is_bound(stage: NodeStage, pool_id: PoolId) -> bool:
    """Return True if each device of a pool belongs to a single node."""
    return all(_homes(stage, pool_id))


def _homes(stage: NodeStage, pool_id: PoolId) -> set[str]:
    """Return the nodes to which the devices of a pool belong, or "" for a device that doesn't
    belong to a single node.
    """
    return {
        (
            candidate.device if candidate.slice.per_device_node_selection else candidate.slice
        ).node_name
        or ""
        for candidate in stage.state.template.candidates
        if PoolId(candidate.id.driver, candidate.id.pool) == pool_id
    }

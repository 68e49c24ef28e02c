"""Nodes that hold the same, once each: which pods are on them, and who uses which of their devices.

Told is what is built: nodes as the simulated scheduler fills them when the workloads arrive in the
first order, or, where no counts were simulated, as the packing does. Identical nodes are one group,
so size does not depend on counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from dra_planner.allocation import NodeState, Placement, open_offer, place, sight_of
from dra_planner.allocation.search.holdings import Pick
from dra_planner.catalog import find_machine
from dra_planner.drivers.nvidia import Gpu, gpu
from dra_planner.errors import CatalogError
from dra_planner.model import ObjectKey, Shape, WorkloadRef
from dra_planner.offers import pod_requests
from dra_planner.plan.nodes.devices import (
    KindCount,
    NodeDevice,
    add_kinds,
    count_kinds,
    describe_devices,
    in_use,
)
from dra_planner.plan.values import Plan
from dra_planner.sizing import NodePattern

if TYPE_CHECKING:  # only simulating needs the simulation
    from dra_planner.simulation import SimulationOutcome

Source = Literal["packing", "simulated", "observed"]
MOST_FILLED: Final = 250
"""Pods of one shape that are tried on one node to tell free devices from stranded ones."""

_FIRST: Final = ("cpu", "memory")  # what is looked at before the allocator is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroup:
    """So many identical nodes of a pool: pods by workload, and the devices of each.

    `gpu` is the model as the driver names it, "" where the machine has none that is known; memory
    and number of memory slices are those of one GPU, None where they are not known.
    """

    pool: str
    nodes: int
    pods: tuple[tuple[WorkloadRef, int], ...]
    devices: tuple[NodeDevice, ...]
    # how many of a workload on each node, by their name
    claims: tuple[tuple[tuple[WorkloadRef, str], int], ...] = ()
    gpu: str = ""
    gpu_memory_mib: int | None = None
    slices_per_gpu: int | None = None

    @property
    def kinds(self) -> tuple[KindCount, ...]:
        """Devices of all nodes of the group by kind."""
        return add_kinds(count_kinds(self.devices, self.nodes))


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledNodes:
    """All nodes of a plan, largest groups of each pool first. `order` is the order of arrival that
    was simulated.
    """

    source: Source
    order: str = ""
    groups: tuple[NodeGroup, ...]

    def of_pool(self, pool: str) -> tuple[NodeGroup, ...]:
        """Return the groups of that pool."""
        return tuple(group for group in self.groups if group.pool == pool)

    def kinds(self, pool: str) -> tuple[KindCount, ...]:
        """Return the devices of that pool by kind."""
        return add_kinds(count for group in self.of_pool(pool) for count in group.kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledState:
    """So many identical nodes of a pool: their state, the same with as much more of the demand as
    they take, and the shapes with claims that empty nodes of the pool take.
    """

    pool: str
    nodes: int
    state: NodeState
    full: NodeState
    takes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class _Content:
    """What is on one node: its state, pods by workload, and who uses which candidate."""

    state: NodeState
    pods: Counter[WorkloadRef] = field(default_factory=Counter)
    holders: dict[int, list[tuple[WorkloadRef, str]]] = field(default_factory=dict)
    claims: Counter[tuple[WorkloadRef, str]] = field(default_factory=Counter)

    def add(self, ref: WorkloadRef, pods: int = 1) -> None:
        self.pods[ref] += pods

    def hold(self, picks: Iterable[Pick], ref: WorkloadRef, claim: str) -> None:
        self.claims[ref, claim] += 1
        for pick in picks:
            if not pick.admin:
                self.holders.setdefault(pick.index, []).append((ref, claim))

    @property
    def key(self) -> tuple[object, ...]:
        held = tuple((index, tuple(sorted(refs))) for index, refs in sorted(self.holders.items()))
        return (tuple(sorted(self.pods.items())), held, self.state.taken, self.state.shares)


def fill_nodes(plan: Plan) -> FilledNodes:
    """Return the nodes that are built and what is on them; the same for the same plan."""
    filler = _Filler(plan)
    source, order, contents = _filled(plan, filler)
    return FilledNodes(source=source, order=order, groups=_grouped(plan, contents, filler))


def node_states(plan: Plan) -> Iterator[FilledState]:
    """Yield the nodes that are built as the allocator has them, filled as `fill_nodes` tells."""
    filler = _Filler(plan)
    for pool, of_pool in _alike(plan, _filled(plan, filler)[2], filler).items():
        for content, nodes in of_pool:
            takes = tuple(shape for shape, _ in filler.going_to(pool))
            full = filler.fill(pool, content.state)
            yield FilledState(pool=pool, nodes=nodes, state=content.state, full=full, takes=takes)


def _filled(plan: Plan, filler: _Filler) -> tuple[Source, str, Iterator[tuple[str, _Content, int]]]:
    """Return who fills the nodes, in which order of arrival where one was simulated, and what is on
    them.
    """
    judgement, found = plan.judgement, plan.judgement.simulated
    if judgement.outcome is not None:
        return "observed", "", _on_nodes(plan, judgement.outcome)
    counts = {pool.name: pool.recommended for pool in plan.pools}
    if found is not None and found.counts == counts and found.scale == 1 and found.outcomes:
        first = found.outcomes[0]
        return "simulated", str(first.order), _on_nodes(plan, first)
    return "packing", "", _Packed(plan, filler).contents()


def simulated_groups(plan: Plan, outcome: SimulationOutcome) -> tuple[NodeGroup, ...]:
    """Return the nodes of the plan's pools as one order of arrival leaves them; what is free is not
    asked about.
    """
    return _grouped(plan, _on_nodes(plan, outcome), _Filler(plan, most=0))


def _grouped(
    plan: Plan, contents: Iterable[tuple[str, _Content, int]], filler: _Filler
) -> tuple[NodeGroup, ...]:
    """Return equal nodes together, the pools in the order of the fleet, the largest groups of each
    first.
    """
    alike = _alike(plan, contents, filler)
    return tuple(_group(name, *each, filler) for name, of_pool in alike.items() for each in of_pool)


def _alike(
    plan: Plan, contents: Iterable[tuple[str, _Content, int]], filler: _Filler
) -> dict[str, list[tuple[_Content, int]]]:
    """Return equal nodes of each pool once with their number, and empty nodes for those that hold
    nothing.
    """
    pools = {pool.name: pool for pool in plan.pools}
    known: dict[str, dict[tuple[object, ...], tuple[_Content, int]]] = {name: {} for name in pools}
    for pool, content, nodes in contents:
        if pool in known:
            first, before = known[pool].get(content.key, (content, 0))
            known[pool][content.key] = (first, before + nodes)
    alike: dict[str, list[tuple[_Content, int]]] = {}
    for name, of_pool in known.items():
        alike[name] = sorted(of_pool.values(), key=lambda each: -each[1])
        empty = pools[name].nodes.desired - sum(nodes for _, nodes in alike[name])
        if empty > 0:
            alike[name].append((_Content(filler.open(name)), empty))
    return alike


def _group(pool: str, content: _Content, nodes: int, filler: _Filler) -> NodeGroup:
    holders = {index: tuple(sorted(refs)) for index, refs in content.holders.items()}
    model = filler.gpu(pool)
    return NodeGroup(
        pool=pool,
        nodes=nodes,
        pods=tuple(sorted(content.pods.items())),
        claims=tuple(sorted(content.claims.items())),
        devices=describe_devices(content.state, filler.fill(pool, content.state), holders),
        gpu="" if model is None else model.product_name or model.id,
        gpu_memory_mib=None if model is None else model.memory_mib,
        slices_per_gpu=None if model is None else model.memory_slices,
    )


class _Filler:
    """Opens empty nodes, and puts as much more of the demand on a node as it takes."""

    def __init__(self, plan: Plan, most: int = MOST_FILLED) -> None:
        """`most`: pods of one shape that are tried on one node."""
        self._plan = plan
        self._most = most
        self._offers = {offer.name: offer for offer in (*plan.offers, *plan.judgement.predicted)}
        self._sight = sight_of(plan.demand.shapes, plan.demand.namespaces)
        self._opened: dict[str, NodeState] = {}
        self._going: dict[str, list[tuple[Shape, tuple[int, ...]]]] = {}
        fits = {each.workload: dict(each.fits) for each in plan.workloads}
        self._shapes = [
            (
                shape,
                {
                    pool
                    for member in shape.members
                    for pool, said in fits.get(member.workload, {}).items()
                    if said == "fits"
                },
            )
            for shape in sorted(plan.demand.shapes, key=lambda each: each.id)
            if shape.claims and not shape.per_node and shape.figures.at(plan.level)
        ]

    def open(self, pool: str) -> NodeState:
        """Return the state of an empty node of a pool."""
        if pool not in self._opened:
            judgement = self._plan.judgement
            self._opened[pool] = open_offer(
                self._offers[pool], judgement.classes, judgement.features, self._sight
            )
        return self._opened[pool]

    def gpu(self, pool: str) -> Gpu | None:
        """Return the model of a pool's GPUs; None where it is not known or there are none."""
        try:
            accelerator = find_machine(self._offers[pool].machine).accelerator
        except CatalogError:
            return None
        return gpu(accelerator.gpu) if accelerator is not None and accelerator.gpu else None

    def fill(self, pool: str, state: NodeState) -> NodeState:
        """Return the node with as much more of the demand as it takes; no more once every device is
        in use.
        """
        free = [state.free(name) for name in _FIRST]
        for shape, (cpu, memory) in self.going_to(pool):
            if cpu > free[0] or memory > free[1]:
                continue
            for _ in range(self._most):
                if not state.template.searched & ~in_use(state):
                    return state
                answer = place(shape, state)
                if not isinstance(answer, Placement) or _devices(answer.node) == _devices(state):
                    break
                state = answer.node
                free = [state.free(name) for name in _FIRST]
        return state

    def going_to(self, pool: str) -> list[tuple[Shape, tuple[int, ...]]]:
        """Return the shapes that nodes of a pool take, and what a pod of each requests of what runs
        out first.
        """
        if pool not in self._going:
            self._going[pool] = [
                (shape, tuple(pod_requests(shape.pod).get(name, 0) for name in _FIRST))
                for shape, pools in self._shapes
                if pool in pools or self._plan.fleet is None
            ]
        return self._going[pool]


def _devices(state: NodeState) -> tuple[object, ...]:
    return state.taken, state.shares


# -- nodes as a packing fills them


class _Packed:
    """Hands out pods of workloads to the nodes of a packing, shape by shape."""

    def __init__(self, plan: Plan, filler: _Filler) -> None:
        self._plan = plan
        self._filler = filler
        self._shapes = {shape.id: shape for shape in plan.demand.shapes}
        self._left: dict[str, list[tuple[WorkloadRef, int]]] = {}
        for shape in plan.demand.shapes:
            members = sorted(shape.members, key=lambda each: (each.workload, each.pod_set))
            self._left[shape.id] = [
                (each.workload, each.figures.at(plan.level) or 0) for each in members
            ]

    def contents(self) -> Iterator[tuple[str, _Content, int]]:
        for pattern in self._plan.judgement.sizing.patterns:
            placed = list(self._place(pattern))
            state = placed[-1][1].node if placed else self._filler.open(pattern.pool)
            left = pattern.nodes
            while left > 0:
                nodes = max(1, min(left, self._alike(placed)))
                yield pattern.pool, self._content(placed, state, nodes), nodes
                left -= nodes

    def _place(self, pattern: NodePattern) -> Iterator[tuple[Shape, Placement]]:
        """Yield each pod of the pattern with its placement, DaemonSets first, as sizing put them
        there.
        """
        state = self._filler.open(pattern.pool)
        daemons = sorted(
            (shape for shape in self._shapes.values() if shape.per_node), key=lambda each: each.id
        )
        pods = [(daemon, 1) for daemon in daemons] + [
            (self._shapes[name], count) for name, count in pattern.pods
        ]
        for shape, count in pods:
            for _ in range(count):
                answer = place(shape, state)
                if isinstance(answer, Placement):
                    state = answer.node
                    yield shape, answer

    def _alike(self, placed: Iterable[tuple[Shape, Placement]]) -> int:
        """Return on how many nodes in a row every shape's pods are of one workload."""
        per_node = Counter(shape.id for shape, _ in placed if not shape.per_node)
        return min(
            (self._next(name)[1] // pods for name, pods in per_node.items()),
            default=MOST_FILLED * 1_000,
        )

    def _next(self, shape: str) -> tuple[WorkloadRef, int]:
        """Return the workload whose pod of the shape is next, and how many it has left."""
        members = self._left[shape]
        while len(members) > 1 and members[0][1] <= 0:
            members.pop(0)
        return members[0]

    def _content(
        self, placed: Iterable[tuple[Shape, Placement]], state: NodeState, nodes: int
    ) -> _Content:
        content = _Content(state)
        for shape, placement in placed:
            ref, left = self._next(shape.id)
            if not shape.per_node:
                self._left[shape.id][0] = (ref, left - nodes)
            content.add(ref)
            for got in placement.picks:
                content.hold(got.picks, ref, str(got.shared or got.name))
        return content


# -- nodes as a simulation leaves them


def _on_nodes(plan: Plan, outcome: SimulationOutcome) -> Iterator[tuple[str, _Content, int]]:
    """Yield every node of a simulation with the pool that it is counted in."""
    cluster = outcome.cluster
    contents = [_Content(stage.state) for stage in cluster.stage_of]
    shared: dict[ObjectKey, WorkloadRef] = {}
    owners = {pod.meta.key: pod.owner for offer in plan.offers for pod in offer.pods}
    for name, placed in cluster.pods.items():
        shape = placed.pod.kind.shape
        refs = [member.workload for member in shape.members] if shape is not None else []
        ref = owners.get(name) or _workload_of(name, refs)
        contents[placed.node].add(ref)
        for got in placed.picks:
            contents[placed.node].hold(got.picks, ref, got.name)
        for key in placed.shared:
            shared.setdefault(key, ref)
    for key, ref in shared.items():
        claim = cluster.claims.get(key)
        if claim is not None and len(claim.nodes) == 1:
            content = contents[claim.nodes[0]]
            content.hold(content.state.picks_of(claim.allocation.devices), ref, str(key))
    for node, content in zip(outcome.nodes, contents, strict=True):
        yield _pool_of(node.meta.name, plan), content, 1


def _pool_of(node: str, plan: Plan) -> str:
    """Return the pool of a simulated node, which is named <pool>-<index>; an observed one is its
    own, or as is said.
    """
    if node in plan.judgement.groups:
        return plan.judgement.groups[node]
    return node if plan.fleet is None else node.rpartition("-")[0]


def _workload_of(pod: ObjectKey, refs: Iterable[WorkloadRef]) -> WorkloadRef:
    """Return which of the workloads makes the pod of that name; the pod itself where none does."""
    for ref in sorted(refs, key=lambda each: -len(each.name)):
        index = pod.name.removeprefix(f"{ref.name}-")
        is_its = (
            pod.name == ref.name if ref.kind == "Pod" else index != pod.name and index.isdecimal()
        )
        if is_its and pod.namespace == ref.namespace:
            return ref
    return WorkloadRef("Pod", pod.namespace, pod.name)

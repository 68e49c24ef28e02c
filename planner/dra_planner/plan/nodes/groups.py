"""Groups of nodes with equal contents: their pods, and the users of their devices.

The nodes are filled as the simulated scheduler does in the first arrival order or, without
simulated counts, as in the packing. Equal nodes are one group, so the size doesn't depend on
counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from dra_planner.allocation import NodeState
from dra_planner.model import Shape, WorkloadRef
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.content import NodeContent
from dra_planner.plan.nodes.devices import (
    KindCount,
    NodeDevice,
    add_kinds,
    count_kinds,
    describe_devices,
)
from dra_planner.plan.nodes.filler import NodeFiller
from dra_planner.plan.nodes.packed_nodes import PackedNodes
from dra_planner.plan.nodes.simulated_nodes import simulated_contents

if TYPE_CHECKING:  # only the simulation needs this module
    from dra_planner.simulation import SimulationOutcome

Source = Literal["packing", "simulated", "observed"]


class NodeGroup(Struct, frozen=True, kw_only=True):
    """A number of equal nodes of a pool: pods by workload, and devices.

    `gpu` is the driver's model name, or "" if the machine type has no known GPU. The memory and the
    number of memory slices refer to one GPU, and are None if unknown.
    """

    pool: str
    nodes: int
    pods: tuple[tuple[WorkloadRef, int], ...]
    devices: tuple[NodeDevice, ...]
    # number of pods of each workload on each node, by the workload's name
    claims: tuple[tuple[tuple[WorkloadRef, str], int], ...] = ()
    gpu: str = ""
    gpu_memory_mib: int | None = None
    slices_per_gpu: int | None = None

    @property
    def kinds(self) -> tuple[KindCount, ...]:
        """Devices of all nodes of the group by kind."""
        return add_kinds(count_kinds(self.devices, self.nodes))


class FilledNodes(Struct, frozen=True, kw_only=True):
    """All nodes of a plan, largest groups of each pool first. `order` is the simulated arrival
    order.
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


class FilledState(Struct, frozen=True, kw_only=True):
    """A number of equal nodes of a pool: their state, their state after adding as many more pods of
    the demand as fit, and the shapes with claims that fit empty nodes of the pool.
    """

    pool: str
    nodes: int
    state: NodeState
    full: NodeState
    takes: tuple[Shape, ...]


def fill_nodes(plan: Plan) -> FilledNodes:
    """Return the built nodes and their contents. Equal plans have equal results."""
    filler = NodeFiller(plan)
    source, order, contents = _filled(plan, filler)
    return FilledNodes(source=source, order=order, groups=_grouped(plan, contents, filler))


def node_states(plan: Plan) -> Iterator[FilledState]:
    """Yield the built nodes in the form that the allocator uses, filled as in `fill_nodes`."""
    filler = NodeFiller(plan)
    for pool, of_pool in _alike(plan, _filled(plan, filler)[2], filler).items():
        for content, nodes in of_pool:
            takes = tuple(shape for shape, _ in filler.going_to(pool))
            full = filler.fill(pool, content.state)
            yield FilledState(pool=pool, nodes=nodes, state=content.state, full=full, takes=takes)


def _filled(
    plan: Plan, filler: NodeFiller
) -> tuple[Source, str, Iterator[tuple[str, NodeContent, int]]]:
    """Return the method that filled the nodes, the simulated arrival order (if any), and the
    contents.
    """
    judgement = plan.judgement
    if judgement.outcome is not None:
        return "observed", "", simulated_contents(plan, judgement.outcome)
    for first in outcomes_on_built_nodes(plan)[:1]:
        return "simulated", str(first.order), simulated_contents(plan, first)
    return "packing", "", PackedNodes(plan, filler).contents()


def outcomes_on_built_nodes(plan: Plan) -> tuple[SimulationOutcome, ...]:
    """Return the simulated arrival orders on the nodes to build, or () if these nodes weren't
    simulated completely.
    """
    found = plan.judgement.simulated
    counts = {pool.name: pool.recommended for pool in plan.pools}
    if found is None or found.counts != counts or found.scale != 1:
        return ()
    return found.outcomes


def simulated_groups(plan: Plan, outcome: SimulationOutcome) -> tuple[NodeGroup, ...]:
    """Return the nodes of the plan's pools after one arrival order, without checking whether free
    devices are stranded.
    """
    return _grouped(plan, simulated_contents(plan, outcome), NodeFiller(plan, most=0))


def _grouped(
    plan: Plan, contents: Iterable[tuple[str, NodeContent, int]], filler: NodeFiller
) -> tuple[NodeGroup, ...]:
    """Return equal nodes in groups, by pool in the order of the fleet, largest first."""
    alike = _alike(plan, contents, filler)
    return tuple(_group(name, *each, filler) for name, of_pool in alike.items() for each in of_pool)


def _alike(
    plan: Plan, contents: Iterable[tuple[str, NodeContent, int]], filler: NodeFiller
) -> dict[str, list[tuple[NodeContent, int]]]:
    """Return each pool's equal nodes once, with their number, and empty nodes for pools without
    pods.
    """
    pools = {pool.name: pool for pool in plan.pools}
    known: dict[str, dict[tuple[object, ...], tuple[NodeContent, int]]] = {
        name: {} for name in pools
    }
    for pool, content, nodes in contents:
        if pool in known:
            first, before = known[pool].get(content.key, (content, 0))
            known[pool][content.key] = (first, before + nodes)
    alike: dict[str, list[tuple[NodeContent, int]]] = {}
    for name, of_pool in known.items():
        alike[name] = sorted(of_pool.values(), key=lambda each: -each[1])
        empty = pools[name].nodes.desired - sum(nodes for _, nodes in alike[name])
        if empty > 0:
            alike[name].append((NodeContent(filler.open(name)), empty))
    return alike


def _group(pool: str, content: NodeContent, nodes: int, filler: NodeFiller) -> NodeGroup:
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

"""Create empty nodes of a plan, and fill nodes with as many more pods of the demand as fit."""

from __future__ import annotations

from typing import Final

from dra_planner.allocation import NodeState, Placement, open_offer, place, sight_of
from dra_planner.catalog import find_machine
from dra_planner.drivers.nvidia import Gpu, gpu
from dra_planner.errors import CatalogError
from dra_planner.model import Shape
from dra_planner.offers import pod_requests
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.devices import in_use

MOST_FILLED: Final = 250
"""Maximum number of pods of one shape to try on a node, to distinguish free from stranded
devices.
"""

_FIRST: Final = ("cpu", "memory")  # number of nodes to check before calling the allocator


class NodeFiller:
    """Creates empty nodes, and fills a node with as many more pods of the demand as fit."""

    def __init__(self, plan: Plan, most: int = MOST_FILLED) -> None:
        """Create a filler. `most` is the maximum number of pods of one shape to try on a node."""
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
                    for pool, verdict in fits.get(member.workload, {}).items()
                    if verdict == "fits"
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
        """Return the model of a pool's GPUs, or None if it's unknown, or if the pool has no
        GPUs.
        """
        try:
            accelerator = find_machine(self._offers[pool].machine).accelerator
        except CatalogError:
            return None
        return gpu(accelerator.gpu) if accelerator is not None and accelerator.gpu else None

    def fill(self, pool: str, state: NodeState) -> NodeState:
        """Return the node filled with as many more pods as fit.

        Filling stops when all devices are in use.
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
        """Return the shapes on a pool's nodes, each with its request of the resource that runs out
        first.
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

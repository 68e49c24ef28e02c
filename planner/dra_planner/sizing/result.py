"""The result of sizing: counts per pool, placed workloads, and pending ones with reasons."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from msgspec import Struct

from dra_planner.model import DemandLevel, Reason, Verdict, WorkloadRef
from dra_planner.records import equality
from dra_planner.sizing.bound.exact import BoundModel
from dra_planner.sizing.bound.proof import BoundProof


class DeviceCount(Struct, frozen=True, kw_only=True):
    """Devices on the planned nodes of a pool. `stranded` devices are free, but no pod of the demand
    can use them.
    """

    total: int
    used: int
    stranded: int


@equality(unhashed=("left",))
class PoolSize(Struct, frozen=True, kw_only=True):
    """Nodes of one pool: its limits, the proven minimum, and the nodes of the best packing found.

    `bound` holds for placing the whole demand with every other pool at its maximum, or, if the
    maximums don't suffice, with any maximums. It can exceed `maximum`, but `plan` never does.
    `enough` is a maximum that, together with the other pools' `enough`, suffices for all pods that
    fit some node, at the lowest total price found. It equals the pool's maximum if no raise is
    needed, or if no raise helps. `used_with_enough` are the pool's nodes with these maximums.
    """

    name: str
    minimum: int
    bound: int
    plan: int
    maximum: int
    enough: int
    used_with_enough: int
    devices: DeviceCount
    # unused amounts on all planned nodes, in the units of `Amounts`
    left: Mapping[str, int]
    hourly_usd: Decimal | None = None  # price of one node


class NodePattern(Struct, frozen=True, kw_only=True):
    """A number of nodes of a pool with equal contents: pods of shapes (by ID) in the order of
    placement.
    """

    pool: str
    nodes: int
    pods: tuple[tuple[str, int], ...]


class WorkloadSize(Struct, frozen=True, kw_only=True):
    """The result for one workload. `wanted` is None if its number of pods isn't limited at this
    level.
    """

    workload: WorkloadRef
    wanted: int | None
    placed: int
    pending: int
    verdict: Verdict
    placements: tuple[tuple[str, int], ...] = ()  # pods by pool
    # whether such a pod fits on an empty node of the pool, by pool
    fits: tuple[tuple[str, Verdict], ...] = ()
    reasons: tuple[Reason, ...] = ()


@equality(unhashed=("packing",))
class Evidence(Struct, frozen=True, kw_only=True):
    """The input of a certificate (`certificate.certificate_of`): the model, its proof, and the
    packing.

    `plain` are the rows of each pool that aren't rounded from others. `costs` are micro-dollars per
    node if any price is known, otherwise 1. `packing` contains (pool, nodes, contents of each),
    by positions of pools and items.
    """

    pools: tuple[str, ...]
    items: tuple[str, ...]
    model: BoundModel
    plain: tuple[int, ...]
    costs: tuple[int, ...]
    proof: BoundProof
    packing: tuple[tuple[int, int, Mapping[int, int]], ...]


@equality(ignored=("evidence",))
class Sizing(Struct, frozen=True, kw_only=True):
    """The answer for one level of demand, every pool at most at its maximum.

    `nodes_bound` and `hourly_bound` are proven for all pools together, within the maximums. If the
    demand exceeds the maximums, the bounds ignore the maximums, so they can be lower. `method`
    names the packing of the plan. `hourly_*` is None unless every pool in use has a price.
    """

    level: DemandLevel
    verdict: Verdict
    pools: tuple[PoolSize, ...]
    workloads: tuple[WorkloadSize, ...]
    nodes_bound: int
    nodes_plan: int
    hourly_bound: Decimal | None
    hourly_plan: Decimal | None
    method: str
    patterns: tuple[NodePattern, ...] = ()
    evidence: Evidence | None = None

    def pool(self, name: str) -> PoolSize:
        """Return the size of that pool. Raises KeyError."""
        for size in self.pools:
            if size.name == name:
                return size
        raise KeyError(name)

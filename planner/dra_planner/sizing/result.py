"""What sizing says: counts per pool, who runs where, who waits and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from dra_planner.model import DemandLevel, Reason, Verdict, WorkloadRef
from dra_planner.sizing.bound.exact import BoundModel
from dra_planner.sizing.bound.proof import BoundProof


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCount:
    """Devices on the planned nodes of a pool; `stranded` are free, and no pod of the demand can use
    them.
    """

    total: int
    used: int
    stranded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSize:
    """Nodes of one pool: its limits, the proved least, and what the best packing found needs.

    `bound` holds for placing the whole demand, every other pool at its maximum; it may exceed
    `maximum`, `plan` never does. `enough` is a maximum under which, with those of the other pools,
    all that some node takes is placed: the pool's own where it need not be raised, or where no
    raise was found to help.
    """

    name: str
    minimum: int
    bound: int
    plan: int
    maximum: int
    enough: int
    devices: DeviceCount
    # unused amounts over all planned nodes, units of `Amounts`
    left: Mapping[str, int] = field(hash=False)
    hourly_usd: Decimal | None = None  # of one node


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePattern:
    """So many nodes of a pool that are filled alike: pods of shapes (by id) in the order in which
    they come.
    """

    pool: str
    nodes: int
    pods: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSize:
    """What becomes of one workload; `wanted` is None where nothing bounds its pods at this
    level.
    """

    workload: WorkloadRef
    wanted: int | None
    placed: int
    pending: int
    verdict: Verdict
    placements: tuple[tuple[str, int], ...] = ()  # pool, pods
    fits: tuple[tuple[str, Verdict], ...] = ()  # pool, whether an empty node of it takes such a pod
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a certificate is made of (`certificate.certificate_of`): the model, its proof and the
    packing.

    `plain` are rows of each pool that are not rounded from others; `costs` are micro-dollars of one
    node where every price is known, else 1; `packing` are (pool, nodes, what each holds), by
    positions of pools and items.
    """

    pools: tuple[str, ...]
    items: tuple[str, ...]
    model: BoundModel
    plain: tuple[int, ...]
    costs: tuple[int, ...]
    proof: BoundProof
    packing: tuple[tuple[int, int, Mapping[int, int]], ...] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """The answer for one level of demand, every pool at most at its maximum.

    `nodes_bound` and `hourly_bound` are proved over all pools together; `method` names the packing
    that gave the plan. `hourly_*` is None unless every pool in use has a price.
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
    evidence: Evidence | None = field(default=None, compare=False, repr=False)

    def pool(self, name: str) -> PoolSize:
        """Return the size of that pool; raises KeyError."""
        for size in self.pools:
            if size.name == name:
                return size
        raise KeyError(name)

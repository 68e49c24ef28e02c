"""The parts of a node that never change: its pools, and its devices in search order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from dra_planner.allocation.behaviour import Behaviour, behaviour_of
from dra_planner.allocation.node.device_pools import DevicePool, device_reaches, gather_pools
from dra_planner.allocation.node.pod_rules import NOTHING_SEEN, Sight
from dra_planner.allocation.search.devices import Candidate, DeviceId
from dra_planner.model import DeviceClass, Node, ResourceSlice
from dra_planner.releases import Features


class Template(Struct, frozen=True, eq=False):
    """A node with all devices that it can use.

    Sets of devices are integers, with bit i for candidate i.

    `searched` are the devices that the search visits. The other devices belong to the same pools on
    other nodes, and affect only counters. `broken` are positions at which a version fails because
    of an invalid pool, with the error message. `memory` caches results by shape, and never changes
    an answer.
    """

    node: Node
    features: Features
    behaviour: Behaviour
    classes: Mapping[str, DeviceClass]
    pools: tuple[DevicePool, ...]
    candidates: tuple[Candidate, ...]
    searched: int
    pool_bits: tuple[int, ...]
    broken: Mapping[int, str]
    index: Mapping[DeviceId, int]
    bits: Mapping[DeviceId, int]
    sight: Sight
    devices_doubt: str = ""  # reason why it's unknown whether its devices will exist
    is_observed: bool = False  # the node exists, so the fleet doesn't determine its devices
    memory: dict[Any, Any] = {}

    def pool_of(self, candidate: Candidate) -> DevicePool:
        """Return the pool of a candidate."""
        for pool, bits in zip(self.pools, self.pool_bits, strict=True):
            if bits & candidate.bit:
                return pool
        raise LookupError(f"{candidate.id} belongs to no pool of {self.node.name}")


def build_template(
    node: Node,
    slices: Sequence[ResourceSlice],
    classes: Mapping[str, DeviceClass],
    features: Features,
    sight: Sight = NOTHING_SEEN,
) -> Template:
    """Return the template of a node from the cluster's slices, or from the node's own slices if
    other slices are irrelevant.
    """
    behaviour = behaviour_of(features)
    pools = gather_pools(slices, node, features)
    candidates: list[Candidate] = []
    bits = [0] * len(pools)
    broken: dict[int, str] = {}
    for number, pool in enumerate(pools):
        if pool.invalid and features.meets_invalid_pools:
            broken[len(candidates)] = f"pool {pool.id.pool} is invalid: {pool.invalid_reason}"
            first = [s for s in pool.slices if s.devices][:1]
            bits[number] = _add(candidates, pool, first, node, features, limit=1)
        elif not pool.invalid:
            bits[number] = _add(candidates, pool, pool.slices, node, features)
    searched = (1 << len(candidates)) - 1
    for number, pool in enumerate(pools):
        bits[number] |= _add(candidates, pool, pool.others, node, features)
    return Template(
        node=node,
        features=features,
        behaviour=behaviour,
        classes=classes,
        pools=pools,
        candidates=tuple(candidates),
        searched=searched,
        pool_bits=tuple(bits),
        broken=broken,
        index={c.id: c.index for c in reversed(candidates)},
        bits=_bits(candidates),
        sight=sight,
    )


def _bits(candidates: Sequence[Candidate]) -> dict[DeviceId, int]:
    bits: dict[DeviceId, int] = {}
    for candidate in candidates:
        bits[candidate.id] = bits.get(candidate.id, 0) | candidate.bit
    return bits


def _add(
    candidates: list[Candidate],
    pool: DevicePool,
    slices: Sequence[ResourceSlice],
    node: Node,
    features: Features,
    limit: int | None = None,
) -> int:
    """Add the devices of some slices, and return their bits."""
    added = 0
    for item in slices:
        for device in item.devices[:limit]:
            index = len(candidates)
            candidate = Candidate(
                index=index,
                bit=1 << index,
                id=DeviceId(pool.id.driver, pool.id.pool, device.name),
                device=device,
                slice=item,
                reachable=not item.per_device_node_selection or device_reaches(device, node),
                shareable=features.consumable_capacity and device.allow_multiple_allocations,
            )
            candidates.append(candidate)
            added |= candidate.bit
    return added

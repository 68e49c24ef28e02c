"""The nodes of a simulation: those of a snapshot, or so many of each pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest

from dra_planner.model import Node
from dra_planner.offers import Offer

ZONE = "topology.kubernetes.io/zone"
_REGION = "topology.kubernetes.io/region"


@dataclass(frozen=True, slots=True)
class SimulatedNode:
    """A node, the offer that says what it has, and the pool that it is counted in."""

    node: Node
    offer: Offer
    group: str


def observed_nodes(offers: Iterable[Offer]) -> tuple[SimulatedNode, ...]:
    """Return the nodes of a snapshot, each its own group."""
    return tuple(SimulatedNode(offer.node, offer, offer.name) for offer in offers)


def predicted_nodes(offers: Iterable[Offer], counts: Mapping[str, int]) -> tuple[SimulatedNode, ...]:
    """Return so many nodes of each pool, named <pool>-<index>, in turn in the zones of the pool."""
    return tuple(each for offer in offers for each in PoolNodes.of(offer).take(counts.get(offer.name, 0)))


@dataclass(frozen=True, slots=True)
class PoolNodes:
    """The nodes that a pool may have; `zoned` is its offer in each of its zones."""

    name: str
    zoned: tuple[Offer, ...]

    @classmethod
    def of(cls, offer: Offer) -> PoolNodes:
        return cls(offer.name, tuple(_in_zone(offer, zone) for zone in offer.zones) or (offer,))

    def take(self, count: int) -> Iterator[SimulatedNode]:
        """Yield the first so many nodes."""
        for index in range(count):
            offer = self.zoned[index % len(self.zoned)]
            meta = replace(offer.node.meta, name=f"{self.name}-{index}")
            yield SimulatedNode(replace(offer.node, meta=meta), offer, self.name)


def _in_zone(offer: Offer, zone: str) -> Offer:
    meta = offer.node.meta
    return replace(offer, node=replace(offer.node, meta=replace(meta, labels={**meta.labels, ZONE: zone})))


def interleave_zones(nodes: Iterable[SimulatedNode]) -> list[SimulatedNode]:
    """Return nodes as the scheduler walks them: one of each zone in turn.

    Source: kubernetes/kubernetes:pkg/scheduler/backend/cache/node_tree.go@v1.36.3.
    """
    zones: dict[tuple[str | None, ...], list[SimulatedNode]] = {}
    for each in nodes:
        zones.setdefault(tuple(each.node.meta.labels.get(key) for key in (_REGION, ZONE)), []).append(each)
    return [each for turn in zip_longest(*zones.values()) for each in turn if each is not None]

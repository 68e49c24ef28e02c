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
    return tuple(each for offer in offers for each in _nodes_of(offer, counts.get(offer.name, 0)))


def _nodes_of(offer: Offer, count: int) -> Iterator[SimulatedNode]:
    zoned = [_in_zone(offer, zone) for zone in offer.zones] or [offer]
    for index in range(count):
        here = zoned[index % len(zoned)]
        meta = replace(here.node.meta, name=f"{offer.name}-{index}")
        yield SimulatedNode(replace(here.node, meta=meta), here, offer.name)


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

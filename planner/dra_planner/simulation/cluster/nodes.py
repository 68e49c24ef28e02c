"""The nodes of a simulation: a snapshot's nodes, or a number of nodes of each pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import Node
from dra_planner.offers import Offer

ZONE = "topology.kubernetes.io/zone"
_REGION = "topology.kubernetes.io/region"


class SimulatedNode(Struct, frozen=True):
    """A node, its offer, and its pool."""

    node: Node
    offer: Offer
    group: str


def observed_nodes(
    offers: Iterable[Offer], groups: Mapping[str, str] | None = None
) -> tuple[SimulatedNode, ...]:
    """Return the nodes of a snapshot. Each is its own group, unless `groups` contains its name."""
    return tuple(
        SimulatedNode(offer.node, offer, (groups or {}).get(offer.name, offer.name))
        for offer in offers
    )


def predicted_nodes(
    offers: Iterable[Offer], counts: Mapping[str, int]
) -> tuple[SimulatedNode, ...]:
    """Return these numbers of nodes of each pool, named <pool>-<index>, alternating between the
    pool's zones.
    """
    return tuple(
        each for offer in offers for each in PoolNodes.of(offer).take(counts.get(offer.name, 0))
    )


class PoolNodes(Struct, frozen=True):
    """The possible nodes of a pool, named <stem>-<index>. `zoned` is its offer in each of its
    zones.
    """

    name: str
    zoned: tuple[Offer, ...]
    stem: str

    @classmethod
    def of(cls, offer: Offer, stem: str = "") -> PoolNodes:
        stem = stem or offer.name
        zoned = (_in_zone(_named(offer, f"{stem}-{zone}"), zone) for zone in offer.zones)
        return cls(offer.name, tuple(zoned) or (_named(offer, stem),), stem)

    def take(self, count: int) -> Iterator[SimulatedNode]:
        """Yield the first `count` nodes."""
        for index in range(count):
            offer = self.zoned[index % len(self.zoned)]
            meta = replace(offer.node.meta, name=f"{self.stem}-{index}")
            yield SimulatedNode(replace(offer.node, meta=meta), offer, self.name)


def _named(offer: Offer, name: str) -> Offer:
    """Return the offer for a node with this name, whose devices are in its own pools."""
    own = offer.node.name
    slices = tuple(
        replace(each, node_name=name, pool=f"{name}/{each.pool}") if each.node_name == own else each
        for each in offer.slices
    )
    return replace(
        offer, node=replace(offer.node, meta=replace(offer.node.meta, name=name)), slices=slices
    )


def _in_zone(offer: Offer, zone: str) -> Offer:
    meta = offer.node.meta
    return replace(
        offer, node=replace(offer.node, meta=replace(meta, labels={**meta.labels, ZONE: zone}))
    )


def interleave_zones(nodes: Iterable[SimulatedNode]) -> list[SimulatedNode]:
    """Return nodes in the scheduler's order, which alternates between zones. Source:
    kubernetes/kubernetes:pkg/scheduler/backend/cache/node_tree.go@v1.36.3.
    """
    zones: dict[tuple[str | None, ...], list[SimulatedNode]] = {}
    for each in nodes:
        zones.setdefault(
            tuple(each.node.meta.labels.get(key) for key in (_REGION, ZONE)), []
        ).append(each)
    return [each for turn in zip_longest(*zones.values()) for each in turn if each is not None]

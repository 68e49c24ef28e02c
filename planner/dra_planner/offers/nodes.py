"""The individual nodes of a predicted offer, each with the slices that it publishes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import Node, ResourceSlice
from dra_planner.offers.offer import Offer

_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_HOSTNAME = "kubernetes.io/hostname"


class PredictedNode(Struct, frozen=True, kw_only=True):
    """One node of a pool and its slices. `zone` is "" if it's unknown."""

    pool: str
    node: Node
    slices: tuple[ResourceSlice, ...]
    zone: str = ""


def nodes_of(offer: Offer, count: int, zones: Sequence[str] = ()) -> tuple[PredictedNode, ...]:
    """Return `count` nodes of a predicted offer, named <pool>-0 and so on, alternating between the
    pool's zones.

    `zones` are used if the offer doesn't name zones.
    """
    within = offer.zones or tuple(zones)
    return tuple(
        _node(offer, index, within[index % len(within)] if within else "") for index in range(count)
    )


def _node(offer: Offer, index: int, zone: str) -> PredictedNode:
    template, name = offer.node, f"{offer.name}-{index}"
    labels = {**template.meta.labels, _HOSTNAME: name} | (
        dict.fromkeys(_ZONES, zone) if zone else {}
    )
    node = replace(template, meta=replace(template.meta, name=name, labels=labels))
    own = template.meta.name
    slices = tuple(
        replace(
            each,
            name=each.name.removesuffix(own) + name,
            pool=name if each.pool == own else each.pool,
            node_name=name if each.node_name == own else each.node_name,
        )
        for each in offer.slices
    )
    return PredictedNode(pool=offer.name, node=node, slices=slices, zone=zone)

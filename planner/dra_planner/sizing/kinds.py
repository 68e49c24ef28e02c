"""Nodes that differ in name, labels and price only: one kind, asked once for all of its pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dra_planner.model import ResourceSlice
from dra_planner.offers import Offer


def group_kinds(offers: Sequence[Offer]) -> tuple[int, ...]:
    """Return, for each offer, the position of the first one whose nodes have the same amounts, devices and pods.

    Labels and taints may differ: they decide whether a pod may go to a node at all, and not what it takes there.
    """
    found: dict[object, list[tuple[int, tuple[ResourceSlice, ...] | None]]] = {}
    kinds = []
    for index, offer in enumerate(offers):
        slices = _nameless(offer)
        known = found.setdefault(_key(offer), [])
        alike = [first for first, other in known if slices is not None and other == slices]
        kinds.append(alike[0] if alike else index)
        if not alike:
            known.append((index, slices))
    return tuple(kinds)


def _key(offer: Offer) -> object:
    """What is cheap to compare."""
    return (
        _sorted(offer.node.allocatable),
        _sorted(offer.at_most),
        _sorted(offer.used),
        tuple((each.driver, len(each.devices)) for each in offer.slices),
    )


def _sorted(amounts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(amounts.items()))


def _nameless(offer: Offer) -> tuple[ResourceSlice, ...] | None:
    """Return the slices without the node's name; None for a node that no other is equal to.

    That is one that runs pods, holds claims or sees devices of others.
    """
    name = offer.node.name
    if offer.pods or offer.claims or any(each.node_name != name for each in offer.slices):
        return None
    return tuple(
        replace(each, name=each.name.replace(name, ""), pool=each.pool.replace(name, ""), node_name=None)
        for each in offer.slices
    )

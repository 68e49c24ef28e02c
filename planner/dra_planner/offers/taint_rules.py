"""Apply DeviceTaintRules to offers.

Source: kubernetes/dynamic-resource-allocation:resourceslice/tracker/tracker.go@v0.37.0
(applyPatches): the taint of each rule is appended to the driver's taints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from dra_planner.model import DeviceTaintRule, ResourceSlice
from dra_planner.offers.offer import Offer


def with_taint_rules(
    offers: Sequence[Offer], rules: Iterable[DeviceTaintRule]
) -> tuple[Offer, ...]:
    """Return the offers with the taints of these rules on their devices.

    A rule for a device pool doesn't match a predicted node, because pool names are known only after
    nodes exist.
    """
    ordered = sorted(rules, key=lambda rule: rule.meta.name)
    if not ordered:
        return tuple(offers)
    return tuple(
        replace(
            offer, slices=tuple(_tainted(part, _known(ordered, offer)) for part in offer.slices)
        )
        for offer in offers
    )


def _known(rules: Sequence[DeviceTaintRule], offer: Offer) -> list[DeviceTaintRule]:
    return [rule for rule in rules if rule.pool is None or offer.origin == "observed"]


def _tainted(part: ResourceSlice, rules: Sequence[DeviceTaintRule]) -> ResourceSlice:
    devices = tuple(
        replace(
            device,
            taints=(*device.taints, *(rule.taint for rule in rules if rule.selects(part, device))),
        )
        for device in part.devices
    )
    return part if devices == part.devices else replace(part, devices=devices)

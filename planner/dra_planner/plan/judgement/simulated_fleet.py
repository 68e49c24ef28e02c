"""The simulated nodes, and the search for the node counts that place all pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.fleet import Fleet
from dra_planner.model import Demand, DeviceClass, Shape, SharedLimit
from dra_planner.offers import Offer, predict_system_offer
from dra_planner.records import equality
from dra_planner.releases import Features
from dra_planner.simulation import (
    DEFAULT,
    MOST_ALLOCATED,
    CountQuestion,
    Profile,
    SimulatedNode,
    SimulatedPool,
    count_checks,
    predicted_nodes,
    standard_orders,
)
from dra_planner.sizing import Sizing, node_costs
from dra_planner.sizing.topology import ZONES

RANDOM_ORDERS: Final = 4
PROFILES: Final = {"default": DEFAULT, "most-allocated": MOST_ALLOCATED}
"""How the scheduler scores nodes, by the fleet's `schedulerProfile`."""
_LEAST_ZONES: Final = 2  # zones of existing subnets


class SystemNodes(Struct, frozen=True, kw_only=True):
    """Nodes that aren't sized: each node's offer, their number, and the number of their unnamed
    zones.
    """

    offer: Offer
    count: int
    unnamed_zones: int = 0

    def nodes(self, offers: Iterable[Offer], demand: Demand) -> tuple[SimulatedNode, ...]:
        """Return the nodes.

        If pods must spread over zones, and only pools name their zones, these nodes get the pools'
        zones and additional ones, because a zone without a suitable node keeps other pods pending.
        """
        named = tuple(dict.fromkeys(zone for offer in offers for zone in offer.zones))
        offer = self.offer
        if (
            self.unnamed_zones
            and named
            and any(_is_spread_over_zones(shape) for shape in demand.shapes)
        ):
            others = tuple(f"another-zone-{at}" for at in range(len(named), self.unnamed_zones))
            offer = replace(offer, zones=(*others, *named))
        return predicted_nodes((offer,), {offer.name: self.count})


def _is_spread_over_zones(shape: Shape) -> bool:
    return any(
        each.when_unsatisfiable == "DoNotSchedule" and each.topology_key in ZONES
        for each in shape.pod.topology_spread
    )


def system_nodes(fleet: Fleet | None) -> SystemNodes | None:
    """Return the nodes of a fleet's system pool, or None if the fleet doesn't describe them."""
    offer = None if fleet is None else predict_system_offer(fleet)
    if offer is None or fleet is None:
        return None
    zones = fleet.network.zones
    unnamed = 0 if isinstance(zones, list) else _LEAST_ZONES if fleet.network.subnet_ids else zones
    return SystemNodes(offer=offer, count=fleet.system_pool.count, unnamed_zones=unnamed)


@equality(unhashed=("classes",))
class SimulatedFleet(Struct, frozen=True, kw_only=True):
    """Pools and system nodes in the simulation, for any demand.

    `limits` are shared limits of pools. `zones` is the number of zones of pools that don't name
    their zones.
    """

    offers: tuple[Offer, ...]
    classes: Mapping[str, DeviceClass]
    features: Features
    system: SystemNodes | None = None
    profile: Profile = DEFAULT
    limits: tuple[SharedLimit, ...] = ()
    zones: int = 0

    @classmethod
    def of(
        cls,
        fleet: Fleet | None,
        offers: tuple[Offer, ...],
        classes: Mapping[str, DeviceClass],
        features: Features,
    ) -> SimulatedFleet:
        """Return the nodes of a fleet with the predicted `offers`, or only the offers' nodes
        without a fleet.
        """
        if fleet is None:
            return cls(offers=offers, classes=classes, features=features)
        return cls(
            offers=offers,
            classes=classes,
            features=features,
            system=system_nodes(fleet),
            profile=PROFILES[fleet.scheduler_profile],
            limits=fleet.limits,
            zones=max(fleet.zone_count, 1),
        )

    def zoned_offers(self) -> tuple[Offer, ...]:
        """Return the offers of a fleet, in which every pool has zones.

        Nodes in a cloud always have the zone label, and the scheduler's default spreading over
        zones reduces the weight of its spreading over nodes. If only some nodes had the label, the
        scheduler would spread pods over only these nodes.
        """
        named = tuple(dict.fromkeys(zone for offer in self.offers for zone in offer.zones))
        others = tuple(f"another-zone-{at}" for at in range(len(named), self.zones))
        return tuple(
            offer if offer.zones else replace(offer, zones=(*named, *others))
            for offer in self.offers
        )

    def question(self, sizing: Sizing, demand: Demand) -> CountQuestion:
        """Return the question for a sizing at its level: the number of nodes of each pool that
        place all pods.
        """
        return CountQuestion(
            demand=demand,
            pools=tuple(
                SimulatedPool(
                    offer=offer,
                    packing=sizing.pool(offer.name).plan,
                    maximum=sizing.pool(offer.name).maximum,
                    cost=cost,
                )
                for offer, cost in zip(self.zoned_offers(), node_costs(self.offers), strict=True)
            ),
            beside=() if self.system is None else self.system.nodes(self.zoned_offers(), demand),
            classes=self.classes,
            features=self.features,
            level=sizing.level,
            orders=standard_orders(RANDOM_ORDERS),
            checks=count_checks(demand, sizing.level),
            profile=self.profile,
            limits=self.limits,
        )

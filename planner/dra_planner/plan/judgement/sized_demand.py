"""A demand sized at every level on predicted offers, before gangs, the simulation, and lost nodes
change the result. If pods stay pending, sizing takes most of the time, so several evaluations of
the same demand and fleet share one result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from dra_planner.fleet import Fleet
from dra_planner.model import DEMAND_LEVELS, Demand, DemandLevel, DeviceClass
from dra_planner.offers import Offer
from dra_planner.plan.judgement.system_pods import SystemPods, add_system, set_aside
from dra_planner.releases import Features
from dra_planner.sizing import Sizer, Sizing

_SIMULATED: Final = frozenset({"placement", "scheduler_profile"})
"""Keys of a fleet that don't affect sizes."""


class SizedDemand(Struct, frozen=True, kw_only=True, eq=False):
    """A demand on its pools, and its sizes at every level.

    `on_gpus` and `elsewhere` are the parts of the demand on the pools and on the system pool, and
    `sizer` and `system` size them.
    """

    demand: Demand
    on_gpus: Demand
    elsewhere: Demand
    fleet: Fleet | None
    sizer: Sizer
    system: SystemPods | None
    sizings: Mapping[DemandLevel, Sizing]

    @classmethod
    def of(
        cls,
        demand: Demand,
        offers: tuple[Offer, ...],
        classes: Mapping[str, DeviceClass],
        features: Features,
        fleet: Fleet | None,
    ) -> SizedDemand:
        """Return the sizes of a demand. `fleet` describes the system pool and shared limits."""
        on_gpus, elsewhere = set_aside(demand, offers)
        system = None
        if elsewhere.shapes and fleet is not None:
            system = SystemPods.of(elsewhere, fleet, classes, features)
        limits = () if fleet is None else fleet.limits
        sizer = Sizer.of(on_gpus, offers, classes, features, limits=limits)
        return cls(
            demand=demand,
            on_gpus=on_gpus,
            elsewhere=elsewhere,
            fleet=fleet,
            sizer=sizer,
            system=system,
            sizings=_size_levels(demand, sizer, system),
        )

    def is_of(self, demand: Demand, fleet: Fleet) -> bool:
        """Return whether these are the sizes of a demand on the offers that a fleet predicts.

        Placement and the scheduler's profile affect only the simulation.
        """
        ours = self.fleet
        return (
            ours is not None
            and self.demand is demand
            and all(
                getattr(ours, key) == getattr(fleet, key)
                for key in type(fleet).model_fields
                if key not in _SIMULATED
            )
        )


def _size_levels(
    demand: Demand, sizer: Sizer, system: SystemPods | None
) -> Mapping[DemandLevel, Sizing]:
    """Size every level. Levels with the same demand are sized once."""
    done: dict[tuple[int | None, ...], Sizing] = {}
    sizings: dict[DemandLevel, Sizing] = {}
    for level in DEMAND_LEVELS:
        members = [member for shape in demand.shapes for member in shape.members]
        figures = tuple(
            member.figures.at(level)
            for member in (*members, *(blocked.member for blocked in demand.blocked))
        )
        if figures not in done:
            sizing = sizer.size(level)
            done[figures] = sizing if system is None else add_system(sizing, system.size(level))
        sizings[level] = done[figures]
    return sizings

"""A plan's guards, and the plan without them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from msgspec import Struct

from dra_planner.fleet import Fleet
from dra_planner.model import GuardKind, Guards
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.records import equality
from dra_planner.simulation import SimulatedCounts
from dra_planner.sizing import hourly_usd


@equality(unhashed=("pending_without",))
class Guarded(Struct, frozen=True, kw_only=True):
    """A plan's guards, and the plan without them.

    `given` is the fleet as the user wrote it, and `fleet` is the fleet with split pools. `free` is
    the judgement without guards. `pending_without` contains, for each guard, the fewest and most
    pods that stay pending on the nodes of this plan if only that guard is removed, or () if that
    simulation didn't finish. `in_any_order` are the pools whose pods provably fit in any arrival
    order.
    """

    guards: Guards
    given: Fleet
    fleet: Fleet
    free: Judgement
    judgement: Judgement
    proof: SimulatedCounts
    pending_without: Mapping[GuardKind, tuple[int, ...]]
    in_any_order: tuple[str, ...] = ()

    @property
    def free_hourly_usd(self) -> Decimal | None:
        """The price per hour without guards, or None if no counts were found or a price is
        unknown.
        """
        found = self.free.simulated
        return (
            None
            if found is None or found.counts is None
            else hourly_usd(found.counts, self.free.offers)
        )

    @property
    def free_pending(self) -> tuple[int, int] | None:
        """The fewest and most pods that stay pending without guards, over all orders.

        None if all pods are placed, or if the numbers are unknown.
        """
        found = self.free.simulated
        if found is None or found.counts is not None:
            return None
        pods = [each.pods for each in found.at_maximum or found.at_packing]
        return (min(pods), max(pods)) if pods else None

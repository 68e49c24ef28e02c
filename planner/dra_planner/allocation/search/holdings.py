"""The devices, shares of devices, counters, and constraints that a search holds, and functions to
allocate and release them.

Source of the behavior: kubernetes/dynamic-resource-allocation:structured/internal/*/allocator_*.go
(allocateDevice, rollbackDevice) @v0.34.9, v0.35.6, v0.36.3 and v0.37.2.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dra_planner.allocation.behaviour import Behaviour
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.search.attempt_errors import AttemptError, AttemptFailed
from dra_planner.allocation.search.capacity import CapacityError, Consumption, consumption, fits
from dra_planner.allocation.search.constraints import (
    DistinctAttribute,
    MatchAttribute,
    Reading,
    build_constraint,
)
from dra_planner.allocation.search.counters import CounterLedger
from dra_planner.allocation.search.devices import Candidate, DeviceId
from dra_planner.allocation.search.requests import Alternative, PlannedClaims

Shares = Mapping[int, Mapping[str, int]]
"""Used amounts of devices that multiple claims share, by candidate and capacity."""


class Pick(Struct, frozen=True):
    """A device that a request gets. `share` is the amount that it consumes of a shared device."""

    request: str
    index: int
    admin: bool = False
    share: Consumption | None = None


class TakenDevice(Struct):
    """The changes of an allocated device, to undo them."""

    candidate: Candidate
    way: Alternative
    charged: bool = False
    constraints: int = 0
    share: Consumption | None = None


class Holdings(Struct):
    """The holdings of a search. `taken` and `shares` were allocated before the search began."""

    template: Template
    behaviour: Behaviour
    taken: int
    shares: Shares
    constraints: list[list[MatchAttribute | DistinctAttribute]]
    picks: list[list[Pick]]
    claim_marks: list[int]
    ledger: CounterLedger
    marked: int = 0
    allocating: dict[int, list[Consumption]] = {}
    marked_shared: set[int] = set()  # devices whose further shares don't consume counters
    defects: set[str] = set()

    def busy(self, claim: int, way: Alternative) -> int:
        """Return the devices that aren't available. For admin access, these are the devices of the
        same claim. Otherwise, they are all devices in use.
        """
        return self.claim_marks[claim] if way.spec.admin_access else self.taken | self.marked

    def used(self, index: int) -> dict[str, int]:
        """Return the used amounts of a shared device, by capacity."""
        total = dict(self.shares.get(index, {}))
        for share in self.allocating.get(index, ()):
            for name, amount in share:
                total[name] = total.get(name, 0) + amount
        return total

    def has_room(self, way: Alternative, index: int) -> bool:
        """Return True if a device has enough left for the request."""
        if index not in self.shares and index not in self.allocating:
            return True
        if not self.template.features.consumable_capacity:
            return True
        return fits(
            self.template.candidates[index].device, self.used(index), way.consumptions[index]
        )

    def take(
        self, claim: int, way: Alternative, index: int, slot: int, must: bool
    ) -> TakenDevice | None:
        """Allocate a device to a request if counters, taints, constraints, and capacity allow it.
        Otherwise, change nothing.

        Raises AttemptFailed if exactly this device is needed (`must`) and a constraint forbids it.
        """
        candidate = self.template.candidates[index]
        if (
            must
            and self.busy(claim, way) & candidate.bit
            and not (way.spec.admin_access and candidate.shareable)
        ):
            return None
        charged = self._charge(way, candidate) if candidate.device.consumes_counters else False
        if charged is None:
            return None
        taken = TakenDevice(candidate, way, charged)
        if way.tainted & candidate.bit:
            self._reject(claim, taken)
            return None
        for constraint in self.constraints[claim]:
            if not constraint.add(way.request, way.sub, candidate):
                self._reject(claim, taken)
                if must:
                    raise AttemptFailed(
                        AttemptError(
                            f"claim {way.claim}, request {way.sub or way.request}: cannot add "
                            f"device {candidate.id} because a claim constraint would not be "
                            "satisfied",
                            "constraint-of-all",
                        )
                    )
                return None
            taken.constraints += 1
        if not self._still_has_room(way, candidate, slot, must):
            if self.behaviour.leaks_counters:
                self._mark(claim, taken)  # these versions don't undo the changes at this point
            else:
                self._reject(claim, taken)
            return None
        self._mark(claim, taken)
        if candidate.shareable:
            taken.share = way.consumptions[index]
            self.allocating.setdefault(index, []).append(taken.share)
            self.marked_shared.add(index)
        self.picks[claim].append(Pick(way.label, index, way.spec.admin_access, taken.share))
        return taken

    def give_back(self, claim: int, taken: TakenDevice) -> None:
        """Undo a `take`."""
        candidate, way = taken.candidate, taken.way
        self.picks[claim].pop()
        if taken.share is not None:
            self._end_share(candidate.index, taken.share)
        else:
            self.claim_marks[claim] &= ~candidate.bit
            self._refresh_marks()
        for constraint in reversed(self.constraints[claim]):
            constraint.remove(way.request, way.sub)
        if not taken.charged:
            return
        if taken.share is not None and self.behaviour.leaks_counters:
            self.defects.add("counters-kept")
        else:
            self.ledger.release(candidate)

    def _end_share(self, index: int, share: Consumption) -> None:
        shares = self.allocating[index]
        shares.pop()
        if not shares:
            del self.allocating[index]
        if not self.behaviour.leaks_counters:
            if not shares:
                self.marked_shared.discard(index)
        # Before 1.36, this marker is the sum of the consumed capacity. A share without consumption
        # doesn't remove the marker, but releasing the last amount above 0 does.
        elif share and not any(amount for each in shares for _, amount in each):
            self.marked_shared.discard(index)

    def _mark(self, claim: int, taken: TakenDevice) -> None:
        if not taken.candidate.shareable:
            self.claim_marks[claim] |= taken.candidate.bit
            self._refresh_marks()

    def _refresh_marks(self) -> None:
        marked = 0
        for marks in self.claim_marks:
            marked |= marks
        self.marked = marked

    def _charge(self, way: Alternative, candidate: Candidate) -> bool | None:
        """Consume the counters of a device. Return whether the request consumes any, or None if
        they don't suffice.
        """
        if not self.template.features.partitionable_devices:
            return None
        if candidate.shareable and self._shared_already(candidate.index):
            return False
        if way.spec.admin_access and not self.behaviour.charges_admin_access:
            return False
        if self.ledger.charge(candidate):
            return True
        if way.spec.admin_access:
            self.defects.add("admin-access-charged")
        return None

    def _shared_already(self, index: int) -> bool:
        if self.behaviour.each_share_draws:
            return False
        if index in self.marked_shared:
            return True
        used = self.shares.get(index)
        return used is not None and (bool(used) or self.template.features.empty_share_is_share)

    def _reject(self, claim: int, taken: TakenDevice) -> None:
        """Undo the changes for a device that isn't allocated in the end."""
        for constraint in reversed(self.constraints[claim][: taken.constraints]):
            constraint.remove(taken.way.request, taken.way.sub)
        if not taken.charged:
            return
        if self.behaviour.leaks_counters:
            self.defects.add("counters-kept")
        else:
            self.ledger.release(taken.candidate)

    def _still_has_room(
        self, way: Alternative, candidate: Candidate, slot: int, must: bool
    ) -> bool:
        if not self.template.features.consumable_capacity:
            return True
        if self.behaviour.checks_capacity_by_slot:
            return self._slot_has_room(way, candidate, slot)
        return not must or self.has_room(way, candidate.index)

    def _slot_has_room(self, way: Alternative, candidate: Candidate, slot: int) -> bool:
        devices = candidate.slice.devices
        if slot >= len(devices):
            raise AttemptFailed(
                AttemptError(
                    f"runtime error: index out of range [{slot}] with length {len(devices)}"
                )
            )
        other = devices[slot]
        index = self.template.index[DeviceId(*candidate.id[:2], other.name)]
        if index != candidate.index:
            self.defects.add("capacity-by-slot")
        try:
            needed = consumption(other, way.spec.capacity, self.template.features)
        except CapacityError:
            return False
        return needed is not None and fits(other, self.used(index), needed)


def open_holdings(
    template: Template,
    plan: PlannedClaims,
    behaviour: Behaviour,
    taken: int,
    shares: Shares,
    reading: Reading,
) -> Holdings:
    """Return holdings before any allocation."""
    occupied = taken
    if behaviour.shares_draw_counters:
        occupied |= sum(1 << index for index in shares)
    constraints = [
        []
        if claim.fault
        else [
            build_constraint(c, template.features, behaviour, reading)
            for c in claim.spec.constraints
        ]
        for claim in plan.claims
    ]
    return Holdings(
        template=template,
        behaviour=behaviour,
        taken=taken,
        shares=shares,
        constraints=constraints,
        picks=[[] for _ in plan.claims],
        claim_marks=[0] * len(plan.claims),
        ledger=CounterLedger(template, behaviour, occupied),
    )

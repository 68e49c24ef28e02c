"""The search for devices: claims in order, their requests in order, devices in order; the first
full solution wins.

Depth first over a stack of choices: a step forward takes the next device, a step back returns to
the last choice that has something left to try. Devices that nothing in the pod's claims tells apart
are tried once, not once each.

Source of the behaviour: kubernetes/dynamic-resource-allocation:structured/internal/*/allocator_*.go
(Allocate, allocateOne) @v0.34.9, v0.35.6, v0.36.3 and v0.37.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from dra_planner.allocation.behaviour import Behaviour
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.search.constraints import DistinctAttribute, Reading
from dra_planner.allocation.search.devices import indexes
from dra_planner.allocation.search.holdings import (
    AttemptFailed,
    Holdings,
    Pick,
    Shares,
    TakenDevice,
    open_holdings,
)
from dra_planner.allocation.search.requests import (
    MAX_DEVICES,
    Alternative,
    PlannedClaims,
    PlannedRequest,
)

STEP_BUDGET: Final = 200_000
"""Devices tried before a search gives up; upstream gives up after ten seconds."""

Failure = Literal["none", "limit"]
"""Why a branch failed: nothing fits, or it would exceed the devices a claim may hold."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: `picks` holds the devices of each claim, `defects` what of them took
    part.
    """

    outcome: Literal["found", "none", "error", "exhausted"]
    picks: tuple[tuple[Pick, ...], ...] = ()
    message: str = ""
    steps: int = 0
    met_unknown: bool = False
    defects: frozenset[str] = frozenset()


class _Exhausted(Exception):
    """The step budget is used up."""


@dataclass(slots=True)
class _Choice:
    """A point to come back to; `kind` says what was chosen there, and so what else can be tried."""

    kind: Literal["alternative", "device", "all", "claim"]
    claim: int
    request: int
    sub: int
    slot: int
    left: int = 0  # devices still to try
    taken: TakenDevice | None = None
    only_limit: bool = True  # every alternative so far failed on the limit


@dataclass(slots=True)
class Search:
    """One search on one node. `taken` are devices allocated before, `shares` the used part of
    shared ones.
    """

    template: Template
    plan: PlannedClaims
    behaviour: Behaviour
    taken: int
    shares: Shares
    reading: Reading = "pessimistic"
    budget: int = STEP_BUDGET
    steps: int = 0
    met_unknown: bool = False
    holdings: Holdings = field(init=False)
    _members_of: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _stack: list[_Choice] = field(default_factory=list)
    _prunes_twins: bool = True
    _ordered: bool = True

    def run(self) -> SearchResult:
        """Search; never raises for what claims or devices hold."""
        self.holdings = open_holdings(
            self.template, self.plan, self.behaviour, self.taken, self.shares, self.reading
        )
        free = self._order_is_free()
        self._ordered = free or not self.behaviour.permutes
        self._prunes_twins = self._ordered and not self.plan.order_shows
        outcome: Literal["found", "none", "error", "exhausted"]
        message = ""
        try:
            self._check_claims()
            outcome = "found" if self._walk() else "none"
        except AttemptFailed as stop:
            outcome, message = "error", str(stop)
        except _Exhausted:
            outcome = "exhausted"
        return self._result(outcome, message)

    def _result(
        self, outcome: Literal["found", "none", "error", "exhausted"], message: str
    ) -> SearchResult:
        holdings = self.holdings
        picks = tuple(tuple(picks) for picks in holdings.picks) if outcome == "found" else ()
        met_unknown, defects = self.met_unknown, set(holdings.defects)
        for constraint in (c for constraints in holdings.constraints for c in constraints):
            met_unknown |= constraint.met_unknown
            if isinstance(constraint, DistinctAttribute) and constraint.met_defect:
                defects.add("distinct-values-forgotten")
        if holdings.ledger.met_foreign_table:
            defects.add("counters-by-pool-name")
        return SearchResult(outcome, picks, message, self.steps, met_unknown, frozenset(defects))

    def _order_is_free(self) -> bool:
        """Whether one order of a set of devices stands for all of them, in a release that tries
        them all.
        """
        behaviour = self.behaviour
        if self.plan.shares_devices or (behaviour.leaks_counters and self.plan.draws_counters):
            return False
        if behaviour.checks_capacity_by_slot and self.template.features.consumable_capacity:
            return False
        constraints = (c for group in self.holdings.constraints for c in group)
        return not any(isinstance(c, DistinctAttribute) and c.memory == "last" for c in constraints)

    # -- before the search

    def _check_claims(self) -> None:
        for claim in self.plan.claims:
            least = 0
            for request in claim.requests:
                if request.fault:
                    raise AttemptFailed(request.fault)
                needed = min([self._count(way) for way in request.alternatives], default=0)
                if (
                    self.template.features.limits_devices_as_counted
                    and needed > MAX_DEVICES - least
                ):
                    raise AttemptFailed(
                        f"claim {claim.name}, request {request.name}: adding {needed} devices "
                        "exceeds the claim limit "
                        f"of {MAX_DEVICES}, with {least} already accounted for"
                    )
                least += needed
            if least > MAX_DEVICES:
                raise AttemptFailed(
                    f"claim {claim.name}: number of requested devices {least} exceeds the claim "
                    f"limit of {MAX_DEVICES}"
                )
            if claim.fault:
                raise AttemptFailed(claim.fault)

    def _count(self, way: Alternative) -> int:
        if way.fault:
            raise AttemptFailed(way.fault)
        if not way.takes_all:
            return way.spec.count
        if way.all_fault:
            raise AttemptFailed(way.all_fault)
        return len(self._members(way))

    def _members(self, way: Alternative) -> tuple[int, ...]:
        """The devices that "all" means: in use or not, tainted or not."""
        members = self._members_of.get(id(way))
        if members is None:
            bits = self._matching(way)
            if self.template.features.all_without_full_devices:
                for index in self.shares:
                    if bits >> index & 1 and not self.holdings.has_room(way, index):
                        bits &= ~(1 << index)
            members = self._members_of[id(way)] = tuple(indexes(bits))
        return members

    def _matching(self, way: Alternative) -> int:
        if way.selection.unknown & way.roomy:
            self.met_unknown = True
        return way.matching(self.reading)

    # -- forwards and backwards

    def _walk(self) -> bool:
        """Return whether every request of every claim gets its devices.

        The position is (claim, request, alternative `sub`, slot). Upstream recurses once for each
        slot. A claim can hold 32 devices and a pod many claims, so a stack of choices replaces the
        recursion: Python's own stack would overflow first.
        """
        claim = request = sub = slot = 0
        chosen = False  # an alternative of the request is being tried
        claims = self.plan.claims
        while claim < len(claims):
            if request >= len(claims[claim].requests):
                # A finished claim leaves a mark on the stack, because a failure that crosses it
                # backwards is no longer about the limit of one claim.
                self._stack.append(_Choice("claim", claim, request, 0, 0))
                claim, request, sub, slot, chosen = claim + 1, 0, 0, 0, False
                continue
            planned = claims[claim].requests[request]
            if planned.has_subrequests and not chosen:
                self._stack.append(_Choice("alternative", claim, request, 0, 0))
                chosen = True
            way = planned.alternatives[sub]
            members = self._members(way) if way.takes_all else None
            wanted = way.spec.count if members is None else len(members)
            failure: Failure | None
            if members is not None and not members:
                failure = "none"  # "all" of nothing is a failure, not a success without devices
            elif slot >= wanted:
                request, sub, slot, chosen = request + 1, 0, 0, False
                continue
            elif len(self.holdings.picks[claim]) + wanted - slot > MAX_DEVICES:
                failure = "limit"
            else:
                choice = _Choice("device" if members is None else "all", claim, request, sub, slot)
                failure = self._forward(choice, way, members)
            if failure is None:
                sub, slot = self._slip(planned, way, sub), slot + 1
                continue
            resumed = self._back(failure)
            if resumed == "none":
                return False
            if resumed == "limit":
                raise AttemptFailed(
                    "allocation max size exceeded"
                )  # as upstream: nobody catches it for the first claim
            claim, request, sub, slot = resumed
            chosen = claims[claim].requests[request].has_subrequests
        return True

    def _forward(
        self, choice: _Choice, way: Alternative, members: tuple[int, ...] | None
    ) -> Failure | None:
        """Take the next device of a request and remember the choice; return the failure when there
        is none.
        """
        if members is None:
            choice.left = self._pending(choice, way)
            if not self._next_device(choice):
                return "none"
        else:
            self._step()
            choice.taken = self.holdings.take(
                choice.claim, way, members[choice.slot], choice.slot, must=True
            )
            if choice.taken is None:
                return "none"
        self._stack.append(choice)
        return None

    def _slip(self, planned: PlannedRequest, way: Alternative, sub: int) -> int:
        """Releases before 1.36 go on with the first alternative after the first device of a later
        `All`.
        """
        if sub and way.takes_all and self.behaviour.slips_to_first_alternative:
            self.holdings.defects.add("all-as-later-alternative")
            return 0
        return sub

    def _back(self, failure: Failure) -> tuple[int, int, int, int] | Failure:
        """Give back until something else can be tried; return where the search goes on, the failure
        at the end.
        """
        while self._stack:
            choice = self._stack[-1]
            if choice.taken is not None:
                self.holdings.give_back(choice.claim, choice.taken)
                choice.taken = None
            if choice.kind == "alternative":
                choice.only_limit &= failure == "limit"
                choice.sub += 1
                ways = self.plan.claims[choice.claim].requests[choice.request].alternatives
                if choice.sub < len(ways):
                    return choice.claim, choice.request, choice.sub, 0
                failure = "limit" if choice.only_limit else "none"
            elif choice.kind == "claim":
                failure = "none"
            elif choice.kind == "device" and failure == "none" and self._next_device(choice):
                return choice.claim, choice.request, choice.sub, choice.slot + 1
            self._stack.pop()
        return failure

    def _pending(self, choice: _Choice, way: Alternative) -> int:
        """The devices to try for a slot, those whose evaluation fails among them."""
        left = (self._matching(way) | way.erring) & ~self.holdings.busy(
            choice.claim, way
        ) | way.broken
        if choice.slot and self._ordered:
            left &= -(1 << (self.holdings.picks[choice.claim][-1].index + 1))
        return left

    def _next_device(self, choice: _Choice) -> bool:
        """Take the next device that can be had; return False when none is left."""
        holdings, leaks = self.holdings, self.behaviour.leaks_counters
        way = self.plan.claims[choice.claim].requests[choice.request].alternatives[choice.sub]
        while choice.left:
            bit = choice.left & -choice.left
            index = bit.bit_length() - 1
            choice.left ^= bit
            if leaks and bit & ~way.broken & holdings.busy(choice.claim, way):
                continue  # marked by a rejection since this choice was opened
            if bit & way.erring:
                raise AttemptFailed(way.errors[index])
            self._step()
            if self._prunes_twins:
                choice.left &= ~self._twins(index, bit)  # a twin fails wherever this one fails
            if holdings.has_room(way, index):
                choice.taken = holdings.take(choice.claim, way, index, choice.slot, must=False)
                if choice.taken is not None:
                    return True
        return False

    def _twins(self, index: int, bit: int) -> int:
        """Devices that neither the claims nor their use so far tell from this one."""
        used = self.taken | self.holdings.marked
        for other in (*self.shares, *self.holdings.allocating):
            used |= 1 << other
        return 0 if used & bit else self.plan.twins[index] & ~used

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.budget:
            raise _Exhausted

"""The search for devices: claims, requests, and devices in order. The first complete solution wins.

It is a depth-first search with a stack of choices. A step forward uses the next device, and a step
back returns to the last choice with remaining options. Of devices that the pod's claims can't
distinguish, only one is tried. Source of the behavior:
kubernetes/dynamic-resource-allocation:structured/internal/*/allocator_*.go (Allocate, allocateOne)
@v0.34.9, v0.35.6, v0.36.3 and v0.37.2.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from dra_planner.allocation.behaviour import Behaviour
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.search.attempt_errors import AttemptError, AttemptFailed
from dra_planner.allocation.search.constraints import DistinctAttribute, Reading
from dra_planner.allocation.search.devices import indexes
from dra_planner.allocation.search.holdings import (
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
"""Maximum number of tried devices in a search. Upstream's limit is ten seconds."""

Failure = Literal["none", "limit"]
"""The reason why a branch failed: no devices fit, or the claim would have too many devices."""


class SearchResult(Struct, frozen=True):
    """The result of a search: `picks` are the devices of each claim, and `defects` are the known
    defects that affected it.
    """

    outcome: Literal["found", "none", "error", "exhausted"]
    picks: tuple[tuple[Pick, ...], ...] = ()
    error: AttemptError | None = None
    steps: int = 0
    met_unknown: bool = False
    defects: frozenset[str] = frozenset()

    @property
    def message(self) -> str:
        """The error as Kubernetes prints it, or ""."""
        return self.error.message if self.error is not None else ""


class _Exhausted(Exception):
    """The step budget is used up."""


class _Choice(Struct):
    """A point to return to. `kind` is the kind of the choice, which determines the other
    options.
    """

    kind: Literal["alternative", "device", "all", "claim"]
    claim: int
    request: int
    sub: int
    slot: int
    left: int = 0  # devices that haven't been tried yet
    taken: TakenDevice | None = None
    only_limit: bool = True  # every alternative so far has failed because of the limit


def search_devices(
    template: Template,
    plan: PlannedClaims,
    behaviour: Behaviour,
    taken: int,
    shares: Shares,
    *,
    reading: Reading = "pessimistic",
    budget: int = STEP_BUDGET,
) -> SearchResult:
    """Search one node for the devices of the claims.

    `taken` are devices that were allocated before, and `shares` are the used amounts of shared
    devices. Doesn't raise exceptions for any claims or devices.
    """
    holdings = open_holdings(template, plan, behaviour, taken, shares, reading)
    return _Search(template, plan, behaviour, taken, shares, holdings, reading, budget).run()


class _Search(Struct):
    """The state of one search on one node."""

    template: Template
    plan: PlannedClaims
    behaviour: Behaviour
    taken: int
    shares: Shares
    holdings: Holdings
    reading: Reading
    budget: int
    steps: int = 0
    met_unknown: bool = False
    _members_of: dict[int, tuple[int, ...]] = {}
    _stack: list[_Choice] = []
    _prunes_twins: bool = True
    _ordered: bool = True

    def run(self) -> SearchResult:
        """Run the search once."""
        free = self._order_is_free()
        self._ordered = free or not self.behaviour.permutes
        self._prunes_twins = self._ordered and not self.plan.order_shows
        outcome: Literal["found", "none", "error", "exhausted"]
        error: AttemptError | None = None
        try:
            self._check_claims()
            outcome = "found" if self._walk() else "none"
        except AttemptFailed as stop:
            outcome, error = "error", stop.error
        except _Exhausted:
            outcome = "exhausted"
        return self._result(outcome, error)

    def _result(
        self, outcome: Literal["found", "none", "error", "exhausted"], error: AttemptError | None
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
        return SearchResult(outcome, picks, error, self.steps, met_unknown, frozenset(defects))

    def _order_is_free(self) -> bool:
        """Return True if one order of a set of devices represents all orders, in a version that
        tries all of them.
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
                    raise AttemptFailed(AttemptError(request.fault))
                needed = min([self._count(way) for way in request.alternatives], default=0)
                if (
                    self.template.features.limits_devices_as_counted
                    and needed > MAX_DEVICES - least
                ):
                    raise AttemptFailed(
                        AttemptError(
                            f"claim {claim.name}, request {request.name}: adding {needed} devices "
                            f"exceeds the claim limit of {MAX_DEVICES}, with {least} already "
                            "accounted for",
                            "device-limit",
                            claim=claim.name,
                            devices=least + needed,
                        )
                    )
                least += needed
            if least > MAX_DEVICES:
                raise AttemptFailed(
                    AttemptError(
                        f"claim {claim.name}: number of requested devices {least} exceeds the "
                        f"claim limit of {MAX_DEVICES}",
                        "device-limit",
                        claim=claim.name,
                        devices=least,
                    )
                )
            if claim.fault:
                raise AttemptFailed(AttemptError(claim.fault))

    def _count(self, way: Alternative) -> int:
        if way.fault:
            raise AttemptFailed(AttemptError(way.fault))
        if not way.takes_all:
            return way.spec.count
        if way.all_fault is not None:
            raise AttemptFailed(way.all_fault)
        return len(self._members(way))

    def _members(self, way: Alternative) -> tuple[int, ...]:
        """Return the devices that "all" means, including devices that are in use or tainted."""
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
        """Return True if every request of every claim gets its devices. The position is (claim,
        request, alternative `sub`, slot).

        Upstream recurses once for each slot. A claim can have 32 devices and a pod many claims, so
        a stack of choices replaces the recursion, which would overflow Python's own stack.
        """
        claim = request = sub = slot = 0
        chosen = False  # an alternative of the request is being tried
        claims = self.plan.claims
        while claim < len(claims):
            if request >= len(claims[claim].requests):
                # A completed claim leaves a marker on the stack. If the search backtracks past this
                # marker, the failure no longer concerns the limit of a single claim.
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
                # without devices, "all" is a failure, not a success with zero devices
                failure = "none"
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
                # same as upstream, which doesn't catch this error for the first claim
                raise AttemptFailed(AttemptError("allocation max size exceeded"))
            claim, request, sub, slot = resumed
            chosen = claims[claim].requests[request].has_subrequests
        return True

    def _forward(
        self, choice: _Choice, way: Alternative, members: tuple[int, ...] | None
    ) -> Failure | None:
        """Use the next device for a request and store the choice, or return the failure."""
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
        """Apply a defect: before 1.36, after the first device of an `All` in a later alternative,
        the search continues with the first alternative.
        """
        if sub and way.takes_all and self.behaviour.slips_to_first_alternative:
            self.holdings.defects.add("all-as-later-alternative")
            return 0
        return sub

    def _back(self, failure: Failure) -> tuple[int, int, int, int] | Failure:
        """Undo choices until another option exists. Return the position to continue from, or the
        failure at the end.
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
        """Return the devices to try for a slot, including those whose evaluation fails."""
        left = (self._matching(way) | way.erring) & ~self.holdings.busy(
            choice.claim, way
        ) | way.broken
        if choice.slot and self._ordered:
            left &= -(1 << (self.holdings.picks[choice.claim][-1].index + 1))
        return left

    def _next_device(self, choice: _Choice) -> bool:
        """Use the next possible device. Return False if no device remains."""
        holdings, leaks = self.holdings, self.behaviour.leaks_counters
        way = self.plan.claims[choice.claim].requests[choice.request].alternatives[choice.sub]
        while choice.left:
            bit = choice.left & -choice.left
            index = bit.bit_length() - 1
            choice.left ^= bit
            if leaks and bit & ~way.broken & holdings.busy(choice.claim, way):
                continue  # devices that were rejected since this choice began
            if bit & way.erring:
                raise AttemptFailed(way.errors[index])
            self._step()
            if self._prunes_twins:
                # if this device fails, an identical device fails too
                choice.left &= ~self._twins(index, bit)
            if holdings.has_room(way, index):
                choice.taken = holdings.take(choice.claim, way, index, choice.slot, must=False)
                if choice.taken is not None:
                    return True
        return False

    def _twins(self, index: int, bit: int) -> int:
        """Return the devices that neither the claims nor their use so far distinguish from this
        one.
        """
        used = self.taken | self.holdings.marked
        for other in (*self.shares, *self.holdings.allocating):
            used |= 1 << other
        return 0 if used & bit else self.plan.twins[index] & ~used

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.budget:
            raise _Exhausted

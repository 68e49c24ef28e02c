"""Requests for a part of a device that the Kubernetes version drops: the versions and settings with
which several claims share a device, as the first fix of pools that are too small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dra_planner.claims.manifest_claims import WrittenClaim, written_claims
from dra_planner.claims.requested_drivers import driver_of_request
from dra_planner.fleet import Fleet
from dra_planner.model import DemandLevel, Reason, WorkloadRef
from dra_planner.plan.model import Plan
from dra_planner.plan.suggestion.changed_fleet import ChangedFleet
from dra_planner.plan.suggestion.device_sharing import (
    SharingFleet,
    is_dropped_part,
    sharing_fleets,
)
from dra_planner.plan.suggestion.pool_fixes import (
    is_too_small,
    raised_pools,
    with_intent,
    with_reasons,
)
from dra_planner.wording import listed


def with_dropped_shares(plan: Plan, fleet: Fleet, replan: Callable[[Fleet], Plan]) -> Plan:
    """Return the plan in which the workloads with such requests get sharing as their first fix.

    `fleet` is the fleet without guards. `replan` plans the same sources on another fleet, without
    fixes. The fix is a fleet on which this plan fits, also during rollouts.
    """
    claims = tuple(_dropped_claims(plan))
    if not claims or fleet.features_at(fleet.minor).consumable_capacity:
        return plan
    drivers = {driver for claim in claims for driver in _drivers(claim, plan)}
    tried = (each for each in sharing_fleets(fleet) if drivers & each.drivers)
    text = next(filter(None, (_fix(plan, each, replan) for each in tried)), "")
    users = {user for claim in claims for user in claim.users} if text else set[WorkloadRef]()

    def changed(ref: WorkloadRef, reason: Reason, level: DemandLevel) -> Reason:
        return with_intent(reason, text) if ref in users else reason

    return with_reasons(plan, changed) if users else plan


def _dropped_claims(plan: Plan) -> Iterator[WrittenClaim]:
    """Yield the claims with a dropped request of workloads whose pools are too small."""
    titles = {each.message.partition(": ")[0] for each in plan.diagnostics if is_dropped_part(each)}
    if not titles or plan.manifests is None:
        return
    short = {each.workload for each in plan.workloads if any(map(is_too_small, each.reasons))}
    for claim in written_claims(plan.manifests):
        if claim.title in titles and short.intersection(claim.users):
            yield claim


def _drivers(claim: WrittenClaim, plan: Plan) -> set[str]:
    ways = (way for request in claim.spec.requests for way in request.alternatives)
    return {driver_of_request(way, plan.classes) for way in ways}


def _fix(plan: Plan, sharing: SharingFleet, replan: Callable[[Fleet], Plan]) -> str:
    """Return the change with higher maximums, if they're needed, or "" if it doesn't save nodes."""
    again = replan(sharing.fleet)
    most = {pool.name: pool.enough for pool in raised_pools(again.judgement)}
    if most == {pool.name: pool.enough for pool in raised_pools(plan.judgement)}:
        return ""
    if most:
        larger = ChangedFleet(given=sharing.fleet).with_most(most).fleet()
        if larger is None:
            return ""
        again = replan(larger)
    if again.verdict != "fits":
        return ""
    raises = [f'the maximum of pool "{name}" to {nodes}' for name, nodes in most.items()]
    more = f" and raise {listed(raises)}" if raises else ""
    return f"{sharing.text}{more}, so that several claims can share a device"

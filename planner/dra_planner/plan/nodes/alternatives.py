"""The alternatives of firstAvailable that the claims of a plan use."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from dra_planner.allocation import open_offer, sight_of
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.packed_nodes import fill_pattern


def used_alternatives(plan: Plan) -> Mapping[tuple[str, str], Counter[str]]:
    """Return the number of pods that use each alternative, by claim and request. Only the packing
    of a fleet has such numbers, and the scheduler may choose other alternatives.
    """
    shapes = {shape.id: shape for shape in plan.demand.shapes}
    if plan.judgement.is_observed or not any(
        request.first_available
        for shape in shapes.values()
        for claim in shape.claims
        for request in claim.spec.requests
    ):
        return {}
    offers = {offer.name: offer for offer in plan.offers}
    sight = sight_of(plan.demand.shapes, plan.demand.namespaces)
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for pattern in plan.judgement.sizing.patterns:
        features = plan.judgement.features
        empty = open_offer(offers[pattern.pool], plan.classes, features, sight)
        for shape, placement in fill_pattern(pattern, empty, shapes):
            workload = min(member.workload for member in shape.members)
            for claim in shape.claims:
                allocated = placement.claims.get(claim.name)
                used = {each.request for each in allocated.devices} if allocated else ()
                for name, _, alternative in (each.partition("/") for each in used):
                    if alternative:
                        found[claim.title(workload), name][alternative] += pattern.nodes
    return found

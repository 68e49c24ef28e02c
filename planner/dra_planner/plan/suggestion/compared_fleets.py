"""The fleets that `suggest` compares, as nodes by pool, sized by the packing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations

from msgspec.structs import replace

from dra_planner.model import Shape
from dra_planner.offers import Offer
from dra_planner.placement import Pools, choose_pools
from dra_planner.plan.model import Plan
from dra_planner.plan.suggestion.few_machines import few_machines
from dra_planner.plan.suggestion.suggestions import sized_shapes
from dra_planner.sizing import LevelNeeds, Sizer, Sizing, node_costs, node_needs

MOST_PAIRED = 8
"""Number of machine types to combine in fleets of two types: the types of the best fleet, and the
cheapest types of single-type fleets.
"""


def compared_fleets(plan: Plan) -> Iterator[dict[str, int]]:
    """Yield fleets as nodes by pool: the packing over all types, and the best fleets of one and of
    two types.
    """
    judgement = plan.judgement
    everything = {pool.name: pool.packing for pool in plan.pools if pool.packing}
    yield everything
    alone = [((offer,), sized(plan, (offer,))) for offer in judgement.offers]
    cheapest_alone = _cheapest(alone)
    yield from (_nodes(offers, sizing) for offers, sizing in cheapest_alone[:1])
    standing_out = [offer for offer in judgement.offers if offer.name in everything]
    standing_out += [offer for (offer,), _ in cheapest_alone if offer not in standing_out]
    pairs = [(pair, sized(plan, pair)) for pair in combinations(standing_out[:MOST_PAIRED], 2)]
    yield from (_nodes(offers, sizing) for offers, sizing in _cheapest(pairs)[:1])


def needs_on_machines(plan: Plan) -> LevelNeeds:
    """Return what the pods of a plan need on each machine type that certainly fits them."""
    return node_needs(_sizer(plan, plan.offers), plan.level)


def fleet_of_any_machines(plan: Plan, needs: LevelNeeds) -> dict[str, int]:
    """Return the best fleet found of any machine types, as nodes by pool.

    Each workload uses one of the types.
    """
    by_name = {offer.name: offer for offer in plan.offers}
    shapes = {shape.id: shape for shape in plan.judgement.demand.shapes}
    return _chosen(needs, [by_name[name] for name in needs.pools], shapes)


def fleets_of_few_machines(
    plan: Plan, needs: LevelNeeds
) -> Iterator[tuple[dict[str, int], Sizing]]:
    """Yield the fleets of one, two, and three machine types with the best estimates.

    Each fleet contains the nodes by pool of its packing, and its sizing.
    """
    by_name = {offer.name: offer for offer in plan.offers}
    costs = [by_name[name].hourly_usd or Decimal(0) for name in needs.pools]
    for chosen in few_machines(needs, [float(cost) for cost in costs]):
        offers = tuple(by_name[needs.pools[pool]] for pool in chosen)
        sizing = sized(plan, offers)
        if sizing.verdict == "fits":
            yield _nodes(offers, sizing), sizing


def _chosen(
    needs: LevelNeeds, offers: Sequence[Offer], shapes: Mapping[str, Shape]
) -> dict[str, int]:
    pools = Pools(
        names=tuple(offer.name for offer in offers),
        costs=node_costs(offers),
        least=tuple(offer.count_min for offer in offers),
        most=tuple(offer.count_max for offer in offers),
    )
    return {offers[pool].name: nodes for pool, nodes in choose_pools(needs, pools, shapes).items()}


def _sizer(plan: Plan, offers: Iterable[Offer]) -> Sizer:
    judgement = plan.judgement
    demand = replace(judgement.demand, shapes=sized_shapes(plan))
    return Sizer.of(demand, offers, judgement.classes, judgement.features, known_only=True)


def sized(plan: Plan, offers: Iterable[Offer]) -> Sizing:
    """Return the number of nodes of these machine types that the pods need, using only known
    facts.
    """
    return _sizer(plan, offers).size(plan.level)


def _cheapest(
    sizings: Iterable[tuple[tuple[Offer, ...], Sizing]],
) -> list[tuple[tuple[Offer, ...], Sizing]]:
    fitting = [
        each for each in sizings if each[1].verdict == "fits" and each[1].hourly_plan is not None
    ]
    return sorted(
        fitting, key=lambda each: (each[1].hourly_plan, [offer.name for offer in each[0]])
    )


def _nodes(offers: Sequence[Offer], sizing: Sizing) -> dict[str, int]:
    return {offer.name: nodes for offer in offers if (nodes := sizing.pool(offer.name).plan)}

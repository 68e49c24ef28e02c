"""Workloads without a fleet → the cheapest pools of one region that run them, compared with simpler
fleets.

    candidates   every machine with NVIDIA GPUs that the region offers on demand at a known price,
                 one pool each
    any          the packing over all of them at once, and dearer fleets by price until one runs
                 everything
    one, two     the best fleet of one machine type, and of two among those that stand out

Each is tried as it is and with pods sent to its cheaper pools first, by taints that keep nobody
away, and is planned again as it will be committed before it is suggested. If the scheduler follows
none of these plans, guards are added. Of many kinds of pods, few fleets are planned, with guards
from the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import cloud
from dra_planner.drivers import nvidia
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.model import DemandLevel, Shape
from dra_planner.offers import Offer, predict_offers
from dra_planner.placement import Pools, choose_pools
from dra_planner.plan.judgement.simulated_fixes import prefer_others_rows
from dra_planner.plan.model import SIMULATED_STEPS, Plan, PlanRequest
from dra_planner.plan.planning import make_plan
from dra_planner.plan.pools.architectures import selected_architectures
from dra_planner.plan.reading import read_checked
from dra_planner.plan.suggestion.few_machines import few_machines
from dra_planner.plan.suggestion.fleets_by_price import cheapest_fleet_that_runs, order_by_price
from dra_planner.plan.suggestion.system_machine import cheapest_system_machine
from dra_planner.releases import features_of, parse_version
from dra_planner.sizing import LevelNeeds, Sizer, Sizing, node_costs, node_needs
from dra_planner.sources import Source

MOST_SIZED = 600
"""Number of pod shapes times machine types up to which every machine type is sized separately, and
fleets are first tried without guards. Larger questions plan few fleets, with guards.
"""
MOST_PAIRED = 8
"""Number of machine types for fleets of two types: the types of the best fleet, and the cheapest
single ones.
"""
WIDE_GAP = Decimal("0.05")
"""Maximum possible savings of another fleet, as a share of the best one's price, before the best
one is also planned with guards.
"""
MANY_STEPS = 5 * SIMULATED_STEPS
"""Steps of the simulation if fewer steps find no fleet, for very many pods or conflicting nodes."""
# nodes more than twice those of a packing, so that the simulation can say how many the scheduler
# needs
ROOM = 4
_NONE_LAST: Mapping[str, int] = MappingProxyType({})
NO_PRICE: Final = "no on-demand price is known"
"""Why an offered machine type isn't compared if no table has its price in the region."""


class PricesUnknownError(PlannerError):
    """The region offers suitable machine types, but no table has the price of one there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestRequest:
    """The question for `suggest`: workloads, region, and machine types that can be bought, or all
    types if none are listed.
    """

    sources: tuple[Source, ...]
    cloud: str
    region: str
    kubernetes: str
    machines: tuple[str, ...] = ()
    max_price: Decimal | None = None  # of one node and hour
    level: DemandLevel = "steady"
    architectures: frozenset[str] = frozenset({"amd64"})
    """CPU architectures of unlisted machine types, in addition to those that pods select."""
    whole_gpus: bool = False  # exclude machine types with a part of a GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A fleet as plain data, ready to commit, its plan, and its number of machine types."""

    fleet: Fleet
    document: dict[str, Any]
    plan: Plan
    hourly_usd: Decimal

    @property
    def machines(self) -> tuple[tuple[str, int], ...]:
        """The nodes of each machine type. The parts of a split pool count together."""
        nodes: dict[str, int] = {}
        for pool in self.plan.pools:
            nodes[pool.machine] = nodes.get(pool.machine, 0) + pool.recommended
        return tuple((machine, count) for machine, count in nodes.items() if count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """The cheapest fleet found and the runners-up, by price, empty if the workloads fit no offered
    machine type.

    `plan` is the plan on all candidates, whose bound holds for every fleet of them. `known_usd` is
    the minimum cost of a fleet whose pods are known to fit. Cheaper fleets can't be confirmed while
    facts are unknown. None if nothing fits or prices are unknown.
    """

    best: Suggestion | None
    others: tuple[Suggestion, ...]
    plan: Plan
    candidates: int
    left_out: tuple[tuple[str, str], ...]  # machine, why
    known_usd: Decimal | None = None

    @property
    def unpriced(self) -> int:
        """Number of offered machine types that weren't compared because of unknown prices."""
        return sum(why == NO_PRICE for _, why in self.left_out)

    @property
    def gap(self) -> Decimal:
        """The maximum savings of another fleet of the candidates whose pods are known to fit, as a
        share of the best one's price. 0: proven.
        """
        return self._gap_above(self.known_usd)

    @property
    def gap_of_unknown(self) -> Decimal:
        """The same for fleets for which it isn't known whether they run everything."""
        cost = self.plan.cost
        least = None if cost is None else max(cost.bound_usd, _least_node_usd(self.plan))
        return max(self.gap, self._gap_above(least))

    def _gap_above(self, bound: Decimal | None) -> Decimal:
        if self.best is None or bound is None or self.best.plan.cost is None:
            return Decimal(0)
        return replace(self.best.plan.cost, bound_usd=bound).gap


def _least_node_usd(plan: Plan) -> Decimal:
    """Return the price of one node that any fleet needs: of the cheapest machine type for the pods
    that need the most expensive one. 0 if a price is unknown.
    """
    needed = [
        [answer.offer.hourly_usd for answer in answers if answer.verdict != "does-not-fit"]
        for shape in _shapes(plan)
        if not shape.per_node and shape.figures.at(plan.level)
        if (answers := plan.judgement.answers(shape))
    ]
    return max(
        (min(price or Decimal(0) for price in prices) for prices in needed if prices),
        default=Decimal(0),
    )


def suggest_fleets(request: SuggestRequest) -> Suggestions:
    """Return the machine types to buy. Raises PlannerError for invalid input, or if none can or
    must be bought, and PricesUnknownError if the region's prices are unknown.
    """
    request = checked_request(request)
    left_out: dict[str, str] = {}
    candidates = list(buyable_machines(request, left_out))
    if not candidates:
        raise _nothing_to_buy(request, left_out)
    plan = plan_on_all(request, candidates)
    if plan.verdict != "fits":
        return Suggestions(
            best=None,
            others=(),
            plan=plan,
            candidates=len(candidates),
            left_out=tuple(sorted(left_out.items())),
        )
    if not any(pool.packing for pool in plan.pools):
        raise PlannerError(
            "no pod of these workloads needs a GPU machine type, so there is nothing to buy"
        )
    known = _sized(plan, plan.offers)
    found = _found(request, candidates, plan)
    found.sort(key=lambda each: (each.hourly_usd, len(each.machines)))
    found = [
        each
        for at, each in enumerate(found)
        if all(each.document != other.document for other in found[:at])
    ]
    return Suggestions(
        best=found[0] if found else None,
        others=tuple(found[1:]),
        plan=plan if found else replace(plan, verdict="cannot-tell"),
        candidates=len(candidates),
        left_out=tuple(sorted(left_out.items())),
        known_usd=known.hourly_bound,
    )


def checked_request(request: SuggestRequest) -> SuggestRequest:
    """Return the request with the architectures that its pods select. Raises PlannerError for an
    invalid version, region, or manifest.
    """
    minor = parse_version(request.kubernetes)
    if fault := cloud(request.cloud).region_fault(request.region):
        said, _, fix = fault.partition("; ")
        raise PlannerError(said, fix=fix)
    catalog.check_listed_region(request.cloud, request.region)
    selected = selected_architectures(read_checked(request.sources, features_of(minor)))
    return replace(request, architectures=request.architectures | selected)


def _nothing_to_buy(request: SuggestRequest, left_out: Mapping[str, str]) -> PlannerError:
    whys = dict.fromkeys(left_out.values())
    if NO_PRICE in whys and request.max_price is None:
        named = [catalog.machine(request.cloud, name) for name in request.machines]
        regions = catalog.priced_regions(named or catalog.machines(request.cloud))
        return PricesUnknownError(
            f"no on-demand price of these machine types is known in {request.region}"
            if named
            else f"no on-demand price of a GPU machine type is known in {request.region}",
            fix=f"prices are known only for {', '.join(regions) or 'other machine types'}; "
            "to plan with another region, run `pulumi-dra init --region REGION` and set "
            "pricePerHour of its pools",
        )
    limits = " within these limits" if request.machines or request.max_price is not None else ""
    reasons = f": {'; '.join(whys)}" if whys else ""
    return PlannerError(
        f"no GPU machine type is available on demand in {request.region}{limits}{reasons}",
        fix="allow more machines, a higher price, or another region",
    )


def plan_on_all(request: SuggestRequest, candidates: Sequence[Machine]) -> Plan:
    """Return the unsimulated plan on one pool of each machine type, each as large as possible."""
    most = cloud(request.cloud).nodes_of_a_pool[-1]
    document = fleet_document(request, [(machine, most) for machine in candidates])
    return make_plan(_plan_request(request, read_fleet(document)))


def _found(request: SuggestRequest, candidates: Sequence[Machine], plan: Plan) -> list[Suggestion]:
    """Return the fleets to compare, at least one if a long simulation finds one."""
    if len(_shapes(plan)) * len(candidates) > MOST_SIZED:
        return [
            each
            for counts in _few_fleets(plan)
            if (each := _guided_first(request, candidates, counts)) is not None
        ]
    fleets = list(_fleets(plan))
    found = [
        each for counts in fleets if (each := _confirmed(request, candidates, counts)) is not None
    ]
    best = min(found, key=lambda each: each.hourly_usd, default=None)
    bound = plan.judgement.sizing.hourly_bound or Decimal(0)
    if best is None or (best.hourly_usd > bound and best.plan.guarded is None):
        searched = cheapest_fleet_that_runs(
            plan, None if best is None else best.hourly_usd, SIMULATED_STEPS
        )
        if searched is not None:
            nodes = {
                pool.machine: searched.nodes[pool.name]
                for pool in plan.pools
                if pool.name in searched.nodes
            }
            found += [
                each
                for each in [_planned(request, candidates, nodes, searched.last)]
                if each is not None
            ]
    if not found:
        found += [
            each
            for each in [_confirmed(request, candidates, fleets[0], MANY_STEPS)]
            if each is not None
        ]
    best = min(found, key=lambda each: each.hourly_usd, default=None)
    if best is not None and best.hourly_usd * (1 - WIDE_GAP) > bound:
        guided = _guided_first(request, candidates, fleets[0])
        found += [guided] if guided is not None and guided.hourly_usd < best.hourly_usd else []
    return found


def buyable_machines(
    request: SuggestRequest, left_out: dict[str, str], *, priced: bool = True
) -> Iterator[Machine]:
    """Yield the machine types that can be bought, only those with known prices if `priced`.

    `left_out` receives the reasons for the region's other types. A type without listed regions
    counts as available if it has a price there.
    """
    named = [catalog.machine(request.cloud, name) for name in request.machines]
    for machine in named:
        catalog.check_region(machine, request.region)
    for machine in named or catalog.machines(request.cloud):
        price = catalog.price(machine, request.region)
        is_here = request.region in machine.regions or (
            not machine.regions and (price is not None or bool(named))
        )
        if not machine.gpu_count or not machine.is_offered or not is_here:
            continue
        if machine.purchase and "on-demand" not in machine.purchase:
            left_out[machine.name] = "not available on demand"
        elif not named and machine.arch not in request.architectures:
            left_out[machine.name] = (
                f"images are assumed to run only on {' and '.join(sorted(request.architectures))} "
                f"(otherwise select kubernetes.io/arch: {machine.arch} in pods, or use --machines)"
            )
        elif request.whole_gpus and machine.accelerator and machine.accelerator.fraction:
            left_out[machine.name] = "it has a part of a GPU"
        elif price is None and priced:
            left_out[machine.name] = NO_PRICE
        elif request.max_price is not None and price and price.usd_per_hour > request.max_price:
            left_out[machine.name] = "above the price limit"
        elif fault := _fault(request, machine):
            left_out[machine.name] = fault
        else:
            yield machine


def _fault(request: SuggestRequest, machine: Machine) -> str:
    """Return why a pool of the machine type can't be planned, or ""."""
    try:
        fleet = read_fleet(fleet_document(request, [(machine, 1)]))
        predict_offers(fleet, fleet.features)
    except PlannerError as error:
        return error.message
    return ""


def fleet_document(
    request: SuggestRequest,
    pools: Sequence[tuple[Machine, int]],
    last: Mapping[str, int] = _NONE_LAST,
) -> dict[str, Any]:
    """Return a fleet of these machine types with these maximums. Pods use types with a higher
    number in `last` later.
    """
    pool_name = cloud(request.cloud).pool_name
    each_zone_alike = cloud(request.cloud).count_step(2, autoscaled=False).nodes > 1
    return {
        "cloud": request.cloud,
        "region": request.region,
        "kubernetes": request.kubernetes,
        **({"network": {"zones": 1}} if each_zone_alike else {}),
        "systemPool": {"machine": cheapest_system_machine(request.cloud, request.region)},
        "drivers": {"nvidia": {"version": nvidia.newest_driver_release().version}},
        "pools": [
            {
                "name": pool_name(machine.name),
                "machine": machine.name,
                "count": {"min": 0, "max": nodes},
                **(
                    {"taints": prefer_others_rows(level)}
                    if (level := last.get(pool_name(machine.name), 0))
                    else {}
                ),
            }
            for machine, nodes in pools
        ],
    }


def _plan_request(request: SuggestRequest, fleet: Fleet, steps: int = 0) -> PlanRequest:
    return PlanRequest(
        sources=request.sources,
        fleet=fleet,
        level=request.level,
        steps=steps,
        with_fixes=False,
        compares_placements=False,
    )


def _fleets(plan: Plan) -> Iterator[dict[str, int]]:
    """Yield fleets as nodes by machine type: the packing over all types, the best of one type, and
    of two.
    """
    judgement = plan.judgement
    everything = {pool.machine: pool.packing for pool in plan.pools if pool.packing}
    yield everything
    alone = [((offer,), _sized(plan, (offer,))) for offer in judgement.offers]
    cheapest_alone = _cheapest(alone)
    yield from (_nodes(offers, sizing) for offers, sizing in cheapest_alone[:1])
    standing_out = [offer for offer in judgement.offers if offer.machine in everything]
    standing_out += [offer for (offer,), _ in cheapest_alone if offer not in standing_out]
    pairs = [(pair, _sized(plan, pair)) for pair in combinations(standing_out[:MOST_PAIRED], 2)]
    yield from (_nodes(offers, sizing) for offers, sizing in _cheapest(pairs)[:1])


def _few_fleets(plan: Plan) -> Iterator[dict[str, int]]:
    """Yield few fleets as nodes by machine: the best found of any machines if each workload goes to
    one of them, and those of one, two, and three types that an estimate names.
    """
    needs = node_needs(_sizer(plan, plan.offers), plan.level)
    by_name = {offer.name: offer for offer in plan.offers}
    yield _chosen(needs, [by_name[name] for name in needs.pools])
    costs = [by_name[name].hourly_usd or Decimal(0) for name in needs.pools]
    for chosen in few_machines(needs, [float(cost) for cost in costs]):
        offers = tuple(by_name[needs.pools[pool]] for pool in chosen)
        sizing = _sized(plan, offers)
        if sizing.verdict == "fits":
            yield _nodes(offers, sizing)


def _chosen(needs: LevelNeeds, offers: Sequence[Offer]) -> dict[str, int]:
    pools = Pools(
        names=tuple(offer.name for offer in offers),
        costs=node_costs(offers),
        least=tuple(offer.count_min for offer in offers),
        most=tuple(offer.count_max for offer in offers),
    )
    return {offers[pool].machine: nodes for pool, nodes in choose_pools(needs, pools).items()}


def _shapes(plan: Plan) -> tuple[Shape, ...]:
    judgement = plan.judgement
    return tuple(shape for shape in judgement.demand.shapes if shape.id not in judgement.on_system)


def _sizer(plan: Plan, offers: Iterable[Offer]) -> Sizer:
    judgement = plan.judgement
    demand = replace(judgement.demand, shapes=_shapes(plan))
    return Sizer.of(demand, offers, judgement.classes, judgement.features, known_only=True)


def _sized(plan: Plan, offers: Iterable[Offer]) -> Sizing:
    """Return the number of nodes of these machine types that are needed, according to known
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
    return {offer.machine: nodes for offer in offers if (nodes := sizing.pool(offer.name).plan)}


def _confirmed(
    request: SuggestRequest,
    candidates: Sequence[Machine],
    counts: dict[str, int],
    steps: int = SIMULATED_STEPS,
) -> Suggestion | None:
    """Return the fleet with its plan, or None if it doesn't fit.

    The packing may not suffice for the scheduler, so the plan can add nodes. The result is the
    cheapest of the fleet as it is, with pods that prefer its cheaper pools, and with the most
    expensive pool used last.
    """
    most = cloud(request.cloud).nodes_of_a_pool[-1]
    roomy = {machine: min(2 * nodes + ROOM, most) for machine, nodes in counts.items()}
    best: Suggestion | None = None
    ways: list[Mapping[str, int]] = [_NONE_LAST]
    for last in ways:
        plan = make_plan(
            _plan_request(request, read_fleet(_bought(request, candidates, roomy, last)), steps)
        )
        if last is _NONE_LAST:
            ways += _orders(plan.offers)
        found = None
        if plan.verdict == "fits":
            nodes = {pool.machine: pool.recommended for pool in plan.pools if pool.recommended}
            found = _planned(request, candidates, nodes, last, steps)
        if found is not None and (best is None or found.hourly_usd < best.hourly_usd):
            best = found
        if best is not None and best.hourly_usd == plan.judgement.sizing.hourly_plan:
            break
    return best or _guided(request, candidates, roomy, steps)


def _guided_first(
    request: SuggestRequest, candidates: Sequence[Machine], counts: Mapping[str, int]
) -> Suggestion | None:
    """Return the fleet with the required guards and the resulting number of nodes."""
    most = cloud(request.cloud).nodes_of_a_pool[-1]
    roomy = {machine: min(2 * nodes + ROOM, most) for machine, nodes in counts.items()}
    document = {**_bought(request, candidates, roomy), "placement": "guided"}
    return _suggestion(request, document, SIMULATED_STEPS) or _suggestion(
        request, document, MANY_STEPS
    )


def _guided(
    request: SuggestRequest, candidates: Sequence[Machine], roomy: Mapping[str, int], steps: int
) -> Suggestion | None:
    """Return the fleet with guards, or None if its plan doesn't fit or needs no guards."""
    document = {**_bought(request, candidates, roomy), "placement": "guided"}
    found = _suggestion(request, document, steps)
    return None if found is None or found.plan.guarded is None else found


def _orders(offers: Sequence[Offer]) -> list[dict[str, int]]:
    """Return the possible pool preferences of pods, as the number of taints of each pool."""
    if len(offers) < 2:
        return []
    by_price = order_by_price(offers)
    dearest = max(by_price, key=lambda name: by_price[name])
    return [by_price, {dearest: 1}] if len(offers) > 2 else [by_price]


def _planned(
    request: SuggestRequest,
    candidates: Sequence[Machine],
    nodes: Mapping[str, int],
    last: Mapping[str, int],
    steps: int = SIMULATED_STEPS,
) -> Suggestion | None:
    """Return the fleet with this number of nodes and its plan, or None if it doesn't fit."""
    return _suggestion(request, _bought(request, candidates, nodes, last), steps)


def _suggestion(request: SuggestRequest, document: dict[str, Any], steps: int) -> Suggestion | None:
    """Return the fleet of a document with its plan, or None if it doesn't fit."""
    fleet = read_fleet(document)
    plan = make_plan(_plan_request(request, fleet, steps))
    if plan.verdict != "fits" or plan.cost is None:
        return None
    return Suggestion(fleet=fleet, document=document, plan=plan, hourly_usd=plan.cost.hourly_usd)


def _bought(
    request: SuggestRequest,
    candidates: Sequence[Machine],
    counts: Mapping[str, int],
    last: Mapping[str, int] = _NONE_LAST,
) -> dict[str, Any]:
    chosen = [(machine, counts[machine.name]) for machine in candidates if machine.name in counts]
    return fleet_document(request, chosen, last)

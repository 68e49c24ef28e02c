"""Evaluation of a demand with guards: find the fewest guards that keep the price low, or apply a
plan file's guards.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet, split_pools
from dra_planner.model import (
    Demand,
    DemandLevel,
    DeviceClass,
    GuardKind,
    Guards,
    SharedLimit,
    SteerRule,
)
from dra_planner.offers import Offer, predict_offers
from dra_planner.placement import (
    WORTH,
    CountProver,
    GuardedCounts,
    GuardQuestion,
    Pools,
    find_guards,
    guard_demand,
)
from dra_planner.plan.judgement.demand_levels import LEVELS_BESIDE
from dra_planner.plan.judgement.guarded import Guarded
from dra_planner.plan.judgement.judge import judge
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.redundancy import LOSS_CODES
from dra_planner.plan.judgement.rollouts.stalled import rollout_maximums
from dra_planner.plan.judgement.simulated_counts import (
    NOTHING_PROVED,
    is_placed,
    with_further_fix,
    without_misfits,
)
from dra_planner.plan.judgement.simulated_fleet import PROFILES, system_nodes
from dra_planner.plan.judgement.sized_demand import SizedDemand
from dra_planner.releases import Features
from dra_planner.simulation import (
    ArrivalOrder,
    CountQuestion,
    Fix,
    OrderName,
    SimulatedCounts,
    SimulatedPool,
    check_orders,
    standard_orders,
)
from dra_planner.sizing import Sizing, hourly_usd, node_costs, node_needs

GUARD_STEPS: Final = 15
"""Steps of the search for guards, as a multiple of the simulation's steps without guards."""
_STEPS_OF_LOSSES: Final = 5
"""Steps of the simulations of lost nodes, maximum replicas, and rollouts with guards."""
_EXPENSIVE: Final = Decimal("0.05")
"""Guards are offered if the price of a plan without guards exceeds the bound by more than this
share.
"""
_CHECK_SEEDS: Final = range(11, 12)
# number of additional orders, in which guarded pods most often stay pending
_FURTHER_SEEDS: Final = range(12, 15)
_FURTHER_ORDERS: Final[tuple[OrderName, ...]] = ("random", "at-once")
_SHUFFLED_SEEDS: Final = range(12, 92)
_FEWEST_SHUFFLED: Final = 4
# divided by the number of pods in an order; used for the shuffled orders if the result is larger
_SHUFFLED_PODS: Final = 2_000
_RANDOM_ORDERS: Final = 4
_ORDERS_WITHOUT: Final = (
    ArrivalOrder("settled"),
    ArrivalOrder("random", 1),
    ArrivalOrder("random", 2),
)


def judge_with_guards(
    demand: Demand,
    offers: tuple[Offer, ...],
    classes: Mapping[str, DeviceClass],
    features: Features,
    *,
    level: DemandLevel,
    fleet: Fleet,
    steps: int,
    with_fixes: bool,
    compares: bool = True,
    sized: SizedDemand | None = None,
    known: GuardedCounts | None = None,
) -> tuple[Judgement, Guarded | None]:
    """Return the judgement of a demand, and its guards if the fleet enables guards and they help.

    Fixes are searched for only if no guards are found. Without `compares`, the scheduler without
    guards is also simulated only in that case, and the plan isn't simulated without each guard.
    `sized` are known sizes of this demand on these offers, and `known` are the guards that the
    search would find.
    """
    guides = fleet.placement != "free" and steps > 0
    skips = guides and not compares
    free = judge(
        demand,
        offers,
        classes,
        features,
        level=level,
        fleet=fleet,
        steps=0 if skips else steps,
        with_fixes=with_fixes and not guides,
        sized=sized,
    )
    guarded = add_guards(free, fleet, steps, compares=compares, known=known) if guides else None
    if guarded is not None:
        return guarded.judgement, guarded
    if skips or (guides and with_fixes and free.sizing.verdict != "fits"):
        # Fixes start complete gangs, so the simulated counts are valid only for a demand without
        # gangs.
        simulated = None if demand.gangs else free.simulated
        free = judge(
            demand,
            offers,
            classes,
            features,
            level=level,
            fleet=fleet,
            steps=steps,
            with_fixes=with_fixes,
            proved=NOTHING_PROVED if simulated is None else {level: simulated},
            sized=free.sized,
        )
    if fleet.placement == "free" and with_fixes and steps > 0:
        return _with_guard_fix(free, fleet, steps), None
    return free, None


def _with_guard_fix(free: Judgement, fleet: Fleet, steps: int) -> Judgement:
    """Return the judgement with guards as an additional fix if they help."""
    found = _find_guards_of_fix(free, fleet, steps)
    if found is None:
        return free
    nodes = found.found.counts or {}
    counts = {
        offer.name: sum(nodes[part] for part in found.guards.parts_of(offer.name))
        for offer in free.offers
    }
    most = free.fixes[0].rollouts if free.fixes else rollout_maximums(free)  # equal for all fixes
    fix = Fix(kind="guards", counts=counts, guards=found.guards, rollouts=most)
    return replace(with_further_fix(free, fix), guarded_counts=found)


def _find_guards_of_fix(free: Judgement, fleet: Fleet, steps: int) -> GuardedCounts | None:
    """Return guards if the scheduler leaves pods of a packing pending, or needs nodes that cost
    much more than the bound. Return None if no guards were found.

    A plan with `placement: guided` runs the same search, so it has the same counts. Demands with
    gangs are excluded, because fixes start complete gangs.
    """
    found = free.simulated
    if found is None or not found.at_packing or free.demand.gangs:
        return None
    if found.counts is not None and not _is_expensive(found.counts, free):
        return None
    guided = fleet.model_copy(update={"placement": "guided"})
    if not _has_room_for_guards(free, guided):
        return None
    proved = find_guards(_Search(free, guided).question(steps * GUARD_STEPS))
    if proved is None or not proved.guards.kinds or proved.found.counts is None:
        return None
    return None if _is_no_better(proved, free, fleet) else proved


def add_guards(
    free: Judgement,
    fleet: Fleet,
    steps: int,
    *,
    compares: bool = True,
    known: GuardedCounts | None = None,
) -> Guarded | None:
    """Return the plan with the fewest guards that keep the price low.

    None if no guards are needed or were found. `free` is the judgement without guards, and `steps`
    is its limit. `compares` also simulates the plan without each guard. `known` is the result of
    the search, if it already ran.
    """
    if free.is_observed or not _has_room_for_guards(free, fleet):
        return None
    search = _Search(free, fleet)
    found = find_guards(search.question(steps * GUARD_STEPS)) if known is None else known
    if found is None or not found.guards.kinds or _is_no_better(found, free, fleet):
        return None
    return search.guarded(found, steps, compares=compares)


def apply_guards(
    guards: Guards, demand: Demand, fleet: Fleet, offers: tuple[Offer, ...], features: Features
) -> tuple[Demand, Fleet, tuple[Offer, ...]]:
    """Return demand, fleet, and offers with the guards applied."""
    split = split_pools(fleet, guards.parts)
    return guard_demand(demand, guards), split, part_offers(offers, split, guards, features)


def part_offers(
    offers: tuple[Offer, ...], split: Fleet, guards: Guards, features: Features
) -> tuple[Offer, ...]:
    """Return the offers of a split fleet.

    These are the given offers, and predictions for the parts at the price of their original pool.
    """
    if not guards.parts:
        return offers
    given = {offer.name: offer for offer in offers}
    pool_of = {part.name: part.pool for part in guards.parts}
    return tuple(
        replace(
            offer,
            hourly_usd=given[pool_of[offer.name]].hourly_usd,
            priced_on=given[pool_of[offer.name]].priced_on,
        )
        if offer.name in pool_of
        else given[offer.name]
        for offer in predict_offers(split, features)
    )


def _has_room_for_guards(free: Judgement, fleet: Fleet) -> bool:
    """Return whether a packing places all pods, and guards could still improve the plan."""
    sizing = _without_losses(free.sizing)
    fitting, _ = without_misfits(sizing, free.demand)
    if not is_placed(sizing, fitting, free.level):
        return False
    if fleet.placement == "exact":
        return True
    found = free.simulated
    price = None if found is None or found.counts is None else hourly_usd(found.counts, free.offers)
    if price is None:
        return found is None or found.counts is None
    return sizing.hourly_bound is None or price * Decimal(1 - WORTH) > sizing.hourly_bound


def _is_expensive(counts: Mapping[str, int], free: Judgement) -> bool:
    """Return whether these counts, and those of every fix, cost much more than the bound."""
    bound = free.sizing.hourly_bound
    prices = [
        hourly_usd(each, free.offers) for each in (counts, *(fix.counts for fix in free.fixes))
    ]
    return bound is not None and all(
        price is not None and price * (1 - _EXPENSIVE) > bound for price in prices
    )


def _without_losses(sizing: Sizing) -> Sizing:
    """Return the sizing without doubts about lost nodes, which are simulated again under guards."""
    return replace(
        sizing,
        workloads=tuple(
            replace(
                size,
                reasons=tuple(each for each in size.reasons if each.code not in LOSS_CODES),
            )
            for size in sizing.workloads
        ),
    )


def _is_no_better(found: GuardedCounts, free: Judgement, fleet: Fleet) -> bool:
    """Return whether the plan without guards costs about the same."""
    simulated = free.simulated
    if fleet.placement == "exact" or simulated is None or simulated.counts is None:
        return False
    costs = node_costs(free.offers)
    price = sum(
        simulated.counts[offer.name] * cost[0]
        for offer, cost in zip(free.offers, costs, strict=True)
    )
    return price * (1 - WORTH) <= found.cost[0]


class _Search:
    """The simulation's questions about one judgement and its fleet."""

    def __init__(self, free: Judgement, fleet: Fleet) -> None:
        self._free = free
        self._fleet = fleet
        assert free.sized is not None  # the pools of a fleet are sized
        on_gpus, self._sizer = free.sized.on_gpus, free.sized.sizer
        system = system_nodes(fleet)
        self._demand, self._left_out = without_misfits(
            free.sizing, free.demand if system else on_gpus
        )
        self._beside = () if system is None else system.nodes(free.offers, self._demand)

    def question(self, steps: int) -> GuardQuestion:
        offers = self._sizer.offers
        fixed = {pool.name for pool in self._fleet.pools if pool.count.is_fixed or pool.part_of}
        return GuardQuestion(
            needs=node_needs(self._sizer, self._free.level),
            sizing=self._free.sizing,
            pools=Pools(
                names=tuple(offer.name for offer in offers),
                costs=node_costs(offers),
                least=tuple(offer.count_min for offer in offers),
                most=tuple(offer.count_max for offer in offers),
                limits=self._fleet.limits,
                whole=frozenset(at for at, offer in enumerate(offers) if offer.name in fixed),
            ),
            shapes={shape.id: shape for shape in self._demand.shapes},
            question_of=self.question_of,
            steps=steps,
            name_pool=cloud(self._fleet.cloud).pool_name,
            mode="exact" if self._fleet.placement == "exact" else "guided",
            # pods that arrive before their nodes would spread over too few nodes
            spreads=not self._fleet.is_autoscaled,
        )

    def question_of(self, guards: Guards) -> CountQuestion:
        """Return the number of nodes that the demand needs with guards."""
        demand, split, offers = apply_guards(
            guards, self._demand, self._fleet, self._free.offers, self._free.features
        )
        return self._question(demand, split.limits, offers)

    def _question(
        self, demand: Demand, limits: tuple[SharedLimit, ...], offers: tuple[Offer, ...]
    ) -> CountQuestion:
        pods = sum(shape.figures.at(self._free.level) or 0 for shape in demand.shapes)
        shuffled = _SHUFFLED_SEEDS[: max(_FEWEST_SHUFFLED, _SHUFFLED_PODS // max(1, pods))]
        return CountQuestion(
            demand=demand,
            pools=tuple(
                SimulatedPool(offer=offer, packing=0, maximum=offer.count_max, cost=cost)
                for offer, cost in zip(offers, node_costs(offers), strict=True)
            ),
            beside=self._beside,
            classes=self._free.classes,
            features=self._free.features,
            level=self._free.level,
            orders=standard_orders(_RANDOM_ORDERS),
            checks=(
                *check_orders(_CHECK_SEEDS),
                *(ArrivalOrder("shuffled", seed) for seed in shuffled),
                *(ArrivalOrder(name, seed) for seed in _FURTHER_SEEDS for name in _FURTHER_ORDERS),
            ),
            profile=PROFILES[self._fleet.scheduler_profile],
            limits=limits,
        )

    def guarded(self, found: GuardedCounts, steps: int, *, compares: bool) -> Guarded:
        free, guards = self._free, found.guards
        demand, split, offers = apply_guards(
            guards, free.demand, self._fleet, free.offers, free.features
        )
        judgement = judge(
            demand,
            offers,
            free.classes,
            free.features,
            level=free.level,
            fleet=split,
            steps=steps * _STEPS_OF_LOSSES,
            with_fixes=False,
            proved={
                free.level: replace(found.found, left_out=self._left_out),
                **self._levels_beside(found, steps),
            },
        )
        judgement = replace(
            judgement,
            sizings={
                level: _with_bounds_of(free.sizings[level], each)
                for level, each in judgement.sizings.items()
            },
        )
        return Guarded(
            guards=guards,
            given=self._fleet,
            fleet=split,
            free=free,
            judgement=judgement,
            proof=found.found,
            in_any_order=found.in_any_order,
            pending_without={
                kind: self._pending_without(kind, found, steps) if compares else ()
                for kind in guards.kinds
            },
        )

    def _levels_beside(
        self, found: GuardedCounts, steps: int
    ) -> dict[DemandLevel, SimulatedCounts]:
        """Return counts for maximum replicas and rollouts with guards.

        Only levels that are proven and differ from the evaluated level are included.
        """
        proved: dict[DemandLevel, SimulatedCounts] = {}
        sizings, question = self._free.sizings, self.question_of(found.guards)
        checks = tuple(each for each in found.found.orders if each not in question.orders)
        for level in LEVELS_BESIDE:
            if sizings[level] is sizings[self._free.level]:
                continue
            prover = CountProver(
                replace(question, level=level, checks=checks),
                found.pool_of,
                found.fills,
                steps * _STEPS_OF_LOSSES,
            )
            counts = prover.prove(found.found.counts or {})
            if counts is not None:
                proved[level] = replace(counts, left_out=self._left_out)
        return proved

    def _pending_without(
        self, kind: GuardKind, found: GuardedCounts, steps: int
    ) -> tuple[int, ...]:
        fewer = without_guard(found.guards, kind)
        counts: dict[str, int] = {}
        for pool in self._fleet.pools:
            for part in found.guards.parts_of(pool.name):
                name = part if part in fewer.parts_of(pool.name) else pool.name
                counts[name] = counts.get(name, 0) + (found.found.counts or {})[part]
        proof = CountProver(self.question_of(fewer), {}, {}, steps)
        pending = proof.pending(counts, _ORDERS_WITHOUT)
        return (min(pending), max(pending)) if pending else ()


def _with_bounds_of(free: Sizing, guarded: Sizing) -> Sizing:
    """Return the size under guards with bounds that hold for every plan, with or without guards.

    Bounds under guards would be higher, so they can exceed the cost of a plan without guards.
    Nothing is proven about the parts of a split pool.
    """
    bounds = {pool.name: pool.bound for pool in free.pools}
    return replace(
        guarded,
        pools=tuple(replace(pool, bound=bounds.get(pool.name, 0)) for pool in guarded.pools),
        nodes_bound=free.nodes_bound,
        hourly_bound=free.hourly_bound,
        evidence=free.evidence,
    )


def without_guard(guards: Guards, kind: GuardKind) -> Guards:
    """Return the guards without one kind. Without a split, pods use the original pool."""
    match kind:
        case "steer":  # packing only adds to steering, so removing steering also removes packing
            return Guards(parts=guards.parts)
        case "pack":
            return replace(guards, packs=False)
        case "spread":
            return replace(guards, rules=tuple(_merged(guards.rules, {})))
        case "split":
            pool_of = {part.name: part.pool for part in guards.parts}
            return replace(guards, parts=(), rules=tuple(_merged(guards.rules, pool_of)))


def _merged(rules: tuple[SteerRule, ...], pool_of: Mapping[str, str]) -> list[SteerRule]:
    """Return one rule for each pool, without spreading."""
    merged: dict[str, SteerRule] = {}
    for rule in rules:
        pool = pool_of.get(rule.pool, rule.pool)
        before = merged.get(pool, SteerRule(pool=pool))
        merged[pool] = SteerRule(
            pool=pool,
            templates=tuple(sorted({*before.templates, *rule.templates})),
            workloads=tuple(sorted({*before.workloads, *rule.workloads})),
        )
    return list(merged.values())

"""The search for one change of fleet and manifests with which all workloads fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet
from dra_planner.model import Demand, DeviceClass
from dra_planner.offers import Offer, predict_offers, with_taint_rules
from dra_planner.placement import GuardedCounts
from dra_planner.plan.demand.class_findings import ClassSources
from dra_planner.plan.demand.classes import fleet_classes
from dra_planner.plan.judgement.guarding import judge_with_guards
from dra_planner.plan.judgement.judge import judge
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.simulated_fixes import change_sentence
from dra_planner.plan.judgement.sized_demand import SizedDemand
from dra_planner.plan.model import SIMULATED_STEPS, JointFix, Plan
from dra_planner.plan.pools.needed_maximums import needed_maximums
from dra_planner.plan.suggestion.changed_fleet import ChangedFleet
from dra_planner.plan.suggestion.changed_pods import PodChanges
from dra_planner.plan.suggestion.joint_changes import (
    joint_steps,
    nodes_usd,
    pinned,
    rollout_nodes_usd,
    with_own_claims,
)
from dra_planner.plan.suggestion.pool_fixes import raised_pools
from dra_planner.plan.suggestion.system_machine import (
    larger_system_machine,
    needed_system_nodes,
)
from dra_planner.simulation import Fix
from dra_planner.wording import counted

_ROUNDS: Final = 4
"""Maximum number of plans after changes of pods and maximums.

Each takes as long as the original plan. A raise and separate claims need two plans, and no case in
the corpora needed more than three.
"""
_TRIED: Final = 3
"""Maximum number of simulated fixes (cheapest first) and of unneeded raises to try.

Each fix was already verified for its plan, so the first fix almost always works.
"""


class JointSearch:
    """Changes pods and pools one after the other, then raises maximums until all pods fit.

    `before` is the judgement before the changes, for the change in price.
    """

    def __init__(self, plan: Plan, fleet: Fleet, before: Judgement) -> None:
        self._plan, self._judgement, self._before = plan, plan.judgement, before
        if plan.guarded is not None:  # the changed fleet can have other guards
            self._judgement, fleet = plan.guarded.free, plan.guarded.given
        self._fleet = ChangedFleet(given=fleet)
        self._steps: dict[str, None] = {}
        self._sized = self._judgement.sized  # the sizes of the last evaluated demand and fleet
        # the judgement in which simulated pods stay pending with every fix
        self._stranded: Judgement | None = None
        self.ended_at = ""  # the limit at which the search stopped early

    def run(self) -> JointFix | None:
        pods = PodChanges(self._judgement, self._fleet)
        demand = pods.changed_demand()
        if demand is None:
            return None
        self._fleet, self._steps = pods.fleet, pods.steps
        self._enlarge_system_pool()
        self._add_system_nodes(demand)
        for _ in range(_ROUNDS):
            judgement = self._without_simulation(demand)
            if judgement is None:
                return None
            if judgement.sizing.verdict == "fits":
                break
            split = self._with_own_claims(judgement)
            if split is not None:
                demand = split
            elif not self._raise_maximums(judgement):
                break
        else:
            self.ended_at = f"its limit of {counted(_ROUNDS, 'plan')}"
        return self._simulated(demand)

    def _enlarge_system_pool(self) -> None:
        """Use a larger machine type in the system pool if one of its pods doesn't fit on any
        node.
        """
        judgement, fleet = self._judgement, self._fleet.given
        pods = [each for each in judgement.demand.shapes if each.id in judgement.on_system]
        machine = larger_system_machine(fleet, pods, judgement) if pods else ""
        if machine:
            self._fleet = self._fleet.with_system_pool(machine=machine)
            self._steps[f"set systemPool.machine to {machine} in the fleet"] = None

    def _add_system_nodes(self, demand: Demand) -> None:
        """Give the system pool enough nodes for its pods, also during rollouts."""
        fleet = self._fleet.fleet()
        if fleet is None or not self._judgement.on_system:
            return
        nodes = needed_system_nodes(fleet, replace(self._judgement, demand=demand), "peak")
        if nodes > fleet.system_pool.count:
            self._fleet = self._fleet.with_system_pool(count=nodes)
            self._steps[f"set systemPool.count to {nodes} in the fleet"] = None

    def _raise_maximums(self, judgement: Judgement) -> bool:
        """Return whether a pool gets a higher maximum."""
        raised = {
            pool.name: pool.enough
            for pool in raised_pools(judgement)
            if pool.enough > self._fleet.most.get(pool.name, 0)
        }
        self._fleet = self._fleet.with_most(raised)
        return bool(raised)

    def _with_own_claims(self, judgement: Judgement) -> Demand | None:
        demand, refs = with_own_claims(judgement)
        for ref in refs:
            step = "use a ResourceClaimTemplate, so that each pod has its own claim"
            self._steps[f"{ref}: {step}"] = None
        return demand if refs else None

    def _simulated(self, demand: Demand) -> JointFix | None:
        """Return the changes with which the scheduler places every pod, once capacity suffices.

        If no simulated fix works, one pool also gets the next larger maximum that can be built, the
        cheapest pools first.
        """
        found = self._scheduled(demand)
        if found is not None or self._stranded is None:
            return found
        before, offers = self._fleet, sorted(self._stranded.offers, key=_price)
        for offer in offers[:_TRIED]:
            self._fleet = before.with_most({offer.name: offer.buildable(offer.count_max + 1)})
            found = self._scheduled(demand)
            if found is not None:
                return found
        self._fleet = before
        return None

    def _scheduled(self, demand: Demand) -> JointFix | None:
        """Return the current changes and, if needed, the cheapest simulated fix that works."""
        fixed = self._unchanged(demand) or self._planned(demand, with_fixes=True)
        if fixed is None or fixed.judgement.sizing.verdict == "does-not-fit":
            return None
        if fixed.judgement.sizing.verdict == "fits":
            return self._found(demand, fixed)
        before, fixes = self._fleet, fixed.judgement.fixes
        for fix in fixes[:_TRIED]:
            changed = pinned(demand, fix) if fix.kind == "affinity" else demand
            self._fleet = before.with_fix(fix, fixed.judgement.offers)
            known = fixed.judgement.guarded_counts if fix.kind == "guards" else None
            again = None if changed is None else self._fitting(changed, known)
            if changed is None or again is None:
                continue
            if fix.kind != "maximum":
                self._steps[change_sentence(fix)] = None
                return self._found(changed, again)
            return self._found(changed, self._without_needless_raises(changed, fix.pools, again))
        if len(fixes) > _TRIED:
            self.ended_at = f"its limit of {counted(_TRIED, 'simulated fix')}"
        self._fleet, self._stranded = before, fixed.judgement
        return self._avoided(demand, fixed.judgement)

    def _unchanged(self, demand: Demand) -> _Planned | None:
        """Return the given plan if it already has fixes, and nothing changed so far."""
        given, fleet = self._judgement, self._fleet.given
        if not given.fixes or demand is not given.demand or self._fleet.is_changed:
            return None
        return _Planned(given, fleet, given)

    def _without_needless_raises(
        self, demand: Demand, needed: Collection[str], found: _Planned
    ) -> _Planned:
        """Return the plan without the raises of other pools that became unnecessary."""
        for name in [name for name in self._fleet.most if name not in needed][:_TRIED]:
            before, most = self._fleet, self._fleet.most
            fewer = {pool: nodes for pool, nodes in most.items() if pool != name}
            self._fleet = replace(before, most=fewer)
            again = self._fitting(demand)
            if again is None:
                self._fleet = before
            else:
                found = again
        return found

    def _fitting(self, demand: Demand, known: GuardedCounts | None = None) -> _Planned | None:
        """Return the plan with the changes, or None if it doesn't fit."""
        found = self._planned(demand, known=known)
        return None if found is None or found.judgement.sizing.verdict != "fits" else found

    def _avoided(self, demand: Demand, judgement: Judgement) -> JointFix | None:
        """Return the changes with which pods use the added pools last.

        These pools also get a few more nodes. Returns None if that doesn't suffice.
        """
        names = tuple(row["name"] for row in self._fleet.added.values())
        if not names:
            return None
        self._fleet = replace(self._fleet, avoided=names)
        before = {name: judgement.sizing.pool(name).maximum for name in names}
        for more in range(_TRIED):
            self._fleet = self._fleet.with_most(
                {name: most + more for name, most in before.items()}
            )
            fixed = self._fitting(demand)
            if fixed is not None:
                fix = Fix(kind="taint", counts={}, pools=names)
                self._steps[change_sentence(fix)] = None
                return self._found(demand, fixed)
        return None

    def _without_simulation(self, demand: Demand) -> Judgement | None:
        """Return the judgement with the changes, without a simulation."""
        changed = self._offered()
        if changed is None:
            return None
        fleet, offers, classes = changed
        given = self._judgement
        judgement = judge(
            demand,
            offers,
            classes,
            given.features,
            level=given.level,
            fleet=fleet,
            sized=self._known_sizes(demand, fleet),
        )
        self._sized = judgement.sized
        return judgement

    def _planned(
        self, demand: Demand, *, with_fixes: bool = False, known: GuardedCounts | None = None
    ) -> _Planned | None:
        """Return the judgement that the next plan with the changes would have, including guards.

        `known` contains the guards that this plan would find.
        """
        changed = self._offered()
        if changed is None:
            return None
        fleet, offers, classes = changed
        given = self._judgement
        judgement, guarded = judge_with_guards(
            demand,
            offers,
            classes,
            given.features,
            level=given.level,
            fleet=fleet,
            steps=SIMULATED_STEPS,
            with_fixes=with_fixes,
            compares=False,
            sized=self._known_sizes(demand, fleet),
            known=known,
        )
        free = judgement if guarded is None else guarded.free
        self._sized = free.sized
        return _Planned(judgement, fleet, free)

    def _offered(self) -> tuple[Fleet, tuple[Offer, ...], Mapping[str, DeviceClass]] | None:
        """Return the changed fleet, its offers, and its classes, or None if the fleet isn't
        valid.
        """
        fleet = self._fleet.fleet()
        if fleet is None:
            return None
        features, manifests = self._judgement.features, self._plan.manifests
        classes = self._judgement.classes
        try:
            offers = predict_offers(fleet, features)
        except PlannerError:  # this Kubernetes version doesn't support the driver's new settings
            return None
        if manifests is not None:
            offers = with_taint_rules(offers, manifests.taint_rules)
        if "drivers" in self._fleet.keys:
            of_manifests = {} if manifests is None else manifests.classes
            classes = ClassSources(fleet_classes(fleet, features), of_manifests).in_cluster
        return fleet, offers, classes

    def _known_sizes(self, demand: Demand, fleet: Fleet) -> SizedDemand | None:
        """Return the last sizes if they belong to this demand and fleet.

        The placement and the scheduler's profile don't change sizes.
        """
        known = self._sized
        return known if known is not None and known.is_of(demand, fleet) else None

    def _found(self, demand: Demand, found: _Planned) -> JointFix | None:
        """Return the changes, with maximums with which the plan has no further finding about its
        pools. Returns None if no maximums suffice.
        """
        for _ in range(_ROUNDS):
            needed = found.needed_maximums
            if not needed:
                return JointFix(
                    demand=demand,
                    steps=tuple(joint_steps(self._steps, self._fleet, found.fleet)),
                    judgement=found.judgement,
                    fleet=found.fleet,
                    more_usd=self._more(found, nodes_usd(found.judgement, found.fleet)),
                    rollout_usd=self._more(found, rollout_nodes_usd(found.judgement)),
                )
            self._fleet = self._fleet.with_most(needed)
            again = self._fitting(demand)
            if again is None:
                return None
            found = again
        self.ended_at = f"its limit of {counted(_ROUNDS, 'plan')}"
        return None

    def _more(self, found: _Planned, after: Decimal | None) -> Decimal | None:
        """Return the change to this price of nodes, including system nodes."""
        before = nodes_usd(self._before, self._fleet.given)
        system = self._fleet.system_usd(found.fleet)
        if after is None or before is None or system is None:
            return None
        return after - before + system


class _Planned(Struct, frozen=True, eq=False):
    """The plan with the changes so far: its judgement and fleet, and the judgement without
    guards.
    """

    judgement: Judgement
    fleet: Fleet
    free: Judgement

    @property
    def needed_maximums(self) -> dict[str, int]:
        return needed_maximums(self.judgement, self.fleet, self.free)


def _price(offer: Offer) -> tuple[bool, Decimal]:
    """Return the sort key of a pool: pools without a price are last."""
    return offer.hourly_usd is None, offer.hourly_usd or Decimal()

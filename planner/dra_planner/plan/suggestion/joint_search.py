"""The search for one change of fleet and manifests with which all workloads fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.allocation import Edit
from dra_planner.allocation.reasons.edits import apply_edits, distance
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.model import Demand, Shape, best
from dra_planner.offers import Offer, predict_offers, with_taint_rules
from dra_planner.plan.explanation.claims import smallest_edits
from dra_planner.plan.judgement.guarding import judge_with_guards
from dra_planner.plan.judgement.judge import judge
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.simulated_fixes import fix_sentence
from dra_planner.plan.model import SIMULATED_STEPS, JointFix, Plan
from dra_planner.plan.suggestion.joint_changes import (
    KEEPING,
    joint_steps,
    nodes_usd,
    pinned,
    selected_zone,
    tainted,
    undecided_pools,
    with_maximum,
    with_own_claims,
)
from dra_planner.plan.suggestion.missing.missing_pools import fleet_changes
from dra_planner.plan.suggestion.missing.tried_fleets import FleetChange
from dra_planner.plan.suggestion.pool_fixes import raised_pools
from dra_planner.plan.suggestion.system_machine import larger_system_machine, system_nodes_usd
from dra_planner.simulation import Fix
from dra_planner.wording import counted

_ROUNDS: Final = 4
"""Plans after changes of pods and maximums. Each costs as much as the plan; a raise and separate
claims need two, and no case of the corpora needed more than three.
"""
_TRIED: Final = 3
"""Fixes of the simulation, cheapest first, and needless raises that are tried. Each fix is verified
for its plan before, so the first one almost always holds.
"""


class JointSearch:
    """Changes pods and pools one after the other, then raises maximums until everything fits."""

    def __init__(self, plan: Plan, fleet: Fleet) -> None:
        self._plan, self._judgement, self._fleet = plan, plan.judgement, fleet
        if plan.guarded is not None:  # guards of the changed fleet can be others
            self._judgement, self._fleet = plan.guarded.free, plan.guarded.given
        self._steps: dict[str, None] = {}
        # the added pools, keyed by the sentence that adds them
        self._rows: dict[str, dict[str, Any]] = {}
        self._most: Mapping[str, int] = {}  # maximums by pool
        self._fleet_keys: Mapping[str, Any] = {}  # keys of the document, and `tainted` pools
        self._zones: dict[str, str] = {}  # by pool
        self.ended_at = ""  # the limit at which the search ended before it had tried everything

    def run(self) -> JointFix | None:
        shapes = [self._changed(shape) for shape in self._judgement.demand.shapes]
        if None in shapes:
            return None
        self._enlarge_system_pool()
        demand = replace(
            self._judgement.demand, shapes=tuple(shape for shape in shapes if shape is not None)
        )
        for _ in range(_ROUNDS):
            judgement = self._sized(demand)
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
        """Use a larger machine type in the system pool if a pod there doesn't fit on any node."""
        judgement = self._judgement
        pods = [each for each in judgement.demand.shapes if each.id in judgement.on_system]
        machine = larger_system_machine(self._fleet, pods, judgement) if pods else ""
        if machine:
            pool = {**self._fleet.document().get("systemPool", {}), "machine": machine}
            self._fleet_keys = {**self._fleet_keys, "systemPool": pool}
            self._steps[f"set systemPool.machine to {machine} in the fleet"] = None

    def _raise_maximums(self, judgement: Judgement) -> bool:
        """Return whether a pool gets a higher maximum."""
        raised = {
            pool.name: pool.enough
            for pool in raised_pools(judgement)
            if pool.enough > self._most.get(pool.name, 0)
        }
        self._most = {**self._most, **raised}
        return bool(raised)

    def _with_own_claims(self, judgement: Judgement) -> Demand | None:
        demand, refs = with_own_claims(judgement)
        for ref in refs:
            step = "use a ResourceClaimTemplate, so that each pod has its own claim"
            self._steps[f"{ref}: {step}"] = None
        return demand if refs else None

    def _simulated(self, demand: Demand) -> JointFix | None:
        """Return the changes with which the scheduler places every pod, after capacity suffices:
        the current changes, with the cheapest fix of the simulation that holds if they need one.
        """
        fixed = self._planned(demand, with_fixes=True)
        if fixed is None or fixed[0].sizing.verdict == "does-not-fit":
            return None
        if fixed[0].sizing.verdict == "fits":
            return self._found(*fixed)
        most, more = self._most, self._fleet_keys
        for fix in fixed[0].fixes[:_TRIED]:
            self._most, self._fleet_keys = most, more
            changed = self._with_fix(demand, fix)
            again = None if changed is None else self._fitting(changed)
            if changed is None or again is None:
                continue
            if fix.kind != "maximum":
                self._steps[fix_sentence(fix)] = None
                return self._found(*again)
            return self._found(*self._without_needless_raises(changed, fix.pools, again))
        if len(fixed[0].fixes) > _TRIED:
            self.ended_at = f"its limit of {counted(_TRIED, 'simulated fix')}"
        self._most, self._fleet_keys = most, more
        return self._avoided(demand, fixed[0])

    def _without_needless_raises(
        self, demand: Demand, needed: Collection[str], found: tuple[Judgement, Fleet]
    ) -> tuple[Judgement, Fleet]:
        """Return the plan without the raises of other pools that became unnecessary."""
        for name in [name for name in self._most if name not in needed][:_TRIED]:
            most = self._most
            self._most = {pool: nodes for pool, nodes in most.items() if pool != name}
            fewer = self._fitting(demand)
            if fewer is None:
                self._most = most
            else:
                found = fewer
        return found

    def _fitting(self, demand: Demand) -> tuple[Judgement, Fleet] | None:
        """Return the plan with the changes, or None if it doesn't fit."""
        found = self._planned(demand)
        return None if found is None or found[0].sizing.verdict != "fits" else found

    def _avoided(self, demand: Demand, judgement: Judgement) -> JointFix | None:
        """Return the changes with which pods use the added pools last, and these pools have a few
        more nodes, or None if that doesn't suffice.
        """
        names = tuple(row["name"] for row in self._rows.values())
        if not names:
            return None
        self._fleet_keys = {**self._fleet_keys, "tainted": names}
        before = {name: judgement.sizing.pool(name).maximum for name in names}
        for more in range(_TRIED):
            self._most = {**self._most, **{name: most + more for name, most in before.items()}}
            fixed = self._fitting(demand)
            if fixed is not None:
                fix = Fix(kind="taint", counts={}, pools=names)
                self._steps[fix_sentence(fix)] = None
                return self._found(*fixed)
        return None

    def _with_fix(self, demand: Demand, fix: Fix) -> Demand | None:
        """Return the demand with a fix of the simulation, and note its changes of the fleet."""
        match fix.kind:
            case "maximum":
                self._most = {**self._most, **{name: fix.counts[name] for name in fix.pools}}
            case "profile":
                self._fleet_keys = {**self._fleet_keys, "schedulerProfile": "most-allocated"}
            case "taint":
                self._fleet_keys = {**self._fleet_keys, "tainted": fix.pools}
            case "guards":
                self._fleet_keys = {**self._fleet_keys, "placement": "guided"}
            case "affinity":
                shapes = [pinned(shape, fix) for shape in demand.shapes]
                if None in shapes:
                    return None
                return replace(demand, shapes=tuple(each for each in shapes if each is not None))
        return demand

    def _changed(self, shape: Shape) -> Shape | None:
        """Return the shape with the changes that make it fit some pool, or None."""
        answers = self._judgement.answers(shape)
        verdict = best(answer.verdict for answer in answers) if answers else "fits"
        if verdict == "fits" or shape.per_node:
            return shape
        if verdict == "cannot-tell":
            return self._in_zone(shape)
        edits = self._edits(shape, only=KEEPING)
        if not edits:
            change = self._nearest_change(shape)
            if change is not None:
                return self._with_pool(shape, change)
            edits = self._edits(shape, only=None)
            kept = tuple(each for each in edits if each.kind in KEEPING)
            let_in = apply_edits(kept, shape) if kept else shape
            change = self._nearest_change(let_in) if kept else None
            if change is not None:
                self._tell(shape, kept)
                return self._with_pool(let_in, change)
        if not edits:
            return None
        self._tell(shape, edits)
        return apply_edits(edits, shape)

    def _in_zone(self, shape: Shape) -> Shape | None:
        """Return the shape if a pool fits it in the zone that it selects, and set that zone."""
        zone, answers = selected_zone(shape.pod), self._judgement.answers(shape)
        for name in undecided_pools(answers) if zone else ():
            if self._zones.setdefault(name, zone) == zone:
                self._steps[f'set zones of pool "{name}" to [{zone}]'] = None
                return shape
        return None

    def _nearest_change(self, shape: Shape) -> FleetChange | None:
        """Return the change of the fleet for a pod, with the architecture of its pools if it can
        choose.
        """
        changes = fleet_changes(self._judgement, shape)
        return min(changes, key=self._is_other_arch, default=None)

    def _edits(self, shape: Shape, only: frozenset[str] | None) -> tuple[Edit, ...]:
        """Return the fewest changes of these kinds with which the pod fits a pool."""
        found = (
            smallest_edits(answer, self._judgement) for answer in self._judgement.answers(shape)
        )
        kept = (
            edits
            for edits in found
            if edits and all(each.kind != "add-node" for each in edits)
            if only is None or all(each.kind in only for each in edits)
        )
        return min(kept, key=distance, default=())

    def _is_other_arch(self, change: FleetChange) -> bool:
        """Return whether a change adds machine types with another architecture, which need
        different container images.
        """
        known = {self._fleet.machine(pool.machine).arch for pool in self._fleet.pools}
        return any(
            change.fleet.machine(each.machine).arch not in known for each in change.fleet.pools
        )

    def _with_pool(self, shape: Shape, change: FleetChange) -> Shape | None:
        """Return the shape that fits an added pool, or None for other fleet changes."""
        known = {pool.name for pool in self._fleet.pools}
        document, before = change.fleet.document(), self._fleet.document()
        if {**document, "pools": []} != {**before, "pools": []}:
            return None
        added = [row for row in document["pools"] if row["name"] not in known]
        others = [row for row in document["pools"] if row["name"] in known]
        if others != before["pools"] or len(added) != 1:
            return None
        name = f"added-{len(self._rows) + 1}"
        self._rows.setdefault(change.text, {**added[0], "name": name})
        self._tell(shape, change.edits)
        return apply_edits(change.edits, shape) if change.edits else shape

    def _tell(self, shape: Shape, edits: tuple[Edit, ...]) -> None:
        names = ", ".join(dict.fromkeys(str(member.workload) for member in shape.members))
        for edit in edits:
            self._steps[f"{names}: {edit.text}"] = None

    def _sized(self, demand: Demand) -> Judgement | None:
        """Return the judgement with the changes, without a simulation."""
        changed = self._changed_fleet()
        if changed is None:
            return None
        fleet, offers = changed
        classes, features = self._judgement.classes, self._judgement.features
        level = self._judgement.level
        return judge(demand, offers, classes, features, level=level, fleet=fleet)

    def _planned(
        self, demand: Demand, *, with_fixes: bool = False
    ) -> tuple[Judgement, Fleet] | None:
        """Return the judgement with the changes as the next plan has it, with its guards."""
        changed = self._changed_fleet()
        if changed is None:
            return None
        fleet, offers = changed
        judgement, _ = judge_with_guards(
            demand,
            offers,
            self._judgement.classes,
            self._judgement.features,
            level=self._judgement.level,
            fleet=fleet,
            steps=SIMULATED_STEPS,
            with_fixes=with_fixes,
            compares=False,
        )
        return judgement, fleet

    def _changed_fleet(self) -> tuple[Fleet, tuple[Offer, ...]] | None:
        keys = dict(self._fleet_keys)
        avoided = keys.pop("tainted", ())
        document = {**self._fleet.document(), **keys}
        rows = [*document["pools"], *self._rows.values()]
        zones = {name: {"zones": [zone]} for name, zone in self._zones.items()}
        document["pools"] = [
            with_maximum(tainted(row) if row["name"] in avoided else row, self._most)
            | zones.get(row["name"], {})
            for row in rows
        ]
        manifests = self._plan.manifests
        try:
            fleet = read_fleet(document)
        except PlannerError:  # a quota, or more nodes than the cloud allows in a pool
            return None
        offers = predict_offers(fleet, self._judgement.features)
        if manifests is not None:
            offers = with_taint_rules(offers, manifests.taint_rules)
        return fleet, offers

    def _found(self, judgement: Judgement, fleet: Fleet) -> JointFix:
        return JointFix(
            steps=tuple(joint_steps(self._steps, self._rows, self._fleet, fleet)),
            judgement=judgement,
            fleet=fleet,
            more_usd=self._more(judgement, fleet),
        )

    def _more(self, judgement: Judgement, fleet: Fleet) -> Decimal | None:
        after, before = map(nodes_usd, (judgement, self._plan.judgement))
        if "systemPool" in self._fleet_keys:
            system = system_nodes_usd(fleet), system_nodes_usd(self._fleet)
            if after is None or before is None or None in system:
                return None
            after, before = after + (system[0] or 0), before + (system[1] or 0)
        return None if after is None or before is None else after - before

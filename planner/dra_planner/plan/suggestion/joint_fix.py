"""One change of fleet and manifests with which all workloads fit, verified before it's reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from dra_planner.allocation import Edit
from dra_planner.allocation.reasons.edits import apply_edits
from dra_planner.errors import Diagnostic, PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.model import NO_GUARDS, Demand, Shape, WorkloadRef, best
from dra_planner.offers import predict_offers, with_taint_rules
from dra_planner.plan.blockers.idle_configuration import divides_claim
from dra_planner.plan.explanation.claims import smallest_edits
from dra_planner.plan.judgement.judge import judge
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.simulated_fixes import fix_sentence, prefer_others_rows
from dra_planner.plan.model import SIMULATED_STEPS, JointFix, Plan
from dra_planner.plan.suggestion.missing_pools import FleetChange, fleet_changes
from dra_planner.plan.suggestion.system_machine import larger_system_machine, system_nodes_usd
from dra_planner.simulation import Fix, PodSetRef
from dra_planner.simulation.sizing.fixes import pin_pod
from dra_planner.sizing import hourly_usd
from dra_planner.wording import counted

_SHARED_CLAIM_FULL: Final = "shared-claim-node-full"
_ROUNDS: Final = 4
"""Plans after changes of pods and maximums. Each costs as much as the plan; a raise and separate
claims need two, and no case of the corpora needed more than three.
"""
_TRIED: Final = 3
"""Fixes of the simulation that are tried, cheapest first. Each is verified for its plan before, so
the first one almost always holds.
"""
_KEEPING: Final = frozenset(
    {
        "tolerate",
        "select-less",
        "tolerate-device",
        "compare-inclusive",
        "correct-value",
        "constrain-pairs",
        "guard-class",
        "use-class",
    }
)
"""Changes after which the pod still gets as much as it requests."""


def with_joint_fix(plan: Plan) -> Plan:
    """Return the plan with one change that clears what keeps its workloads from running, if there
    is one, and a note if the search for it ended at a limit.

    A single workload gets one only if the fix of its pods leads to the next finding: its own fixes
    already raise maximums for all demands. Nothing is looked for if something else than capacity
    keeps pods from running.
    """
    judgement, fleet = plan.judgement, plan.fleet
    if fleet is None or judgement.is_observed or plan.guards != NO_GUARDS:
        return plan
    if judgement.demand.blocked or any(each.verdict != "fits" for each in plan.blockers):
        return plan
    if any(each.severity == "error" for each in plan.diagnostics):
        return plan
    unfit = {size.workload for size in judgement.sizing.workloads if size.verdict != "fits"}
    if not unfit or (len(unfit) == 1 and not _fits_no_pool(judgement, unfit)):
        return plan
    found, ended_at = find_joint_fix(plan, fleet)
    if found is not None and len(unfit) == 1 and len(found.steps) == 1:
        return plan
    if found is None and ended_at:
        return replace(plan, diagnostics=(*plan.diagnostics, _ended_note(ended_at)))
    return replace(plan, joint_fix=found)


def find_joint_fix(plan: Plan, fleet: Fleet) -> tuple[JointFix | None, str]:
    """Return the change with which the workloads of a plan fit, even if it's one step for one
    workload, and the limit at which the search ended before it had tried everything, or "".
    """
    search = _Search(plan, fleet)
    return search.run(), search.ended_at


def _fits_no_pool(judgement: Judgement, workloads: Set[WorkloadRef]) -> bool:
    return any(
        all(answer.verdict != "fits" for answer in judgement.answers(shape))
        for shape in judgement.demand.shapes
        if any(member.workload in workloads for member in shape.members)
    )


def _ended_note(limit: str) -> Diagnostic:
    return Diagnostic(
        severity="note",
        code="search-ended",
        message=f"The search for one change with which all workloads fit ended at {limit}",
    )


class _Search:
    """Changes pods and pools one after the other, then raises maximums until everything fits."""

    def __init__(self, plan: Plan, fleet: Fleet) -> None:
        self._plan, self._judgement, self._fleet = plan, plan.judgement, fleet
        self._steps: dict[str, None] = {}
        self._rows: dict[str, dict[str, Any]] = {}  # the added pools by the sentence that adds them
        self._most: Mapping[str, int] = {}  # maximums by pool
        self._fleet_keys: Mapping[str, Any] = {}  # of the document, and `tainted` pools
        self.ended_at = ""  # the limit at which the search ended before it had tried everything

    def run(self) -> JointFix | None:
        shapes = [self._changed(shape) for shape in self._judgement.demand.shapes]
        if None in shapes:
            return None
        self._enlarge_system_pool()
        demand = replace(
            self._judgement.demand, shapes=tuple(shape for shape in shapes if shape is not None)
        )
        for number in range(_ROUNDS):
            fixed = self._judge(demand)
            if fixed is None:
                return None
            judgement, fleet = fixed
            if judgement.sizing.verdict == "fits":
                return JointFix(
                    steps=tuple(self._worded(judgement)),
                    judgement=judgement,
                    fleet=fleet,
                    more_usd=self._more(judgement),
                )
            split = self._with_own_claims(judgement)
            if split is not None:
                demand = split
            elif not self._raise_maximums(judgement):
                break
            elif number == _ROUNDS - 1:
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
            pool.name: max(self._most.get(pool.name, 0), pool.enough, pool.maximum)
            for pool in judgement.sizing.pools
        }
        changed = any(
            raised[pool.name] > max(pool.maximum, self._most.get(pool.name, 0))
            for pool in judgement.sizing.pools
        )
        self._most = raised
        return changed

    def _with_own_claims(self, judgement: Judgement) -> Demand | None:
        """Return the demand with a claim for each pod of workloads that are too many for the node
        of their shared claim; None if no workload has such a claim for itself.

        A claim whose configuration divides its devices is shared on purpose, and stays so.
        """
        full = {
            size.workload
            for size in judgement.sizing.workloads
            if any(reason.code == _SHARED_CLAIM_FULL for reason in size.reasons)
        }
        demand, changed = judgement.demand, False
        users = Counter(
            claim.shared for shape in demand.shapes for claim in shape.claims if claim.shared
        )
        shapes: list[Shape] = []
        for shape in demand.shapes:
            own = [
                claim
                for claim in shape.claims
                if claim.shared and users[claim.shared] == 1 and not divides_claim(claim.spec)
            ]
            if own and all(member.workload in full for member in shape.members):
                changed = True
                claims = tuple(
                    replace(each, shared=None) if each in own else each for each in shape.claims
                )
                for member in shape.members:
                    step = "give the pods their own claims with a ResourceClaimTemplate"
                    self._steps[f"{member.workload}: {step}"] = None
                shape = replace(shape, claims=claims)
            shapes.append(shape)
        return replace(demand, shapes=tuple(shapes)) if changed else None

    def _simulated(self, demand: Demand) -> JointFix | None:
        """Return the further changes with which the simulation places every pod, after capacity
        suffices.
        """
        fixed = self._judge(demand, with_fixes=True)
        if fixed is None or fixed[0].sizing.verdict != "cannot-tell":
            return None
        most, more = self._most, self._fleet_keys
        for fix in fixed[0].fixes[:_TRIED]:
            self._most, self._fleet_keys = most, more
            changed = self._with_fix(demand, fix)
            again = None if changed is None else self._judge(changed)
            if again is None or again[0].sizing.verdict != "fits":
                continue
            if fix.kind != "maximum":
                self._steps[fix_sentence(fix)] = None
            return JointFix(
                steps=tuple(self._worded(again[0])),
                judgement=again[0],
                fleet=again[1],
                more_usd=self._more(again[0]),
            )
        if len(fixed[0].fixes) > _TRIED:
            self.ended_at = f"its limit of {counted(_TRIED, 'simulated fix')}"
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
            case "affinity":
                shapes = [_pinned(shape, fix) for shape in demand.shapes]
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
            return None
        edits = self._edits(shape, only=_KEEPING)
        if not edits:
            change = self._nearest_change(shape)
            if change is not None:
                return self._with_pool(shape, change)
            edits = self._edits(shape, only=None)
            kept = tuple(each for each in edits if each.kind in _KEEPING)
            let_in = apply_edits(kept, shape) if kept else shape
            change = self._nearest_change(let_in) if kept else None
            if change is not None:
                self._tell(shape, kept)
                return self._with_pool(let_in, change)
        if not edits:
            return None
        self._tell(shape, edits)
        return apply_edits(edits, shape)

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
        return min(kept, key=len, default=())

    def _is_other_arch(self, change: FleetChange) -> bool:
        """Return whether a change adds machines of another architecture, which needs other
        images.
        """
        known = {self._fleet.machine(pool.machine).arch for pool in self._fleet.pools}
        return any(
            change.fleet.machine(each.machine).arch not in known for each in change.fleet.pools
        )

    def _with_pool(self, shape: Shape, change: FleetChange) -> Shape | None:
        """Return the shape that fits an added pool, or None for other fleet changes."""
        known = {pool.name for pool in self._fleet.pools}
        document = change.fleet.document()
        added = [row for row in document["pools"] if row["name"] not in known]
        others = [row for row in document["pools"] if row["name"] in known]
        if others != self._fleet.document()["pools"] or len(added) != 1:
            return None
        name = f"added-{len(self._rows) + 1}"
        self._rows.setdefault(change.text, {**added[0], "name": name})
        return apply_edits(change.edits, shape) if change.edits else shape

    def _tell(self, shape: Shape, edits: tuple[Edit, ...]) -> None:
        names = ", ".join(dict.fromkeys(str(member.workload) for member in shape.members))
        for edit in edits:
            self._steps[f"{names}: {edit.text}"] = None

    def _judge(self, demand: Demand, *, with_fixes: bool = False) -> tuple[Judgement, Fleet] | None:
        keys = dict(self._fleet_keys)
        tainted = keys.pop("tainted", ())
        document = {**self._fleet.document(), **keys}
        rows = [*document["pools"], *self._rows.values()]
        document["pools"] = [
            _with_maximum(_tainted(row) if row["name"] in tainted else row, self._most)
            for row in rows
        ]
        before, manifests = self._judgement, self._plan.manifests
        try:
            fleet = read_fleet(document)
        except PlannerError:  # a quota, or more nodes than the cloud allows in a pool
            return None
        offers = predict_offers(fleet, before.features)
        if manifests is not None:
            offers = with_taint_rules(offers, manifests.taint_rules)
        judgement = judge(
            demand,
            offers,
            before.classes,
            before.features,
            level=before.level,
            fleet=fleet,
            steps=SIMULATED_STEPS,
            with_fixes=with_fixes,
        )
        return judgement, fleet

    def _worded(self, judgement: Judgement) -> Iterator[str]:
        """Yield the changes of pods, followed by the added and raised pools with their nodes."""
        yield from self._steps
        for text, row in self._rows.items():
            nodes = judgement.sizing.pool(row["name"]).maximum
            yield f"{text}, with at most {counted(nodes, 'node')}"
        known = {pool.name: pool for pool in self._judgement.sizing.pools}
        for pool in judgement.sizing.pools:
            if pool.name in known and pool.maximum > known[pool.name].maximum:
                yield f'set the maximum of pool "{pool.name}" to {pool.maximum}'

    def _more(self, judgement: Judgement) -> Decimal | None:
        after, before = map(_price, (judgement, self._judgement))
        if judgement.fleet != self._fleet and "systemPool" in self._fleet_keys:
            system = system_nodes_usd(judgement.fleet), system_nodes_usd(self._fleet)
            if after is None or before is None or None in system:
                return None
            after, before = after + (system[0] or 0), before + (system[1] or 0)
        return None if after is None or before is None else after - before


def _price(judgement: Judgement) -> Decimal | None:
    """Return the price per hour of the nodes that the demand uses, or None if a price is
    unknown.
    """
    nodes: dict[str, int] = {}
    for pool in judgement.sizing.pools:
        simulated = judgement.simulated_nodes(pool.name, judgement.level)
        nodes[pool.name] = pool.plan if simulated is None else simulated
    return hourly_usd(nodes, judgement.offers)


def _with_maximum(row: dict[str, Any], maximums: Mapping[str, int]) -> dict[str, Any]:
    most, count = maximums.get(row["name"], 0), row.get("count", 1)
    limits = dict(count) if isinstance(count, dict) else {"min": count, "max": count}
    return {**row, "count": {**limits, "max": max(most, limits.get("max", most))}} if most else row


def _tainted(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "taints": [*(row.get("taints") or ()), *prefer_others_rows(1)]}


def _pinned(shape: Shape, fix: Fix) -> Shape | None:
    """Return the shape restricted to a fix's pools, or None if only some of its pods would be on
    them.
    """
    pins = {fix.pins.get(PodSetRef(each.workload, each.pod_set)) for each in shape.members}
    if len(pins) != 1:
        return None
    pools = pins.pop()
    return shape if pools is None else replace(shape, pod=pin_pod(shape.pod, pools))

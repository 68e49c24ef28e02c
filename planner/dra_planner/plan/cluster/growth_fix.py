"""One change with which all workloads fit a snapshot's cluster: changes of pods, additional nodes,
and higher maximums.

The change is planned before it's reported, so a plan with it has no further finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from dra_planner.allocation import Edit
from dra_planner.allocation.reasons.applied_edits import apply_edits
from dra_planner.fleet import Fleet
from dra_planner.model import Demand, Node, Shape, WorkloadRef, best
from dra_planner.offers import Offer
from dra_planner.plan.cluster.growing_pools import Growth
from dra_planner.plan.cluster.growth import find_needed_nodes, plan_growth
from dra_planner.plan.cluster.snapshot_plan import ReadCluster, plan_on_snapshot
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.simulated_fixes import raised_maximums
from dra_planner.plan.model import JointFix, Plan
from dra_planner.plan.suggestion.changed_fleet import ChangedFleet
from dra_planner.plan.suggestion.changed_pods import PodChanges, edit_steps, fewest_edits
from dra_planner.plan.suggestion.joint_changes import joint_steps
from dra_planner.plan.suggestion.joint_fix import is_stopped_otherwise
from dra_planner.simulation.cluster.nodes import PoolNodes
from dra_planner.wording import counted

_MOST_ANSWERS: Final = 2_000
"""Maximum number of answers, of nodes to shapes of pods, for which changes are searched."""
_HOSTNAME: Final = "kubernetes.io/hostname"
_CONDITIONS: Final = "node.kubernetes.io/"  # prefix of the taints of node conditions


def with_snapshot_fix(plan: Plan, cluster: ReadCluster, steps: int) -> Plan:
    """Return the plan on a snapshot's nodes with one change that makes all workloads fit, if there
    is one that the reasons of a single workload don't state.

    `steps` limits the simulation.
    """
    unfit = _unfit(plan)
    empty = tuple(replace(each, pods=(), claims=()) for each in cluster.offers if _is_ready(each))
    pods = _on(plan.judgement, unfit, empty)
    if (
        not (unfit and empty)
        or is_stopped_otherwise(plan)
        or len(pods.demand.shapes) * len(empty) > _MOST_ANSWERS
    ):
        return plan
    edited = _with_edits(pods)
    if edited is None:
        return plan
    demand, changes = _with_shapes(cluster.demand, pods.demand, edited[0]), edited[1]
    kinds, groups = _kinds(empty)
    growth = Growth.with_pools(replace(cluster, demand=demand), kinds, groups)
    needed = find_needed_nodes(growth, steps)
    if needed is None:
        return plan
    more = {
        name: nodes - growth.existing[name]
        for name, nodes in raised_maximums(needed, kinds).items()
    }
    offers = (*cluster.offers, *_copies(kinds, more))
    after = plan_on_snapshot(replace(cluster, demand=demand, offers=offers))
    is_own = len(unfit) == 1 and len(changes) + sum(more.values()) == 1
    if after.verdict != "fits" or is_own:
        return plan
    nodes = (f"add {counted(count, 'node')} like {name}" for name, count in more.items())
    found = JointFix(
        demand=demand,
        steps=(*changes, *nodes),
        judgement=after.judgement,
        fleet=None,
        more_usd=None if more else Decimal(0),
    )
    return replace(plan, joint_fix=found)


def with_growth_fix(plan: Plan, cluster: ReadCluster, fleet: Fleet, steps: int) -> Plan:
    """Return the plan for a snapshot and its fleet with one change that makes all workloads fit, if
    there is one that the reasons of a single workload don't state.

    `steps` limits each simulation.
    """
    unfit = _unfit(plan)
    if not unfit or is_stopped_otherwise(plan):
        return plan
    pods = _on(plan.judgement, unfit, plan.judgement.predicted)
    changes = PodChanges(pods, ChangedFleet(given=fleet))
    changed = changes.changed_demand()
    larger = changes.fleet.fleet()
    if changed is None or larger is None:
        return plan
    demand = _with_shapes(cluster.demand, pods.demand, changed.shapes)
    growth = Growth.of(replace(cluster, demand=demand), larger)
    needed = find_needed_nodes(growth, steps)
    if needed is None:
        return plan
    changed_fleet = changes.fleet.with_most(raised_maximums(needed, growth.predicted))
    final = changed_fleet.fleet()
    if final is None:
        return plan
    after = plan_growth(growth.cluster, final, steps, with_fixes=False)
    texts = tuple(joint_steps(changes.steps, changed_fleet, final))
    if after.verdict != "fits" or len(unfit) == len(texts) == 1:
        return plan
    found = JointFix(
        demand=demand,
        steps=texts,
        judgement=after.judgement,
        fleet=final,
        more_usd=_more_usd(plan, after),
        repeated=_common_fix(plan, unfit) if not changes.steps else "",
    )
    return replace(plan, joint_fix=found)


def _unfit(plan: Plan) -> set[WorkloadRef]:
    sizes = plan.judgement.sizing.workloads
    return {size.workload for size in sizes if size.verdict != "fits"}


def _on(judgement: Judgement, workloads: set[WorkloadRef], offers: tuple[Offer, ...]) -> Judgement:
    """Return the judgement for the answers of other offers to these workloads."""
    shapes = tuple(
        shape
        for shape in judgement.demand.shapes
        if any(member.workload in workloads for member in shape.members)
    )
    demand = replace(judgement.demand, shapes=shapes)
    return replace(judgement, demand=demand, offers=offers, _nodes={}, _answers={})


def _with_edits(judgement: Judgement) -> tuple[tuple[Shape, ...], tuple[str, ...]] | None:
    """Return the shapes with the fewest changes with which they fit an empty node, and these
    changes. Returns None if no changes help.
    """
    shapes: list[Shape] = []
    steps: dict[str, None] = {}
    for shape in judgement.demand.shapes:
        edits: tuple[Edit, ...] = ()
        if best(answer.verdict for answer in judgement.answers(shape)) == "does-not-fit":
            edits = fewest_edits(judgement, shape, keeping=True) or fewest_edits(judgement, shape)
            if not edits:
                return None
        steps |= dict.fromkeys(edit_steps(shape, edits))
        shapes.append(apply_edits(edits, shape) if edits else shape)
    return tuple(shapes), tuple(steps)


def _with_shapes(demand: Demand, before: Demand, after: tuple[Shape, ...]) -> Demand:
    """Return the demand with the changed shapes of a part of it."""
    changed = {old.id: new for old, new in zip(before.shapes, after, strict=True)}
    return replace(demand, shapes=tuple(changed.get(each.id, each) for each in demand.shapes))


def _kinds(empty: tuple[Offer, ...]) -> tuple[tuple[Offer, ...], dict[str, str]]:
    """Return the kinds of nodes as pools at their maximum, named like their first nodes, and the
    kind of each node by name.
    """
    kinds: dict[str, list[Offer]] = {}
    for offer in empty:
        devices = [(each.driver, len(each.devices)) for each in offer.slices]
        labels = {**offer.node.meta.labels, _HOSTNAME: ""}
        key = str((labels, offer.node.allocatable, offer.node.taints, devices))
        kinds.setdefault(key, []).append(offer)
    offers = tuple(
        replace(each[0], node=_new_node(each[0]), count_min=0, count_max=len(each))
        for each in kinds.values()
    )
    return offers, {node.name: each[0].name for each in kinds.values() for node in each}


def _is_ready(offer: Offer) -> bool:
    """Return whether a node and its devices have no temporary problem that a new node wouldn't
    have.
    """
    return (
        not offer.node.unschedulable
        and not any(taint.key.startswith(_CONDITIONS) for taint in offer.node.taints)
        and all(
            taint.rule
            for each in offer.slices
            for device in each.devices
            for taint in device.taints
        )
    )


def _new_node(offer: Offer) -> Node:
    """Return a node like an existing one, with its own host name."""
    meta = offer.node.meta
    labels = {**meta.labels, _HOSTNAME: f"{offer.name}-new"}
    return replace(offer.node, meta=replace(meta, labels=labels))


def _copies(kinds: tuple[Offer, ...], more: Mapping[str, int]) -> Iterator[Offer]:
    """Yield additional nodes of these kinds as nodes of the cluster."""
    for offer in kinds:
        for index in range(more.get(offer.name, 0)):
            (new,) = PoolNodes.of(offer, f"{offer.name}-new-{index}").zoned
            yield replace(new, name=new.node.name, count_min=1, count_max=1)


def _common_fix(plan: Plan, unfit: set[WorkloadRef]) -> str:
    """Return the fix that all workloads have first, or ""."""
    firsts = {each.reasons[0].fix for each in plan.workloads if each.workload in unfit}
    return firsts.pop() if len(firsts) == 1 else ""


def _more_usd(before: Plan, after: Plan) -> Decimal | None:
    if before.cost is None or after.cost is None:
        return None
    return after.cost.hourly_usd - before.cost.hourly_usd

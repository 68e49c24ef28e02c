"""Additional nodes that each pool of a fleet needs when manifests are applied to a snapshot's
cluster.

Existing nodes stay as they are, with their pods, and existing objects are updated. Nodes are added
while the simulation leaves pods pending, until the default scheduler places all pods in every
simulated pod arrival order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from dra_planner.errors import Diagnostic, PlannerError
from dra_planner.fleet import Fleet
from dra_planner.model import Reason, WorkloadRef, worst
from dra_planner.offers import Offer
from dra_planner.plan.cluster.drains import find_blocked_drains
from dra_planner.plan.cluster.growing_pools import Growth
from dra_planner.plan.cluster.snapshot_plan import ReadCluster, find_consequences, read_cluster
from dra_planner.plan.demand.classes import fleet_classes
from dra_planner.plan.demand.headroom import with_headroom
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.observed_nodes import judge_outcome
from dra_planner.plan.judgement.rollouts.daemons import find_stalled_daemons
from dra_planner.plan.judgement.rollouts.findings import rollout_assumptions, rollout_findings
from dra_planner.plan.judgement.rollouts.observed import observed_rollout_maximums
from dra_planner.plan.judgement.rollouts.stalled import check_rollouts
from dra_planner.plan.judgement.rollouts.updates import find_updates
from dra_planner.plan.judgement.simulated_counts import fix_text, stranded
from dra_planner.plan.model import Cost, LimitUse, Plan, PlannedPool, PlanRequest, overall_verdict
from dra_planner.plan.pools.addresses import find_address_doubts
from dra_planner.plan.pools.built_counts import (
    counts_to_build,
    find_built_counts,
    may_be_smaller,
    node_range,
)
from dra_planner.plan.workload_verdicts import plan_workloads
from dra_planner.releases import features_of
from dra_planner.simulation import (
    ArrivalOrder,
    Fix,
    SimulatedCounts,
    Simulator,
    simulate_counts,
)
from dra_planner.sizing import POOL_TOO_SMALL, DeviceCount, WorkloadSize

_MOST_RAISED: Final = 200  # number of nodes beyond each pool's maximum that the search tries


_NO_REDUNDANCY: Final = Diagnostic(
    severity="warning",
    code="redundancy-ignored",
    message="redundancy isn't supported with --observed, so the plan doesn't add spare nodes",
)


_NO_GUARDS: Final = Diagnostic(
    severity="warning",
    code="placement-ignored",
    message="`placement` isn't supported with --observed. The plan doesn't add guards to the "
    "cluster, so pods might need more nodes than in a plan without --observed",
    fix="to see the guards and the nodes of the whole fleet, run the plan again without --observed",
)


def read_growing_cluster(request: PlanRequest, fleet: Fleet) -> ReadCluster:
    """Return the snapshot of a request with its manifests and the fleet's headroom.

    Raises PlannerError if simulation is off, and the errors of `read_cluster`.
    """
    if not request.steps:
        raise PlannerError(
            "only a simulation can determine the number of additional nodes",
            fix="remove --simulate off",
        )
    cluster = read_cluster(request, lambda features: fleet_classes(fleet, features))
    if fleet.headroom:
        demand, idle = with_headroom(cluster.demand, fleet)
        cluster = replace(cluster, demand=demand, diagnostics=(*cluster.diagnostics, *idle))
    ignored = tuple(_ignored_settings(cluster, fleet, request))
    return replace(cluster, diagnostics=(*cluster.diagnostics, *ignored))


def plan_growth(cluster: ReadCluster, fleet: Fleet, steps: int, *, with_fixes: bool) -> Plan:
    """Return the additional nodes that each pool needs within its maximum, and the verdicts with
    them.

    Raises the errors of `predict_offers`.
    """
    growth = Growth.of(cluster, fleet)
    found = simulate_counts(growth.question(steps), steps, scale=1)
    more = found.counts or found.reached or dict.fromkeys(growth.existing, 0)
    is_short = not found.counts and found.complete and with_fixes
    raises = _raises(growth, steps) if is_short else ()
    judgement = _judge(growth, found, more, raises)
    nodes = {name: existing + more[name] for name, existing in growth.existing.items()}
    maximums = {offer.name: offer.count_max for offer in growth.predicted}
    built = counts_to_build(fleet, nodes, maximums)
    pools = tuple(
        _pool(growth, fleet, pool.name, found, built[pool.name], judgement) for pool in fleet.pools
    )
    diagnostics = (
        *cluster.diagnostics,
        *find_built_counts(fleet, pools),
        *find_blocked_drains(cluster, growth.groups),
    )
    workloads = plan_workloads(judgement)
    rollouts = check_rollouts(judgement)
    diagnostics = (*diagnostics, *find_consequences(cluster, judgement, workloads))
    if any(quota.unit == "addresses" for quota in fleet.quotas):
        offers = {offer.name: offer for offer in growth.predicted}
        diagnostics = (*diagnostics, *find_address_doubts(judgement, fleet, offers, built))
    return Plan(
        judgement=judgement,
        placing=overall_verdict(judgement.sizing.verdict, diagnostics),
        fleet=fleet,
        pools=pools,
        workloads=workloads,
        cost=_cost(growth, pools),
        assumptions=(
            *cluster.assumptions,
            *_assumptions(growth, more),
            *rollout_assumptions(rollouts),
        ),
        diagnostics=diagnostics,
        beside=(
            *rollout_findings(rollouts.stalled, rollouts.by_version),
            *find_stalled_daemons(judgement),
        ),
        manifests=cluster.manifests,
        limits=tuple(LimitUse(limit=limit, used=limit.used(built)) for limit in fleet.limits),
    )


def _ignored_settings(
    cluster: ReadCluster, fleet: Fleet, request: PlanRequest
) -> Iterator[Diagnostic]:
    """Yield a warning for each setting of the fleet that doesn't apply to a plan on a snapshot."""
    if fleet.redundancy.is_requested:
        yield _NO_REDUNDANCY
    if fleet.placement != "free":
        yield _NO_GUARDS
    if features_of(fleet.minor).version != cluster.features.version and not request.kubernetes:
        yield _other_version(cluster.features.version, fleet.kubernetes)


def _other_version(observed: str, declared: str) -> Diagnostic:
    return Diagnostic(
        severity="note",
        code="snapshot-version",
        message=f"the nodes in the snapshot run Kubernetes {observed}, so the plan is for this "
        f"version, not for the fleet's {declared}",
        fix=f"pass --kubernetes {declared} to plan for the fleet's version",
    )


def _raises(growth: Growth, steps: int) -> tuple[Fix, ...]:
    """Return the higher maximums with which all pods fit, or () if none were found."""
    fix = find_needed_nodes(growth, steps)
    return (fix,) if fix is not None and fix.pools else ()


def find_needed_nodes(growth: Growth, steps: int) -> Fix | None:
    """Return the nodes with which every order places all pods, and the first pods of rollouts, even
    beyond the maximums. Returns None if no counts were found.
    """
    question = growth.question(steps)
    more = min(
        _MOST_RAISED,
        sum(shape.figures.steady for shape in question.demand.shapes if not shape.per_node),
    )
    pools = (
        replace(each, maximum=each.maximum + more * _may_grow(each.offer))
        for each in question.pools
    )
    found = simulate_counts(replace(question, pools=tuple(pools)), steps, scale=1)
    if found.counts is None:
        return None
    counts = {name: existing + found.counts[name] for name, existing in growth.existing.items()}
    raised = tuple(offer.name for offer in growth.predicted if counts[offer.name] > offer.count_max)
    larger = tuple(
        replace(each, count_max=max(each.count_max, counts[each.name])) for each in growth.predicted
    )
    judged = _judge(replace(growth, predicted=larger), found, found.counts, ())
    rollouts = observed_rollout_maximums(judged)
    return Fix(kind="maximum", counts=counts, pools=raised, rollouts=rollouts)


def _may_grow(offer: Offer) -> bool:
    return offer.count_min < offer.count_max


def _judge(
    growth: Growth, found: SimulatedCounts, more: Mapping[str, int], fixes: tuple[Fix, ...]
) -> Judgement:
    """Return the verdicts with the added nodes.

    If no counts are found, pods don't fit only if a bound exceeds the maximums.
    """
    cluster = growth.cluster
    nodes = (*growth.nodes, *growth.added(more))
    classes = cluster.manifests.classes
    profile = growth.profile
    simulator = Simulator.of(cluster.demand, nodes, classes, cluster.features, profile=profile)
    outcome = simulator.run(_order(found))
    judged = judge_outcome(cluster.demand, cluster.offers, classes, cluster.features, outcome)
    fix = fix_text(fixes, found, growth.predicted)
    takers = _takers(growth, judged) if found.counts is None else frozenset[WorkloadRef]()
    proved = growth.proved_misfits() if found.counts is None else frozenset[WorkloadRef]()
    workloads = tuple(
        _proved(size, fix)
        if size.pending and size.workload in takers & proved
        else _answer(size, found, fix, size.workload in takers)
        for size in judged.sizing.workloads
    )
    sizing = replace(
        judged.sizing, workloads=workloads, verdict=worst(each.verdict for each in workloads)
    )
    groups = {node.node.name: node.group for node in nodes}
    judged = replace(
        judged,
        sizings={"steady": sizing},
        devices=_devices(judged.devices, groups),
        simulations={judged.level: found},
        fleet=growth.fleet,
        predicted=growth.predicted,
        groups=groups,
    )
    if judged.sizing.verdict != "fits" or not any(find_updates(judged)):
        return judged
    # rollouts are checked on these nodes, which depends on the pod arrival order
    return replace(judged, other_outcomes=tuple(map(simulator.run, found.orders[1:])))


def _order(found: SimulatedCounts) -> ArrivalOrder:
    """Return the order that leaves the most pods pending, or the first order if none does."""
    strandings = found.at_maximum or found.at_packing
    if found.counts is not None or not strandings:
        return found.orders[0]
    return max(strandings, key=lambda each: each.pods).order


def _takers(growth: Growth, judged: Judgement) -> frozenset[WorkloadRef]:
    """Return the workloads whose shapes all fit an empty node of some pool."""
    empty = replace(judged, offers=growth.predicted, _nodes={}, _answers={})
    refused = {
        member.workload
        for shape in judged.demand.shapes
        if all(answer.verdict == "does-not-fit" for answer in empty.answers(shape))
        for member in shape.members
    }
    return frozenset(size.workload for size in judged.sizing.workloads) - refused


def _answer(size: WorkloadSize, found: SimulatedCounts, fix: str, takes: bool) -> WorkloadSize:
    """Return the result for a workload.

    Pods that fit on a new node might not stay pending. `takes` means that each of the workload's
    pods fits an empty node of some pool.
    """
    if found.counts is not None or not takes:
        return size
    mine = [each for each in found.at_maximum or found.at_packing if size.workload in each.pending]
    if not mine and found.complete:
        return size
    reasons: tuple[Reason, ...] = ()
    if mine:
        reasons = (stranded(size.workload, mine, found, fix, is_packed=False),)
    return replace(size, verdict="cannot-tell", reasons=(*reasons, *_node_reasons(size, fix)))


def _proved(size: WorkloadSize, fix: str) -> WorkloadSize:
    """Return the result for a workload whose pods fit a pool, but not all of them within the
    maximums.
    """
    reason = Reason(
        code=POOL_TOO_SMALL,
        message="the pools' maximums are too low for all pods, regardless of their placement",
        fix=fix,
    )
    return replace(size, verdict="does-not-fit", reasons=(reason, *_node_reasons(size, fix)))


def _node_reasons(size: WorkloadSize, fix: str) -> Iterator[Reason]:
    """Yield the reasons of existing nodes. If higher maximums are the `fix`, nodes in use don't
    have another one.
    """
    for each in size.reasons:
        yield replace(each, fix="") if fix and each.needs_another_node else each


def _devices(
    by_node: Mapping[str, DeviceCount], groups: Mapping[str, str]
) -> dict[str, DeviceCount]:
    """Return the devices of each group of nodes."""
    sums: dict[str, DeviceCount] = {}
    for name, each in by_node.items():
        before = sums.get(groups[name], DeviceCount(total=0, used=0, stranded=0))
        sums[groups[name]] = DeviceCount(
            total=before.total + each.total,
            used=before.used + each.used,
            stranded=before.stranded + each.stranded,
        )
    return sums


def _pool(
    growth: Growth,
    fleet: Fleet,
    name: str,
    found: SimulatedCounts,
    built: int,
    judgement: Judgement,
) -> PlannedPool:
    existing, more = growth.existing[name], (found.counts or found.reached or {}).get(name, 0)
    nodes = existing + more
    (offer,) = (each for each in growth.predicted if each.name == name)
    return PlannedPool(
        name=name,
        machine=offer.machine,
        minimum=offer.count_min,
        bound=existing,
        packing=nodes,
        simulated=None if found.counts is None else nodes,
        recommended=nodes,
        maximum=offer.count_max,
        nodes=node_range(
            offer.count_min, built, max(built, offer.count_max), may_be_smaller(fleet, name)
        ),
        devices=judgement.devices.get(name, DeviceCount(total=0, used=0, stranded=0)),
        hourly_usd=offer.hourly_usd,
        zones=offer.zones,
        existing=existing,
    )


def _cost(growth: Growth, pools: Iterable[PlannedPool]) -> Cost | None:
    """Return the price of the added nodes, or None if it's unknown."""
    offers = {offer.name: offer for offer in growth.predicted}
    added = [(offers[pool.name], pool.nodes.desired - (pool.existing or 0)) for pool in pools]
    bought = [(offer, nodes) for offer, nodes in added if nodes > 0]
    if any(offer.hourly_usd is None for offer, _ in bought):
        return None
    dates = sorted(offer.priced_on for offer, _ in bought if offer.priced_on)
    total = sum((nodes * (offer.hourly_usd or Decimal(0)) for offer, nodes in bought), Decimal(0))
    return Cost(hourly_usd=total, bound_usd=Decimal(0), priced_on=dates[0] if dates else "")


def _assumptions(growth: Growth, more: Mapping[str, int]) -> tuple[str, ...]:
    """Return the assumptions about the added nodes."""
    by_text: dict[str, list[str]] = {}
    for offer in growth.predicted:
        for text in dict.fromkeys(offer.assumptions) if more[offer.name] else ():
            by_text.setdefault(text, []).append(offer.name)
    return tuple(f"new nodes of {', '.join(names)}: {text}" for text, names in by_text.items())

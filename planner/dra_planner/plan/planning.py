"""The order of the planning steps, from sources and fleet to the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from dra_planner.claims import expand_claims
from dra_planner.clouds import cloud
from dra_planner.errors import Diagnostic, PlanFileError, PlannerError
from dra_planner.fleet import Fleet
from dra_planner.manifests import Manifests
from dra_planner.manifests.completeness import with_completeness
from dra_planner.model import Demand, DemandLevel, nodes_left
from dra_planner.offers import Offer, predict_offers, with_taint_rules
from dra_planner.plan.blockers import with_blockers
from dra_planner.plan.cluster.drains import drain_assumptions, find_drain_faults
from dra_planner.plan.cluster.growth import plan_growth, read_growing_cluster
from dra_planner.plan.cluster.growth_fix import with_growth_fix, with_snapshot_fix
from dra_planner.plan.cluster.shared_by_allocators import (
    find_device_plugins,
    with_plugins_of_operators,
)
from dra_planner.plan.cluster.snapshot_plan import plan_on_snapshot, read_cluster
from dra_planner.plan.demand.class_findings import ClassSources, find_class_faults
from dra_planner.plan.demand.classes import fleet_classes
from dra_planner.plan.demand.device_demand import block_other_drivers, device_demand
from dra_planner.plan.demand.headroom import with_headroom
from dra_planner.plan.demand.undivided_devices import find_undivided_devices, with_sharing_fixes
from dra_planner.plan.demand.unrequested_devices import find_unrequested_devices
from dra_planner.plan.judgement.demand_levels import find_beside
from dra_planner.plan.judgement.guarded import Guarded
from dra_planner.plan.judgement.guarding import judge_with_guards
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.model import (
    SIMULATED_STEPS,
    Cost,
    LimitUse,
    Plan,
    PlannedPool,
    PlanRequest,
    overall_verdict,
)
from dra_planner.plan.pools.addresses import find_address_doubts
from dra_planner.plan.pools.architectures import architecture_assumptions
from dra_planner.plan.pools.built_counts import (
    counts_to_build,
    find_built_counts,
    find_raised_minimums,
    may_be_smaller,
    node_range,
)
from dra_planner.plan.pools.daemon_quotas import find_full_quotas
from dra_planner.plan.pools.needed_maximums import planned_counts
from dra_planner.plan.pools.purchases import find_not_on_demand
from dra_planner.plan.pools.racks import find_rack_faults, find_racks, rack_counts
from dra_planner.plan.reading import read_checked
from dra_planner.plan.suggestion.joint_fix import with_joint_fix
from dra_planner.plan.suggestion.missing.dropped_shares import with_dropped_shares
from dra_planner.plan.workload_verdicts import plan_workloads
from dra_planner.planfile import inputs_of
from dra_planner.releases import Features, parse_version, version_note
from dra_planner.sizing import PoolSize, Sizing
from dra_planner.wording import counted, named, verb

if TYPE_CHECKING:
    from dra_planner.plan.demand.device_demand import DeviceDemand


def make_plan(request: PlanRequest) -> Plan:
    """Return the plan for workloads on a fleet's pools, on the nodes of a snapshot, or on both.

    Raises PlannerError for invalid input. Workloads that don't fit, and objects that the API server
    would reject, are reasons and diagnostics in the plan.
    """
    if request.observed:
        return _plan_observed(request)
    if request.fleet is None:
        raise PlannerError(
            "a plan needs a fleet or a snapshot",
            fix="pass a fleet, or a snapshot of a cluster",
        )
    fleet = request.fleet
    features = fleet.features_at(
        parse_version(request.kubernetes) if request.kubernetes else fleet.minor
    )
    planned = partial(
        plan_manifests,
        fleet=fleet,
        features=features,
        level=request.level,
        devices_only=request.devices_only,
    )
    plan = planned(
        read_checked(request.sources, features),
        steps=request.steps,
        with_fixes=request.with_fixes,
        compares_placements=request.compares_placements,
        inputs=inputs_of(fleet, request.sources, request.paths),
    )
    if not request.with_fixes:
        return plan
    plan = with_dropped_shares(plan, fleet, partial(_plan_on, request))
    return with_joint_fix(plan, partial(planned, steps=0, with_fixes=False))


def _plan_observed(request: PlanRequest) -> Plan:
    """Return the plan on the nodes of a snapshot, to which the pools of a fleet can add nodes."""
    fleet, with_fixes = request.fleet, request.with_fixes
    if fleet is None:
        cluster = read_cluster(request)
        plan = with_blockers(plan_on_snapshot(cluster))
        return with_snapshot_fix(plan, cluster, SIMULATED_STEPS) if with_fixes else plan
    cluster = read_growing_cluster(request, fleet)
    plan = with_blockers(plan_growth(cluster, fleet, request.steps, with_fixes=with_fixes))
    return with_growth_fix(plan, cluster, fleet, request.steps) if with_fixes else plan


def _plan_on(request: PlanRequest, fleet: Fleet) -> Plan:
    """Return the plan of a request on another fleet and its Kubernetes version, without fixes."""
    features = fleet.features_at(fleet.minor)
    return plan_manifests(
        read_checked(request.sources, features),
        fleet=fleet,
        features=features,
        level=request.level,
        steps=request.steps,
        devices_only=request.devices_only,
        with_fixes=False,
        compares_placements=False,
    )


def plan_manifests(
    manifests: Manifests,
    fleet: Fleet,
    features: Features,
    *,
    level: DemandLevel,
    steps: int,
    offers: tuple[Offer, ...] | None = None,
    devices_only: bool = False,
    with_fixes: bool = True,
    compares_placements: bool = True,
    inputs: Mapping[str, object] | None = None,
) -> Plan:
    """Return the plan for workloads in memory on a fleet's pools.

    `offers` is the result of `predict_offers` for that fleet, for callers that plan several demands
    on the same fleet.
    """
    manifests = with_completeness(manifests, fleet)
    sources = ClassSources(fleet_classes(fleet, features), manifests.classes)
    classes = sources.in_cluster
    tolerates = cloud(fleet.cloud).tolerates_extended_resources
    requested = expand_claims(manifests, classes, features, tolerates_extended_resources=tolerates)
    demand, idle = requested, tuple[Diagnostic, ...]()
    if fleet.headroom:
        demand, idle = with_headroom(requested, fleet)
    offers = with_taint_rules(
        predict_offers(fleet, features) if offers is None else offers, manifests.taint_rules
    )
    chosen = device_demand(demand, offers, classes) if devices_only else None
    demand = (
        block_other_drivers(demand, offers, classes, fleet) if chosen is None else chosen.demand
    )
    judgement, guarded = judge_with_guards(
        demand,
        offers,
        classes,
        features,
        level=level,
        fleet=fleet,
        steps=steps,
        with_fixes=with_fixes,
        compares=compares_placements,
    )
    plan = size_plan(
        judgement,
        fleet if guarded is None else guarded.fleet,
        guarded=guarded,
        diagnostics=(
            *with_sharing_fixes(manifests, fleet, offers, classes),
            *find_class_faults(fleet, sources, offers, features),
            *find_undivided_devices(manifests, fleet, offers, classes),
            *idle,
        ),
        assumptions=_assumptions(fleet, manifests, demand, offers, features),
        inputs=inputs,
        manifests=manifests,
        left_out=chosen,
    )
    return with_blockers(plan)


def size_plan(
    judgement: Judgement,
    fleet: Fleet,
    *,
    diagnostics: tuple[Diagnostic, ...] = (),
    assumptions: tuple[str, ...] = (),
    inputs: Mapping[str, object] | None = None,
    manifests: Manifests | None = None,
    left_out: DeviceDemand | None = None,
    guarded: Guarded | None = None,
) -> Plan:
    """Return the plan of a judgement on predicted offers, with the initial node counts of each
    pool.

    If the plan is `guarded`, judgement and fleet include the guards.
    """
    offers, sizing = judgement.offers, judgement.sizing
    by_name = {offer.name: offer for offer in offers}
    recommended, rack_faults = _recommended_counts(judgement, fleet)
    built = counts_to_build(
        fleet, recommended, {name: sizing.pool(name).maximum for name in recommended}
    )
    pools = tuple(
        _pool(sizing.pool(name), by_name[name], fleet, judgement, recommended[name], built[name])
        for name in built
    )
    drains: tuple[str, ...] = ()
    if manifests is not None and manifests.budgets:
        diagnostics = (*diagnostics, *find_drain_faults(manifests, sizing))
        left = nodes_left(fleet.limits, built)
        drains = tuple(drain_assumptions(manifests, sizing, pools, left))
    if any(quota.unit == "addresses" for quota in fleet.quotas):
        diagnostics = (*diagnostics, *find_address_doubts(judgement, fleet, by_name, built))
    workloads = plan_workloads(judgement)
    found = (*diagnostics, *rack_faults, *_pool_diagnostics(fleet, pools))
    if manifests is not None:
        found = (*with_plugins_of_operators(found, offers), *_allocation_faults(manifests, offers))
    if judgement.demand.quotas is not None:
        found = (*found, *find_full_quotas(judgement.demand.quotas, workloads))
    return Plan(
        judgement=judgement,
        placing=overall_verdict(sizing.verdict, found),
        fleet=fleet,
        pools=pools,
        workloads=workloads,
        cost=_cost(sizing, offers, pools),
        assumptions=(
            *assumptions,
            *judgement.assumptions,
            *architecture_assumptions(judgement),
            *drains,
        ),
        diagnostics=found,
        beside=find_beside(judgement, fleet, built, free=None if guarded is None else guarded.free),
        inputs=inputs or {},
        manifests=manifests,
        left_out=left_out,
        limits=tuple(LimitUse(limit=limit, used=limit.used(built)) for limit in fleet.limits),
        guarded=guarded,
    )


def _allocation_faults(manifests: Manifests, offers: Iterable[Offer]) -> Iterator[Diagnostic]:
    """Yield pods that access devices, or allocate devices to other pods, without claims."""
    yield from find_unrequested_devices(manifests)
    yield from find_device_plugins(manifests, offers)


def _recommended_counts(
    judgement: Judgement, fleet: Fleet
) -> tuple[dict[str, int], tuple[Diagnostic, ...]]:
    """Return the recommended count of each pool, with complete racks, and the problems with the
    racks.
    """
    planned = planned_counts(judgement, fleet)
    recommended = {pool.name: planned[pool.name] for pool in fleet.pools}
    if not any(driver.has_racks(options) for driver, options in fleet.drivers.installed()):
        return recommended, ()
    racks = find_racks(judgement, fleet)
    faults = tuple(find_rack_faults(fleet, racks, recommended))
    return rack_counts(fleet, racks, recommended), faults


def _pool_diagnostics(fleet: Fleet, pools: tuple[PlannedPool, ...]) -> Iterator[Diagnostic]:
    """Yield the facts that users must know about the purchase and the node counts of pools."""
    yield from find_not_on_demand(fleet)
    yield from find_built_counts(fleet, pools)
    yield from find_raised_minimums(fleet, pools)


def match_pools(fleet: Fleet, offers: Iterable[Offer]) -> None:
    """Raise PlanFileError if fleet and offers have different pools."""
    declared, offered = {pool.name for pool in fleet.pools}, {offer.name for offer in offers}
    odd = sorted(declared ^ offered)
    if odd:
        sides = (
            "is in the fleet, but isn't one of the given pools"
            if odd[0] in declared
            else "isn't in the fleet"
        )
        raise PlanFileError(
            f'pool "{odd[0]}" {sides}',
            fix="create the plan file again: `pulumi-dra plan --stack STACK --write`",
        )


def _pool(
    size: PoolSize, offer: Offer, fleet: Fleet, judgement: Judgement, recommended: int, built: int
) -> PlannedPool:
    return PlannedPool(
        name=size.name,
        machine=offer.machine,
        minimum=size.minimum,
        bound=size.bound,
        packing=size.plan,
        simulated=judgement.simulated_nodes(size.name, judgement.level),
        recommended=recommended,
        spare=judgement.survival.spare[size.name] if judgement.survival is not None else 0,
        maximum=size.maximum,
        nodes=node_range(size.minimum, built, size.maximum, may_be_smaller(fleet, size.name)),
        devices=size.devices,
        hourly_usd=size.hourly_usd,
        zones=offer.zones,
        left=size.left,
        enough=size.enough,
    )


def _cost(sizing: Sizing, offers: Iterable[Offer], pools: Iterable[PlannedPool]) -> Cost | None:
    """Return the price of the built nodes, which can include nodes that only the cloud requires."""
    if sizing.hourly_plan is None:
        return None
    prices = {offer.name: offer.hourly_usd or Decimal(0) for offer in offers}
    besides = sum(
        ((pool.nodes.desired - pool.packing) * prices[pool.name] for pool in pools), Decimal(0)
    )
    used = {pool.name for pool in pools if pool.nodes.desired}
    dates = sorted(offer.priced_on for offer in offers if offer.name in used and offer.priced_on)
    return Cost(
        hourly_usd=sizing.hourly_plan + besides,
        bound_usd=min(sizing.hourly_bound or Decimal(0), sizing.hourly_plan + besides),
        priced_on=dates[0] if dates else "",
    )


def _gang_assumptions(manifests: Manifests, demand: Demand) -> Iterator[str]:
    """Yield assumptions about pods that start together, and about PodGroups with an unknown
    minimum.
    """
    for gang in demand.gangs:
        if gang.held_by:
            pods = counted(gang.least, "pod") if gang.least else "all of its pods"
            yield (
                f"{gang.name}: {gang.held_by} doesn't start any of its pods until {pods} can start"
            )
    known = {part.workload for gang in demand.gangs for part in gang.parts}
    groups = {
        f"{each.ref.namespace}/{pods.template.spec.pod_group}"
        for each in manifests.workloads
        for pods in each.pod_sets
        if pods.template.spec.pod_group and each.ref not in known
    }
    for group in sorted(groups):
        yield (
            f"PodGroup {group}: the plan counts its pods individually, because its minimum isn't in "
            "the manifests"
        )


def _assumptions(
    fleet: Fleet, manifests: Manifests, demand: Demand, offers: Iterable[Offer], features: Features
) -> tuple[str, ...]:
    own = ", ".join(f"{name}={str(on).lower()}" for name, on in fleet.feature_gates.items())
    gates = f"{own} and otherwise default feature gates" if own else "its default feature gates"
    texts = [f"Kubernetes {features.version} with {gates}, at its latest known patch version"]
    if features.served:
        texts.append(f"the API server also serves {', '.join(sorted(features.served))}")
    texts += filter(None, [version_note(fleet.kubernetes)])
    if fleet.is_autoscaled:
        wakes = cloud(fleet.cloud).autoscalers[fleet.autoscaler]
        can = "can" if wakes else "can't"
        least = "pools can be empty" if wakes else "every pool keeps the nodes that its pods need"
        texts.append(
            f"the fleet's autoscaler ({fleet.autoscaler}) {can} scale up an empty pool for a "
            f"claim, so {least}"
        )
    elif fleet.autoscaler != "none":
        texts.append(
            f"{fleet.autoscaler} keeps every pool at the node count of this plan, and doesn't "
            "start nodes for claims"
        )
    if fleet.is_autoscaled:
        pools = named("pool", [pool.name for pool in fleet.pools])
        texts.append(
            f"{pools}: it's unknown how long new nodes need to publish devices, so the plan "
            f"doesn't check the timeout of {fleet.autoscaler}"
        )
    texts += demand.assumptions
    texts += _gang_assumptions(manifests, demand)
    by_text: dict[str, list[str]] = {}
    for offer in offers:
        for assumption in dict.fromkeys(offer.assumptions):
            by_text.setdefault(assumption, []).append(offer.name)
    texts += [f"{named('pool', names)}: {text}" for text, names in by_text.items()]
    texts += [
        f"{counted(count, 'object')} of kind {kind} {verb(count, 'are')} ignored"
        for kind, count in sorted(manifests.other_kinds.items())
    ]
    return tuple(dict.fromkeys(texts))

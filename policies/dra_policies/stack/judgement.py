"""The demand of a stack, evaluated on its plan's fleet and on its declared pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims import expand_claims
from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet
from dra_planner.model import Blocked, Demand, DeviceClass, Shape, WorkloadRef
from dra_planner.offers import Offer
from dra_planner.plan import Judgement, Plan, device_demand, judge, judge_document
from dra_planner.plan.demand.classes import fleet_classes
from dra_planner.plan.planning import size_plan
from dra_planner.planfile import PlanFile
from dra_policies.stack.declared_fleet import declared_fleet
from dra_policies.stack.resource import Resource
from dra_policies.stack.scaling_groups import gpu_scaling_groups
from dra_policies.view.manifest_view import nvidia_of
from dra_policies.view.stack_view import StackView

NOTHING = Demand(shapes=())


def judge_record(view: StackView) -> StackView:
    """Return the view with the plan's demand evaluated on the plan's fleet.

    A plan that can't be evaluated (for example, because a machine type is no longer in the tables)
    becomes an invalid record.
    """
    record = view.record
    if record is None or record.plan_file is None:
        return view
    try:
        plan = _judged(_Once(record.plan_file))
    except PlannerError as error:
        sentence = f"can't be checked: {error}"
        return replace(view, record=replace(record, plan_file=None, problem=sentence))
    whole = partial(_whole, _Once(record.plan_file))
    return replace(
        view,
        judgement=plan.judgement,
        plan=lambda: plan,
        whole_judgement=whole,
        judged_urn=record.urn,
    )


class _Once(Struct, frozen=True):
    """A plan file that is compared by identity, because comparing documents would take longer than
    reading one.
    """

    plan_file: PlanFile

    def __hash__(self) -> int:
        return id(self.plan_file)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Once) and other.plan_file is self.plan_file


@lru_cache(maxsize=4)
def _judged(once: _Once) -> Plan:
    return judge_document(once.plan_file, devices_only=True)


@lru_cache(maxsize=4)
def _whole(once: _Once) -> Judgement:
    return judge_document(once.plan_file).judgement


def judge_objects(view: StackView) -> StackView:
    """Return the view with only its own workloads evaluated on the plan's fleet.

    The total demand is evaluated when the whole stack is known, because sizing everything for each
    object would take quadratic time.
    """
    if view.manifests is None or view.features is None or not view.manifests.workloads:
        return view
    recorded = judge_record(replace(view, judgement=None))
    planned = recorded.judgement
    if planned is None:
        return view
    view = replace(view, judged_urn=recorded.judged_urn)
    alone = replace(planned, demand=NOTHING)
    assert planned.fleet is not None  # every plan file contains a fleet
    return _with_judgement(view, alone, planned.fleet, planned.offers, planned.classes)


def judge_stack(view: StackView, resources: Sequence[Resource]) -> StackView:
    """Return the view with all demand evaluated on the stack's declared pools.

    The demand consists of the plan's workloads and the stack's workloads. If both contain a
    workload, the stack's resource is used, because Pulumi will create it.
    """
    view = judge_record(view)
    planned = view.judgement
    view = replace(view, planned_classes=planned.classes if planned else {})
    has_own = view.manifests is not None and bool(view.manifests.workloads)
    if not has_own and (planned is None or not view.pools):
        # there is nothing to evaluate, or only the plan's own verdict: another rule reports the
        # missing pools
        return view
    groups = tuple(gpu_scaling_groups(resources, view.scaling_groups))
    unjudged = (
        f"can't check the nodes of {title}, because user data sets their labels and taints"
        for title in groups
    )
    view = replace(view, unknowns=(*view.unknowns, *unjudged))
    try:
        declared = declared_fleet(view, resources)
    except PlannerError as error:
        return replace(view, judgement_errors=(error, *error.others))
    view = replace(view, unknowns=(*view.unknowns, *declared.unknowns), features=declared.features)
    view = replace(view, doubtful_pools=(*declared.doubtful_pools, *groups))
    classes = planned.classes if planned else fleet_classes(declared.fleet, declared.features)
    return _with_judgement(view, planned, declared.fleet, declared.offers, classes)


def _with_judgement(
    view: StackView,
    planned: Judgement | None,
    fleet: Fleet,
    offers: tuple[Offer, ...],
    classes: Mapping[str, DeviceClass],
) -> StackView:
    """Evaluate the plan's demand and the view's own demand on these offers."""
    features = view.features or (planned.features if planned else None)
    assert features is not None  # set if there are manifests, and by every plan
    own = view.manifests
    known = {**classes, **(own.classes if own else {})}
    demand = planned.demand if planned else NOTHING
    if own is not None and own.workloads:
        tolerates = cloud(fleet.cloud).tolerates_extended_resources
        mine = expand_claims(own, known, features, tolerates_extended_resources=tolerates)
        demand = merge_demand(demand, mine)
    chosen = device_demand(demand, offers, known)
    level = planned.level if planned else "steady"
    judgement = judge(chosen.demand, offers, known, features, level=level)
    return replace(
        view,
        judgement=judgement,
        plan=cache(partial(size_plan, judgement, fleet)),  # each custom rule accesses this value
        nvidia=nvidia_of(fleet),
        other_devices=chosen.others,
        not_described=chosen.not_described,
        classes=known,
    )


def merge_demand(planned: Demand, own: Demand) -> Demand:
    """Return the combination of both demands. For a workload in both, `own` takes precedence."""
    replaced = {member.workload for shape in own.shapes for member in shape.members}
    replaced |= {blocked.member.workload for blocked in own.blocked}
    shapes: dict[str, Shape] = {shape.id: shape for shape in own.shapes}
    for shape in planned.shapes:
        members = tuple(member for member in shape.members if member.workload not in replaced)
        if members and shape.id in shapes:
            mine = shapes[shape.id]
            shapes[shape.id] = replace(mine, members=(*mine.members, *members))
        elif members:
            shapes[shape.id] = replace(shape, members=members)
    used = {claim.shared for shape in shapes.values() for claim in shape.claims if claim.shared}
    shared = {**planned.shared_claims, **own.shared_claims}
    regrouped = {(part.workload, part.pod_set) for gang in own.gangs for part in gang.parts}
    gangs = tuple(
        gang
        for gang in planned.gangs
        if gang.name not in map(str, replaced)
        and not any((part.workload, part.pod_set) in regrouped for part in gang.parts)
    )
    return Demand(
        shapes=tuple(shapes[key] for key in sorted(shapes)),
        shared_claims={key: shared[key] for key in sorted(used) if key in shared},
        blocked=(*_kept(planned.blocked, replaced), *own.blocked),
        namespaces={**planned.namespaces, **own.namespaces},
        gangs=(*gangs, *own.gangs),
    )


def _kept(blocked: Iterable[Blocked], replaced: set[WorkloadRef]) -> Iterator[Blocked]:
    return (each for each in blocked if each.member.workload not in replaced)

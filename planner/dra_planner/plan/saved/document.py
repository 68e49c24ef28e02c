"""Convert a plan to a document, and evaluate a document again, for plan files and the policy
pack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from dra_planner.errors import PlanFileError, PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.manifests import (
    parse_claim,
    parse_claim_spec,
    parse_device_class,
    parse_pod_spec,
    render_claim,
    render_claim_spec,
    render_device_class,
    render_pod_spec,
)
from dra_planner.model import (
    Blocked,
    Demand,
    DemandLevel,
    Gang,
    GangPart,
    Guards,
    Member,
    ObjectKey,
    Shape,
    ShapeClaim,
    WorkloadRef,
)
from dra_planner.offers import Offer, predict_offers
from dra_planner.plan.demand.device_demand import device_demand
from dra_planner.plan.judgement.judge import judge
from dra_planner.plan.model import Plan, PlannedPool, PlannedWorkload
from dra_planner.plan.planning import match_pools, size_plan
from dra_planner.planfile import (
    VERSION,
    ApiObject,
    BlockedRow,
    ClaimRow,
    DemandPart,
    FiguresRow,
    GangPartRow,
    GangRow,
    GuardsPart,
    Inputs,
    KeyRow,
    MemberRow,
    PlacementRow,
    PlanFile,
    PoolRow,
    ReasonRow,
    ShapeRow,
    WorkloadRow,
    read_document,
    seal,
)
from dra_planner.releases import parse_version


def plan_file(plan: Plan) -> PlanFile:
    """Return the plan's document. Raises PlanFileError for a plan on a snapshot, which isn't a plan
    of a fleet.
    """
    if plan.fleet is None or plan.judgement.is_observed:
        raise PlanFileError(
            "a plan for the nodes of an existing cluster doesn't size pools, so it can't be saved",
            fix="plan with a fleet, and save that plan",
        )
    unsealed = PlanFile(
        version=VERSION,
        digest="",
        inputs=Inputs.model_validate(plan.inputs),
        kubernetes=plan.kubernetes,
        verdict=plan.verdict,
        assumptions=plan.assumptions,
        fleet=plan.fleet,
        classes=tuple(
            _object(render_device_class(each)) for _, each in sorted(plan.classes.items())
        ),
        demand=demand_part(_with_guarded_templates(plan.demand, plan.guards), plan.level),
        pools=tuple(map(_pool_row, plan.pools)),
        workloads=tuple(map(_workload_row, plan.workloads)),
        guards=GuardsPart.of(plan.guards) if plan.guards.kinds else None,
    )
    return seal(unsealed.model_dump(mode="json", by_alias=True))


def judge_document(
    document: Mapping[str, Any] | PlanFile,
    offers: tuple[Offer, ...] | None = None,
    *,
    devices_only: bool = False,
) -> Plan:
    """Return a new plan for a document's demand on these offers, or on its fleet's predicted
    offers. `devices_only` includes only the demand that is meant for the pools (see
    `DeviceDemand`). The document's verdicts and counts aren't trusted: classes, demand, and
    fleet are read and sized again. Raises PlanFileError for offers of unknown pools and for an
    invalid document.
    """
    given = document if isinstance(document, PlanFile) else read_document(document)
    try:
        fleet = read_fleet(given.fleet.document())
        classes = {
            each.name: each
            for each in (parse_device_class(row.document()) for row in given.classes)
        }
        demand = read_demand(given.demand)
        features = fleet.features_at(parse_version(given.kubernetes))
    except PlannerError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        fault = f"{type(error).__name__}: {error}"
        raise PlanFileError(
            f"isn't a plan file: {fault}",
            fix="create the plan file again: `pulumi-dra plan --stack STACK --write`",
        ) from None
    offers = predict_offers(fleet, features) if offers is None else offers
    match_pools(fleet, offers)
    if devices_only:
        demand = device_demand(demand, offers, classes).demand
    judgement = judge(demand, offers, classes, features, level=given.demand.level, fleet=fleet)
    return size_plan(
        judgement, fleet, assumptions=given.assumptions, inputs=given.inputs.model_dump(mode="json")
    )


def read_demand(part: DemandPart) -> Demand:
    """Return the demand of a document, whose objects have the form of the Kubernetes API.

    Facts that only the simulation needs aren't in a document: disruption budgets, and how workloads
    create and spread pods.
    """
    claims = [parse_claim(row.document()) for row in part.shared_claims]
    return Demand(
        shapes=tuple(map(_shape, part.shapes)),
        shared_claims={claim.meta.key: claim for claim in claims},
        blocked=tuple(map(_blocked, part.blocked)),
        namespaces=part.namespaces,
        gangs=tuple(map(_gang, part.gangs)),
    )


def demand_part(demand: Demand, level: DemandLevel) -> DemandPart:
    """Return the part of a document that describes a demand sized for that level.

    `read_demand` reads it.
    """
    return DemandPart(
        level=level,
        shapes=tuple(map(_shape_row, demand.shapes)),
        shared_claims=tuple(
            _object(render_claim(claim)) for _, claim in sorted(demand.shared_claims.items())
        ),
        blocked=tuple(sorted(map(_blocked_row, demand.blocked), key=repr)),
        gangs=tuple(map(_gang_row, demand.gangs)),
        namespaces={name: dict(labels) for name, labels in demand.namespaces.items()},
    )


def _blocked_row(blocked: Blocked) -> BlockedRow:
    return BlockedRow(
        member=_member_row(blocked.member),
        verdict=blocked.verdict,
        reason=ReasonRow.of(blocked.reason),
        created=blocked.created,
        requests_devices=blocked.requests_devices,
        classes=blocked.classes,
    )


def _blocked(row: BlockedRow) -> Blocked:
    return Blocked(
        member=_member(row.member),
        verdict=row.verdict,
        reason=row.reason.reason,
        created=row.created,
        requests_devices=row.requests_devices,
        classes=row.classes,
    )


def _gang_row(gang: Gang) -> GangRow:
    parts = tuple(
        GangPartRow(**part.workload._asdict(), pod_set=part.pod_set, pods=part.pods)
        for part in gang.parts
    )
    return GangRow(name=gang.name, parts=parts, least=gang.least, held_by=gang.held_by)


def _gang(row: GangRow) -> Gang:
    parts = tuple(
        GangPart(WorkloadRef(part.kind, part.namespace, part.name), part.pod_set, part.pods)
        for part in row.parts
    )
    return Gang(name=row.name, parts=parts, least=row.least, held_by=row.held_by)


def _object(document: Mapping[str, Any]) -> ApiObject:
    return ApiObject.model_validate(document)


def _shape_row(shape: Shape) -> ShapeRow:
    members = sorted(shape.members, key=lambda each: (each.workload, each.pod_set))
    return ShapeRow(
        id=shape.id,
        namespace=shape.namespace,
        labels=dict(shape.labels),
        pod=render_pod_spec(shape.pod),
        claims=tuple(map(_claim_row, shape.claims)),
        members=tuple(map(_member_row, members)),
        per_node=shape.per_node,
    )


def _shape(row: ShapeRow) -> Shape:
    return Shape(
        id=row.id,
        namespace=row.namespace,
        labels=dict(row.labels),
        pod=parse_pod_spec(row.pod),
        claims=tuple(map(_claim, row.claims)),
        members=tuple(map(_member, row.members)),
        per_node=row.per_node,
    )


def _claim_row(claim: ShapeClaim) -> ClaimRow:
    shared = (
        None
        if claim.shared is None
        else KeyRow(namespace=claim.shared.namespace, name=claim.shared.name)
    )
    return ClaimRow(name=claim.name, spec=render_claim_spec(claim.spec), shared=shared)


def _claim(row: ClaimRow) -> ShapeClaim:
    shared = None if row.shared is None else ObjectKey(row.shared.namespace, row.shared.name)
    return ShapeClaim(name=row.name, spec=parse_claim_spec(row.spec), shared=shared)


def _with_guarded_templates(demand: Demand, guards: Guards) -> Demand:
    """Return the demand with only the templates that guards use.

    Other templates don't affect a verdict.
    """
    guarded = {key for rule in guards.rules for key in rule.templates}

    def narrowed(member: Member) -> Member:
        return replace(member, templates=tuple(filter(guarded.__contains__, member.templates)))

    return replace(
        demand,
        shapes=tuple(
            replace(each, members=tuple(map(narrowed, each.members))) for each in demand.shapes
        ),
        blocked=tuple(replace(each, member=narrowed(each.member)) for each in demand.blocked),
    )


def _member_row(member: Member) -> MemberRow:
    return MemberRow(
        **member.workload._asdict(),
        pod_set=member.pod_set,
        figures=FiguresRow.of(member.figures),
        templates=tuple(KeyRow(**key._asdict()) for key in member.templates),
    )


def _member(row: MemberRow) -> Member:
    return Member(
        workload=WorkloadRef(row.kind, row.namespace, row.name),
        pod_set=row.pod_set,
        figures=row.figures.figures,
        templates=tuple(ObjectKey(key.namespace, key.name) for key in row.templates),
    )


def _pool_row(pool: PlannedPool) -> PoolRow:
    return PoolRow.model_validate({"name": pool.name, "machine": pool.machine, **pool.row})


def _workload_row(workload: PlannedWorkload) -> WorkloadRow:
    return WorkloadRow(
        **workload.workload._asdict(),
        demand=FiguresRow.of(workload.figures),
        placed=workload.placed,
        pending=workload.pending,
        verdicts=dict(workload.verdicts),
        placements=tuple(PlacementRow(pool=pool, pods=pods) for pool, pods in workload.placements),
        reasons=tuple(map(ReasonRow.of, workload.reasons)),
    )

"""The plan as a document, and a document judged again: what a lock file needs, and what the policy pack calls.

Demand is kept as shapes in the form of the Kubernetes API, so that anyone can read it; it holds no places of files,
and its size does not depend on replicas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_planner.errors import PlanFileError
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
    DEMAND_LEVELS,
    Blocked,
    Demand,
    Figures,
    Member,
    ObjectKey,
    Reason,
    ResourceClaim,
    Shape,
    ShapeClaim,
    WorkloadRef,
)
from dra_planner.offers import Offer, predict_offers
from dra_planner.plan.planning import size_plan
from dra_planner.plan.values import Plan, PlannedPool, PlannedWorkload
from dra_planner.planfile import PlanFile, seal
from dra_planner.releases import features_of, parse_version

Json = dict[str, Any]


def plan_file(plan: Plan) -> PlanFile:
    """Return the plan's document; raises PlanFileError for a plan on a snapshot, which is no plan of a fleet."""
    if plan.fleet is None:
        raise PlanFileError("a plan on observed nodes sizes nothing", fix="plan on a fleet, and keep that")
    return seal(
        {
            "inputs": dict(plan.inputs),
            "kubernetes": plan.kubernetes,
            "verdict": plan.verdict,
            "assumptions": list(plan.assumptions),
            "fleet": plan.fleet.document(),
            "classes": [render_device_class(each) for _, each in sorted(plan.classes.items())],
            "demand": _render_demand(plan.demand, plan.level),
            "pools": [_render_pool(pool) for pool in plan.pools],
            "workloads": [_render_workload(each) for each in plan.workloads],
        }
    )


def plan_document(plan: Plan) -> Json:
    """Return the plan's document as plain data, in the schema of `dra_planner.planfile`."""
    return plan_file(plan).document()


def judge_document(document: Mapping[str, Any] | PlanFile, offers: tuple[Offer, ...] | None = None) -> Plan:
    """Return the plan that a document's demand has on these offers, or on those that its fleet predicts.

    Nothing of the document's own verdicts and counts is believed: classes, demand and fleet are read, and sized again.
    Offers for pools that the fleet does not name raise PlanFileError, as does a document that is not one.
    """
    content: Mapping[str, Any] = document.document() if isinstance(document, PlanFile) else document
    try:
        fleet = read_fleet(content["fleet"])
        classes = {each.name: each for each in map(parse_device_class, content["classes"])}
        level, demand = content["demand"]["level"], _parse_demand(content["demand"])
        features = features_of(parse_version(content["kubernetes"]))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        fault = f"{type(error).__name__}: {error}"
        raise PlanFileError(f"is no plan document: {fault}", fix="make the plan again") from None
    if offers is None:
        offers = predict_offers(fleet, features)
    return size_plan(
        demand=demand,
        fleet=fleet,
        offers=offers,
        classes=classes,
        features=features,
        level=level,
        assumptions=tuple(content.get("assumptions", ())),
        inputs=content.get("inputs", {}),
    )


def _render_demand(demand: Demand, level: str) -> Json:
    return {
        "level": level,
        "shapes": [_render_shape(shape) for shape in demand.shapes],
        "sharedClaims": [render_claim(claim) for _, claim in sorted(demand.shared_claims.items())],
        "blocked": sorted((_render_blocked(each) for each in demand.blocked), key=repr),
    }


def _parse_demand(data: Json) -> Demand:
    claims = [parse_claim(each) for each in data["sharedClaims"]]
    shared: dict[ObjectKey, ResourceClaim] = {claim.meta.key: claim for claim in claims}
    return Demand(
        shapes=tuple(_parse_shape(each) for each in data["shapes"]),
        shared_claims=shared,
        blocked=tuple(_parse_blocked(each) for each in data["blocked"]),
    )


def _render_shape(shape: Shape) -> Json:
    return {
        "id": shape.id,
        "namespace": shape.namespace,
        "labels": dict(shape.labels),
        "pod": render_pod_spec(shape.pod),
        "claims": [_render_claim(claim) for claim in shape.claims],
        "members": [_render_member(member) for member in sorted(shape.members, key=_member_key)],
        "perNode": shape.per_node,
    }


def _parse_shape(data: Json) -> Shape:
    return Shape(
        id=data["id"],
        namespace=data["namespace"],
        labels=dict(data["labels"]),
        pod=parse_pod_spec(data["pod"]),
        claims=tuple(_parse_claim(each) for each in data["claims"]),
        members=tuple(_parse_member(each) for each in data["members"]),
        per_node=data["perNode"],
    )


def _render_claim(claim: ShapeClaim) -> Json:
    shared = {"namespace": claim.shared.namespace, "name": claim.shared.name} if claim.shared else None
    return {"name": claim.name, "spec": render_claim_spec(claim.spec), "shared": shared}


def _parse_claim(data: Json) -> ShapeClaim:
    shared = ObjectKey(data["shared"]["namespace"], data["shared"]["name"]) if data["shared"] else None
    return ShapeClaim(name=data["name"], spec=parse_claim_spec(data["spec"]), shared=shared)


def _member_key(member: Member) -> tuple[WorkloadRef, str]:
    return member.workload, member.pod_set


def _render_member(member: Member) -> Json:
    return {
        **_render_ref(member.workload),
        "podSet": member.pod_set,
        "figures": _render_figures(member.figures),
    }


def _parse_member(data: Json) -> Member:
    return Member(
        workload=WorkloadRef(data["kind"], data["namespace"], data["name"]),
        pod_set=data["podSet"],
        figures=Figures(*(data["figures"][level] for level in DEMAND_LEVELS)),
    )


def _render_blocked(blocked: Blocked) -> Json:
    return {
        "member": _render_member(blocked.member),
        "verdict": blocked.verdict,
        "reason": _render_reason(blocked.reason),
    }


def _parse_blocked(data: Json) -> Blocked:
    said = data["reason"]
    reason = Reason(
        code=said["code"],
        message=said["message"],
        fix=said["fix"],
        claim=said["claim"],
        request=said["request"],
        pool=said["pool"],
    )
    return Blocked(member=_parse_member(data["member"]), verdict=data["verdict"], reason=reason)


def _render_pool(pool: PlannedPool) -> Json:
    nodes, devices = pool.nodes, pool.devices
    return {
        "name": pool.name,
        "machine": pool.machine,
        "count": {"min": pool.minimum, "bound": pool.bound, "plan": pool.plan, "max": pool.maximum},
        "nodes": {"min": nodes.minimum, "desired": nodes.desired, "max": nodes.maximum},
        "devices": {"total": devices.total, "used": devices.used, "stranded": devices.stranded},
    }


def _render_workload(workload: PlannedWorkload) -> Json:
    return {
        **_render_ref(workload.workload),
        "demand": _render_figures(workload.figures),
        "placed": workload.placed,
        "pending": workload.pending,
        "verdicts": {level: workload.verdicts[level] for level in DEMAND_LEVELS if level in workload.verdicts},
        "placements": [{"pool": pool, "pods": pods} for pool, pods in workload.placements],
        "reasons": [_render_reason(reason) for reason in workload.reasons],
    }


def _render_ref(ref: WorkloadRef) -> Json:
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def _render_figures(figures: Figures) -> Json:
    return dict(zip(DEMAND_LEVELS, figures, strict=True))


def _render_reason(reason: Reason) -> Json:
    return {
        "code": reason.code,
        "message": reason.message,
        "fix": reason.fix,
        "claim": reason.claim,
        "request": reason.request,
        "pool": reason.pool,
    }

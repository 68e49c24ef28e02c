"""A plan as the published JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dra_command.claim_report.joint_fix_json import joint_fix_row
from dra_command.claim_report.json import explain_output, share_row
from dra_command.findings.json import finding_row
from dra_command.plan_report.contract.plan import (
    AllocatedRow,
    ChangeRow,
    CostRow,
    DemandRow,
    FitRow,
    GuardRow,
    GuardsRow,
    LevelRow,
    LevelsRow,
    LimitRow,
    PlanClaimRow,
    PlanCountRow,
    PlanDevicesRow,
    PlanNodesRow,
    PlanOutput,
    PlanPlacementRow,
    PlanPoolRow,
    PlanWorkloadRow,
    PodRequestRow,
    PodRequestsRow,
    SimulationRow,
    SteeringRow,
    StrandingRow,
    TotalRow,
    VerdictsRow,
    WayRow,
    WorkloadReasonRow,
)
from dra_command.plan_report.guards import guard_lines, proved_parts
from dra_command.plan_report.json.detail import detail_row
from dra_command.plan_report.json.fixes import fix_rows
from dra_command.plan_report.json.nodes import (
    difference_row,
    filled_row,
    kind_rows,
    name_row,
    outcome_rows,
    pods_rows,
    pool_cost_rows,
    share_rows,
)
from dra_command.plan_report.pod_requests import PodRequests, pod_requests
from dra_planner.model import DEMAND_LEVELS, DemandLevel, Reason, Verdict
from dra_planner.plan import Plan, PlannedPool, PlannedWorkload, detail_claims
from dra_planner.plan.explanation.claims import explain_failing
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.model import LimitUse
from dra_planner.plan.nodes.cost_shares import cost_shares
from dra_planner.plan.nodes.groups import FilledNodes, fill_nodes
from dra_planner.plan.nodes.order_outcomes import order_outcomes
from dra_planner.plan.saved.difference import PlanDifference
from dra_planner.simulation import Stranding


def plan_output(
    plan: Plan, *, detail: bool, difference: PlanDifference | None = None
) -> PlanOutput:
    """Return the plan as the contract's model. `detail` adds the devices of each claim, and the
    cost of one more pod or node.
    """
    filled, requests = fill_nodes(plan), pod_requests(plan.demand)
    return PlanOutput(
        verdict=plan.verdict,
        kubernetes=plan.kubernetes,
        demand=plan.level,
        assumptions=list(plan.assumptions),
        pools=[_pool(pool, filled, plan) for pool in plan.pools],
        nodes=_total(plan),
        simulation=_simulation(plan),
        method=plan.method,
        workloads=[
            _workload(workload, requests.get(workload.workload, ())) for workload in plan.workloads
        ],
        cost=_cost(plan, filled),
        limits=[_limit(each) for each in plan.limits],
        verdicts=_verdicts({level: plan.verdict_at(level) for level in DEMAND_LEVELS}),
        pods=plan.pods,
        filled_nodes=filled_row(filled),
        failing_claims=[explain_output(each) for each in explain_failing(plan.judgement)],
        difference=None if difference is None else difference_row(difference),
        diagnostics=[finding_row(each) for each in (*plan.findings, *plan.beside, *plan.advice)],
        cloud="" if plan.fleet is None else plan.fleet.cloud,
        region="" if plan.fleet is None else plan.fleet.region,
        claims=_claims(plan) if detail else None,
        detail=detail_row(plan, filled) if detail else None,
        guards=_guards(plan),
    )


def plan_json(plan: Plan, *, detail: bool = False, difference: PlanDifference | None = None) -> str:
    """Return the plan as indented JSON. Keys that the contract allows to be absent are omitted."""
    output = plan_output(plan, detail=detail, difference=difference)
    output = output.model_copy(update={"joint_fix": joint_fix_row(plan.joint_fix)})
    absent = set() if detail else {"claims", "detail"}
    if plan.guarded is None:
        absent.add("guards")
    if output.joint_fix is None:
        absent.add("joint_fix")
    return output.model_dump_json(indent=2, by_alias=True, exclude=absent or None)


def _guards(plan: Plan) -> GuardsRow | None:
    guarded = plan.guarded
    if guarded is None:
        return None
    free = guarded.free_hourly_usd
    return GuardsRow(
        guards=[
            GuardRow(
                number=each.number,
                kind=each.kind,
                effect=each.effect,
                who_acts=each.who_acts,
                pending_without=list(guarded.pending_without[each.kind]),
            )
            for each in guard_lines(plan)
        ],
        rules=[
            SteeringRow(
                pool=rule.pool,
                templates=[str(key) for key in rule.templates],
                workloads=[name_row(ref) for ref, _ in rule.workloads],
                spread=rule.spread,
            )
            for rule in guarded.guards.rules
        ],
        split={part.name: part.pool for part in guarded.guards.parts},
        orders=list(map(str, guarded.proof.orders)),
        in_any_order=sorted(guarded.in_any_order),
        proved=proved_parts(plan),
        free_hourly=None if free is None else float(free),
        free_pending=None if guarded.free_pending is None else list(guarded.free_pending),
    )


def _total(plan: Plan) -> TotalRow:
    simulated = [pool.simulated for pool in plan.pools if pool.simulated is not None]
    return TotalRow(
        bound=plan.nodes_bound,
        packing=sum(pool.packing for pool in plan.pools),
        simulated=sum(simulated) if len(simulated) == len(plan.pools) else None,
        recommended=sum(pool.recommended for pool in plan.pools),
    )


def _cost(plan: Plan, filled: FilledNodes) -> CostRow | None:
    cost = plan.cost
    if cost is None:
        return None
    return CostRow(
        hourly=float(cost.hourly_usd),
        currency="USD",
        priced_on=cost.priced_on,
        bound=float(cost.bound_usd),
        pools=list(pool_cost_rows(plan)),
        shares=share_rows(cost_shares(plan, filled)),
    )


def _limit(use: LimitUse) -> LimitRow:
    limit = use.limit
    most, used = limit.most + limit.beside, use.used + limit.beside
    return LimitRow(name=limit.name, unit=limit.unit, most=most, used=used, pools=dict(limit.takes))


def _simulation(plan: Plan) -> SimulationRow | None:
    found = plan.judgement.simulated
    if found is None:
        return None
    return SimulationRow(
        orders=list(map(str, found.orders)),
        scale=found.scale,
        complete=found.complete,
        at_packing=[_stranding(each) for each in found.at_packing],
        at_maximum=[_stranding(each) for each in found.at_maximum],
        outcomes=outcome_rows(order_outcomes(plan)),
        fixes=fix_rows(plan),
        tried_all_fixes=plan.judgement.tried_all_fixes,
        left_out=list(map(name_row, found.left_out)),
    )


def _stranding(stranding: Stranding) -> StrandingRow:
    return StrandingRow(
        order=str(stranding.order),
        pods=stranding.pods,
        pending=pods_rows(sorted(stranding.pending.items())),
    )


def _levels(pool: PlannedPool, plan: Plan) -> LevelsRow | None:
    if plan.judgement.is_observed:
        return None
    rows = {level: _level(pool, level, plan.judgement) for level in DEMAND_LEVELS}
    return LevelsRow(
        floor=rows["floor"], steady=rows["steady"], ceiling=rows["ceiling"], peak=rows["peak"]
    )


def _level(pool: PlannedPool, level: DemandLevel, judgement: Judgement) -> LevelRow:
    size = judgement.sizings[level].pool(pool.name)
    return LevelRow(
        bound=size.bound, packing=size.plan, simulated=judgement.simulated_nodes(pool.name, level)
    )


def _pool(pool: PlannedPool, filled: FilledNodes, plan: Plan) -> PlanPoolRow:
    return PlanPoolRow(
        name=pool.name,
        machine=pool.machine,
        count=PlanCountRow.model_validate(pool.row["count"]),
        nodes=PlanNodesRow.model_validate(pool.row["nodes"]),
        existing=pool.existing,
        devices=PlanDevicesRow.model_validate(pool.row["devices"]),
        price_per_hour=None if pool.hourly_usd is None else float(pool.hourly_usd),
        enough=pool.enough,
        levels=_levels(pool, plan),
        recommended=pool.recommended,
        spare=pool.spare,
        kinds=kind_rows(filled.kinds(pool.name)),
    )


def _verdicts(verdicts: Mapping[DemandLevel, Verdict]) -> VerdictsRow:
    return VerdictsRow(
        floor=verdicts["floor"],
        steady=verdicts["steady"],
        ceiling=verdicts["ceiling"],
        peak=verdicts["peak"],
    )


def _workload(workload: PlannedWorkload, requests: Iterable[PodRequests]) -> PlanWorkloadRow:
    ref, figures = workload.workload, workload.figures
    return PlanWorkloadRow(
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        each_pod=[_pod_requests(each) for each in requests],
        demand=DemandRow(
            floor=figures.floor, steady=figures.steady, ceiling=figures.ceiling, peak=figures.peak
        ),
        placed=workload.placed,
        pending=workload.pending,
        verdicts=_verdicts(workload.verdicts),
        placements=[PlanPlacementRow(pool=pool, pods=pods) for pool, pods in workload.placements],
        pools=[FitRow(pool=pool, verdict=verdict) for pool, verdict in workload.fits],
        reasons=[_reason_row(reason) for reason in workload.reasons],
    )


def _pod_requests(each: PodRequests) -> PodRequestsRow:
    rows = [
        PodRequestRow(
            claim=request.claim,
            request=request.request,
            ways=[
                WayRow(device_class=way.device_class, devices=way.devices) for way in request.ways
            ],
            shared=request.shared,
        )
        for request in each.requests
    ]
    return PodRequestsRow(role=each.role, requests=rows, equal=list(each.equal))


def _reason_row(reason: Reason) -> WorkloadReasonRow:
    return WorkloadReasonRow(
        code=reason.code,
        message=reason.text,
        fix=reason.fix,
        claim=reason.claim,
        request=reason.request,
        pool=reason.pool,
        changes=[ChangeRow(before=before, after=after) for before, after in reason.changes],
    )


def _claims(plan: Plan) -> list[PlanClaimRow]:
    return [
        PlanClaimRow(
            namespace=claim.namespace,
            name=claim.name,
            pod=claim.pod,
            devices=[
                AllocatedRow(
                    request=each.request,
                    node=each.node,
                    driver=each.driver,
                    pool=each.pool,
                    device=each.device,
                    shares=[share_row(share) for share in each.shares],
                )
                for each in claim.devices
            ],
        )
        for claim in detail_claims(plan)
    ]

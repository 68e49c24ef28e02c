"""A plan as the published JSON."""

from __future__ import annotations

from dra_command.contract import DiagnosticRow, PlanOutput
from dra_command.contract.plan import (
    AllocatedRow,
    ClaimRow,
    CostRow,
    CountRow,
    DemandRow,
    DevicesRow,
    FitRow,
    NodesRow,
    PlacementRow,
    PoolRow,
    SimulationRow,
    StrandingRow,
    TotalRow,
    VerdictsRow,
    WhyRow,
    WorkloadRow,
)
from dra_planner.errors import Diagnostic
from dra_planner.model import Reason
from dra_planner.plan import Plan, PlannedPool, PlannedWorkload, detail_claims


def plan_output(plan: Plan, *, detail: bool) -> PlanOutput:
    """Return the plan as the contract's model; `detail` adds the devices of each claim."""
    cost = plan.cost
    return PlanOutput(
        verdict=plan.verdict,
        kubernetes=plan.kubernetes,
        demand=plan.level,
        assumptions=list(plan.assumptions),
        pools=[_pool(pool) for pool in plan.pools],
        nodes=_total(plan),
        simulation=_simulation(plan),
        method=plan.method,
        workloads=[_workload(workload) for workload in plan.workloads],
        cost=None
        if cost is None
        else CostRow(
            hourly=float(cost.hourly_usd), currency="USD", priced_on=cost.priced_on, bound=float(cost.bound_usd)
        ),
        diagnostics=[finding(each) for each in plan.diagnostics],
        claims=_claims(plan) if detail else None,
    )


def plan_json(plan: Plan, *, detail: bool = False) -> str:
    """Return the plan as indented JSON; keys that are absent by contract are left out."""
    output = plan_output(plan, detail=detail)
    return output.model_dump_json(indent=2, exclude=None if detail else {"claims"})


def finding(diagnostic: Diagnostic) -> DiagnosticRow:
    """Return a diagnostic as the contract has it."""
    place = diagnostic.place
    return DiagnosticRow(
        severity=diagnostic.severity,
        code=diagnostic.code,
        file=place.file,
        line=place.line,
        path=place.path,
        message=diagnostic.message,
        fix=diagnostic.fix,
    )


def _total(plan: Plan) -> TotalRow:
    simulated = [pool.simulated for pool in plan.pools if pool.simulated is not None]
    return TotalRow(
        bound=plan.nodes_bound,
        packing=sum(pool.packing for pool in plan.pools),
        simulated=sum(simulated) if len(simulated) == len(plan.pools) else None,
    )


def _simulation(plan: Plan) -> SimulationRow | None:
    found = plan.judgement.simulated
    if found is None:
        return None
    return SimulationRow(
        orders=list(map(str, found.orders)),
        scale=found.scale,
        complete=found.complete,
        at_packing=[StrandingRow(order=str(each.order), pods=each.pods) for each in found.at_packing],
        at_maximum=[StrandingRow(order=str(each.order), pods=each.pods) for each in found.at_maximum],
    )


def _pool(pool: PlannedPool) -> PoolRow:
    nodes, devices = pool.nodes, pool.devices
    return PoolRow(
        name=pool.name,
        machine=pool.machine,
        count=CountRow(
            min=pool.minimum,
            bound=pool.bound,
            packing=pool.packing,
            simulated=pool.simulated,
            max=pool.maximum,
        ),
        nodes=NodesRow(min=nodes.minimum, desired=nodes.desired, max=nodes.maximum),
        devices=DevicesRow(total=devices.total, used=devices.used, stranded=devices.stranded),
        price_per_hour=None if pool.hourly_usd is None else float(pool.hourly_usd),
    )


def _workload(workload: PlannedWorkload) -> WorkloadRow:
    ref, figures, verdicts = workload.workload, workload.figures, workload.verdicts
    return WorkloadRow(
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        demand=DemandRow(
            floor=figures.floor, steady=figures.steady, ceiling=figures.ceiling, peak=figures.peak
        ),
        placed=workload.placed,
        pending=workload.pending,
        verdicts=VerdictsRow(steady=verdicts["steady"], ceiling=verdicts["ceiling"], peak=verdicts["peak"]),
        placements=[PlacementRow(pool=pool, pods=pods) for pool, pods in workload.placements],
        pools=[FitRow(pool=pool, verdict=verdict) for pool, verdict in workload.fits],
        reasons=[_why(reason) for reason in workload.reasons],
    )


def _why(reason: Reason) -> WhyRow:
    return WhyRow(
        code=reason.code,
        message=reason.message,
        fix=reason.fix,
        claim=reason.claim,
        request=reason.request,
        pool=reason.pool,
    )


def _claims(plan: Plan) -> list[ClaimRow]:
    return [
        ClaimRow(
            namespace=claim.namespace,
            name=claim.name,
            pod=claim.pod,
            devices=[
                AllocatedRow(
                    request=each.request, node=each.node, driver=each.driver, pool=each.pool, device=each.device
                )
                for each in claim.devices
            ],
        )
        for claim in detail_claims(plan)
    ]

"""A rehearsal as the published JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dra_command.plan_report.contract.plan import PlanPlacementRow
from dra_command.rehearse.contract import (
    DeviceRow,
    PlannedRow,
    RehearsedDifferenceRow,
    RehearsedOutcomeRow,
    RehearsedPodRow,
    RehearsedPoolRow,
    RehearsedScenario,
    RehearsedWorkloadRow,
    RehearseOutput,
    ScenarioWorkloadRow,
    SimulatedRow,
)
from dra_command.rehearse.summary import verdict_of

if TYPE_CHECKING:  # the sandbox is an optional extra
    from dra_sandbox.rehearsal import ComparedWorkload as Row
    from dra_sandbox.rehearsal import (
        Comparison,
        OutcomeDifference,
        RehearsalOutcome,
        RehearsedWorkload,
        ScenarioOutcome,
        SimulatedWorkload,
    )


def rehearse_json(found: Comparison) -> str:
    """Return the rehearsal as indented JSON."""
    output = RehearseOutput(
        verdict=verdict_of(found),
        kubernetes=found.release,
        order=found.order,
        seconds=round(found.seconds, 1),
        workloads=[_workload(row) for row in found.rows],
        pools=_pools(found.outcome, {pool.name: pool.devices.used for pool in found.plan.pools}),
        notes=list(found.notes),
        scenarios=[_scenario(each) for each in found.scenarios],
    )
    return output.model_dump_json(indent=2)


def _workload(row: Row) -> RehearsedWorkloadRow:
    outcome, planned = row.outcome, row.planned
    return RehearsedWorkloadRow(
        kind=outcome.workload.kind,
        namespace=outcome.workload.namespace,
        name=outcome.workload.name,
        wanted=row.wanted,
        plan=None
        if planned is None
        else PlannedRow(
            placed=planned.placed,
            pending=planned.pending,
            placements=[
                PlanPlacementRow(pool=pool, pods=pods) for pool, pods in planned.placements
            ],
            verdict=planned.verdicts["steady"],
        ),
        simulation=_simulated(row.simulated) if row.simulated else None,
        outcome=_outcome(outcome, row.pending),
        difference=_difference(row.difference),
        deviation=_difference(row.deviation),
    )


def _outcome(outcome: RehearsedWorkload, pending: int) -> RehearsedOutcomeRow:
    return RehearsedOutcomeRow(
        placed=outcome.placed,
        pending=pending,
        created=len(outcome.pods),
        placements=[PlanPlacementRow(pool=pool, pods=pods) for pool, pods in outcome.pools.items()],
        refused=outcome.refused,
        pods=[
            RehearsedPodRow(
                name=pod.name,
                node=pod.node,
                words=pod.words,
                devices=[DeviceRow(**device._asdict()) for device in pod.devices],
            )
            for pod in outcome.pods
        ],
    )


def _simulated(simulated: SimulatedWorkload) -> SimulatedRow:
    placements = [PlanPlacementRow(pool=pool, pods=pods) for pool, pods in simulated.pools.items()]
    return SimulatedRow(placed=simulated.placed, placements=placements)


def _difference(found: OutcomeDifference | None) -> RehearsedDifferenceRow | None:
    return RehearsedDifferenceRow(reason=found.reason, message=found.message) if found else None


def _scenario(found: ScenarioOutcome) -> RehearsedScenario:
    return RehearsedScenario(
        scenario=str(found.scenario),
        event=found.event,
        decided=found.decided,
        seconds=round(found.seconds, 1),
        workloads=[
            ScenarioWorkloadRow(
                kind=row.outcome.workload.kind,
                namespace=row.outcome.workload.namespace,
                name=row.outcome.workload.name,
                before=row.before,
                wanted=row.wanted,
                simulation=_simulated(row.simulated),
                outcome=_outcome(row.outcome, row.pending),
                deviation=_difference(row.deviation),
            )
            for row in found.rows
        ],
    )


def _pools(outcome: RehearsalOutcome, planned: dict[str, int]) -> list[RehearsedPoolRow]:
    return [
        RehearsedPoolRow(
            name=pool.name,
            nodes=pool.nodes,
            nodes_used=pool.nodes_used,
            pods=pool.pods,
            devices=pool.devices,
            devices_used=pool.devices_used,
            planned_devices_used=planned.get(pool.name),
        )
        for pool in outcome.pools
    ]

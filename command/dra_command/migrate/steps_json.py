"""The steps of a migration as the published JSON."""

from __future__ import annotations

from decimal import Decimal

from dra_command.migrate.steps_contract import (
    MigrateStepsOutput,
    MigrationStepRow,
    StayingRow,
    StepPoolRow,
)
from dra_planner.migration import MigrationStep, MigrationSteps


def steps_json(found: MigrationSteps) -> str:
    """Return the steps as indented JSON."""
    output = MigrateStepsOutput(
        is_safe=found.is_safe,
        peak_hourly_usd=_usd(found.peak_usd),
        twins=dict(found.twins),
        without_twin=dict(found.without_twin),
        steps=[_row(step) for step in found.steps],
        staying=[
            StayingRow(
                object=each.object, pods=each.pods, result=each.result.value, reason=each.reason
            )
            for each in found.staying
        ],
        notes=list(found.notes),
    )
    return output.model_dump_json(indent=2)


def _row(step: MigrationStep) -> MigrationStepRow:
    return MigrationStepRow(
        number=step.number,
        folder=step.folder,
        kind=step.kind.value,
        moves=list(step.moves),
        served=dict(step.served),
        pools=[
            StepPoolRow(
                name=pool.name,
                allocation=pool.allocation,
                during=pool.during,
                after=pool.after,
                drained=pool.drained,
            )
            for pool in step.pools
        ],
        is_safe=step.is_safe,
        pending=step.pending,
        reasons=list(step.reasons),
        hourly_usd=_usd(step.hourly_usd),
        hourly_usd_after=_usd(step.hourly_usd_after),
        commands=list(step.commands),
        checks=list(step.checks),
        rollback=list(step.rollback),
    )


def _usd(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)

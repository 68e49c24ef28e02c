"""A comparison as the published JSON."""

from __future__ import annotations

from decimal import Decimal

from dra_command.diff.comparison import ComparedSides
from dra_command.diff.contract import (
    ComparedPoolRow,
    ComparedWorkloadRow,
    DiffOutput,
    SettingDifferenceRow,
)
from dra_planner.catalog import HOURS_PER_MONTH
from dra_planner.plan.saved.difference import PoolDifference
from dra_planner.plan.saved.workload_difference import WorkloadDifference


def diff_json(found: ComparedSides) -> str:
    """Return the comparison as JSON; see `DiffOutput`."""
    difference = found.difference
    hourly = difference.hourly_usd
    output = DiffOutput(
        verdict=difference.regression,
        before=found.before,
        after=found.after,
        verdict_before=difference.verdict_before,
        verdict_after=difference.verdict_after,
        nodes=difference.nodes,
        hourly=_amount(hourly),
        monthly=None if hourly is None else _amount(hourly * HOURS_PER_MONTH),
        settings=[
            SettingDifferenceRow(path=each.path, before=each.before, after=each.after)
            for each in difference.settings
        ],
        pools=[_pool(each) for each in difference.pools if each.is_changed],
        workloads=[_workload(each) for each in difference.workloads if each.is_changed],
    )
    return output.model_dump_json(indent=2)


def _amount(usd: Decimal | None) -> float | None:
    return None if usd is None else float(usd)


def _pool(pool: PoolDifference) -> ComparedPoolRow:
    return ComparedPoolRow(
        pool=pool.pool,
        machine_before=pool.machine_before,
        machine=pool.machine,
        before=pool.before,
        after=pool.after,
        hourly=_amount(pool.hourly_usd),
        because=list(pool.because),
    )


def _workload(each: WorkloadDifference) -> ComparedWorkloadRow:
    return ComparedWorkloadRow(
        kind=each.kind,
        namespace=each.namespace,
        name=each.name,
        pods_before=each.pods_before,
        pods=each.pods_after,
        pending_before=None if each.before is None else each.before.pending,
        pending=None if each.after is None else each.after.pending,
        verdict_before=each.verdict_before,
        verdict=each.verdict_after,
        pools_before=list(each.pools_before),
        pools=list(each.pools),
        reasons=[row.message for row in each.after.reasons]
        if each.is_worse and each.after is not None
        else [],
    )

"""The use of a pool as the published JSON."""

from __future__ import annotations

from collections.abc import Sequence

from dra_command.claim_report.contract import PoolReasonRow
from dra_command.explain.pool.contract import (
    ExplainPoolOutput,
    PoolCountRow,
    PoolDevicesRow,
    PoolUseRow,
    PublishedRow,
)
from dra_planner.model import Reason
from dra_planner.plan.explanation.pools import PoolReport


def pool_json(report: PoolReport, changes: Sequence[str] = ()) -> str:
    """Return the report as indented JSON."""
    pool, devices = report.pool, report.pool.devices
    output = ExplainPoolOutput(
        verdict=report.verdict,
        pool=pool.name,
        machine=pool.machine,
        count=PoolCountRow(
            min=pool.minimum,
            bound=pool.bound,
            packing=pool.packing,
            simulated=pool.simulated,
            recommended=pool.recommended,
            max=pool.maximum,
        ),
        devices=PoolDevicesRow(total=devices.total, used=devices.used, stranded=devices.stranded),
        published=[
            PublishedRow(
                driver=each.driver, name=each.name, devices=each.devices, memory=each.memory
            )
            for each in report.published
        ],
        workloads=[
            PoolUseRow(
                workload=use.workload,
                answer=use.answer,
                here=use.here,
                pending=use.pending,
                elsewhere=list(use.elsewhere),
                reasons=_rows(use.reasons),
            )
            for use in report.uses
        ],
        doubts=_rows(report.doubts),
        what_if=list(changes),
    )
    return output.model_dump_json(indent=2)


def _rows(reasons: Sequence[Reason]) -> list[PoolReasonRow]:
    return [PoolReasonRow(code=each.code, message=each.text, fix=each.fix) for each in reasons]

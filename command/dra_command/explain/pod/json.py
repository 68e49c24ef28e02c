"""The reasons why a pod fits or doesn't fit, as the published JSON."""

from __future__ import annotations

from collections.abc import Sequence

from dra_command.claim_report.contract import (
    ChosenRow,
    EditRow,
    HolderRow,
    PoolReasonRow,
    WhatIfRow,
)
from dra_command.claim_report.joint_fix_json import joint_fix_row
from dra_command.explain.pod.contract import ExplainedPodRow, ExplainPodOutput, PoolForPodRow
from dra_planner.model import Reason, worst
from dra_planner.plan.explanation.claims import WhatIf
from dra_planner.plan.explanation.pods import PodExplanation, PoolForPod


def pod_json(pods: Sequence[PodExplanation], what_if: WhatIf | None = None) -> str:
    """Return the explanations as indented JSON."""
    changed = (
        None
        if what_if is None
        else WhatIfRow(changes=list(what_if.changes), verdict_before=what_if.verdict_before)
    )
    output = ExplainPodOutput(
        verdict=worst(each.verdict for each in pods),
        pods=[pod_row(each) for each in pods],
        joint_fix=joint_fix_row(next((p.joint_fix for p in pods if p.joint_fix), None)),
        what_if=changed,
    )
    return output.model_dump_json(indent=2, by_alias=True)


def pod_row(pod: PodExplanation) -> ExplainedPodRow:
    """Return one explanation as the contract's model."""
    return ExplainedPodRow(
        verdict=pod.verdict,
        pod=pod.pod,
        workload=pod.workload,
        pod_set=pod.pod_set,
        placed=pod.placed,
        pending=pod.pending,
        claims=list(pod.claims),
        pools=[_pool(each) for each in pod.pools],
        holders=[
            HolderRow(pool=each.pool, workload=each.workload, pods=each.pods)
            for each in pod.holders
        ],
        missing=None if pod.missing is None else _reason(pod.missing),
        pending_reasons=[_reason(each) for each in (*pod.pending_reasons, *pod.blockers)],
    )


def _pool(pool: PoolForPod) -> PoolForPodRow:
    return PoolForPodRow(
        name=pool.pool,
        machine=pool.machine,
        verdict=pool.verdict,
        reasons=[_reason(each) for each in pool.reasons],
        devices=[ChosenRow(request=request, device=device) for request, device in pool.devices],
        edits=[EditRow(kind=each.kind, text=each.text) for each in pool.edits],
    )


def _reason(reason: Reason) -> PoolReasonRow:
    return PoolReasonRow(code=reason.code, message=reason.text, fix=reason.fix)

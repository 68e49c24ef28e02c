"""The reasons why a claim fits or doesn't fit, as the published JSON."""

from __future__ import annotations

from dra_command.claim_report.contract import (
    AlternativeRow,
    ChosenRow,
    ClaimPoolRow,
    ConditionRow,
    ConstraintRow,
    EditRow,
    ExclusionRow,
    ExplainOutput,
    GroupRow,
    HolderRow,
    PoolReasonRow,
    ReadRow,
    SelectorRow,
    WhatIfRow,
)
from dra_command.claim_report.joint_fix_json import joint_fix_row
from dra_command.contract.share import ShareRow
from dra_planner.allocation.reasons.explanation import (
    AlternativeReport,
    ConstraintReport,
    Exclusion,
)
from dra_planner.allocation.reasons.shares import Share
from dra_planner.cel import SelectorExplanation as SelectorReport
from dra_planner.cel import SelectorTerm, ValuesAt
from dra_planner.model import Reason
from dra_planner.plan.explanation.claims import ClaimExplanation, PoolExplanation


def explain_json(explanation: ClaimExplanation) -> str:
    """Return the explanation as indented JSON."""
    return explain_output(explanation).model_dump_json(indent=2, by_alias=True)


def explain_output(explanation: ClaimExplanation) -> ExplainOutput:
    """Return the explanation as the contract's model."""
    return ExplainOutput(
        verdict=explanation.verdict,
        claim=explanation.claim,
        workload=explanation.workload,
        pools=[_pool(pool) for pool in explanation.pools],
        holders=[
            HolderRow(pool=each.pool, workload=each.workload, pods=each.pods)
            for each in explanation.holders
        ],
        missing=_reason(explanation.missing) if explanation.missing is not None else None,
        pending_reasons=[
            _reason(each) for each in (*explanation.pending_reasons, *explanation.blockers)
        ],
        joint_fix=joint_fix_row(explanation.joint_fix),
        what_if=_what_if(explanation),
    )


def _what_if(explanation: ClaimExplanation) -> WhatIfRow | None:
    what_if = explanation.what_if
    return (
        WhatIfRow(changes=list(what_if.changes), verdict_before=what_if.verdict_before)
        if what_if is not None
        else None
    )


def _pool(pool: PoolExplanation) -> ClaimPoolRow:
    report = pool.report
    return ClaimPoolRow(
        name=pool.pool,
        machine=pool.machine,
        verdict=pool.verdict,
        reasons=[_reason(each) for each in pool.reasons],
        requests=[[_way(way) for way in request] for request in report.requests] if report else [],
        constraints=[_constraint(each) for each in report.constraints] if report else [],
        selectors=[_selector(each) for each in pool.selectors],
        devices=[ChosenRow(request=request, device=device) for request, device in pool.devices],
        shares=[share_row(each) for each in pool.shares],
        edits=[EditRow(kind=each.kind, text=each.text) for each in pool.edits],
    )


def _reason(reason: Reason) -> PoolReasonRow:
    return PoolReasonRow(code=reason.code, message=reason.text, fix=reason.fix)


def _selector(report: SelectorReport) -> SelectorRow:
    return SelectorRow(
        expression=report.text,
        conditions=[_condition(term) for term in report.terms],
        warnings=list(report.warnings),
    )


def _condition(term: SelectorTerm) -> ConditionRow:
    return ConditionRow(
        expression=term.text,
        matching=term.matching,
        failing=term.failing,
        erring=term.erring,
        unknown=term.unknown,
        reads=[_read(each) for each in term.reads],
        wanted=term.wanted,
        nearest=term.nearest,
        error=term.error,
    )


def _read(at: ValuesAt) -> ReadRow:
    return ReadRow(
        path=list(at.path), values=_groups(at.values), absent=at.absent, unknown=at.unknown
    )


def _groups(counts: tuple[tuple[str, int], ...]) -> list[GroupRow]:
    return [GroupRow(value=value, devices=count) for value, count in counts]


def _way(way: AlternativeReport) -> AlternativeRow:
    return AlternativeRow(
        request=way.request,
        wanted=way.wanted,
        seen=way.seen,
        left=way.left,
        fault=way.fault,
        excluded=[_exclusion(each) for each in way.exclusions],
    )


def _exclusion(each: Exclusion) -> ExclusionRow:
    return ExclusionRow(
        step=each.step,
        count=each.count,
        owner=each.term.owner if each.term else "",
        expression=each.term.expression if each.term else "",
        detail=each.detail,
        values=list(each.values),
    )


def _constraint(report: ConstraintReport) -> ConstraintRow:
    constraint = report.constraint
    return ConstraintRow(
        match_attribute=constraint.match_attribute,
        distinct_attribute=constraint.distinct_attribute,
        requests=list(constraint.requests),
        groups=_groups(report.groups),
        without=report.without,
        unknown=report.unknown,
    )


def share_row(share: Share) -> ShareRow:
    """Return the amounts of one capacity as the contract's model."""
    return ShareRow(
        device=share.device,
        capacity=share.capacity,
        requested=None if share.requested is None else str(share.requested),
        consumed=str(share.consumed),
        total=str(share.total),
        left=str(share.left),
        claims_per_device=share.per_device,
        at_most_for_one_more=None if share.enough_for_more is None else str(share.enough_for_more),
    )

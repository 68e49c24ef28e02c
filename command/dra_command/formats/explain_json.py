"""Why a claim fits or not, as JSON."""

from __future__ import annotations

import json
from typing import Any

from dra_command.commands.explain import Explanation, PoolExplanation
from dra_planner.allocation.explanation import AlternativeReport, ClaimReport, ConstraintReport
from dra_planner.cel.explanation import Explanation as SelectorReport
from dra_planner.model import Reason


def explain_json(explanation: Explanation) -> str:
    """Return the explanation as indented JSON."""
    answer = {
        "version": 1,
        "verdict": explanation.verdict,
        "claim": explanation.claim,
        "workload": explanation.workload,
        "pools": [_pool(pool) for pool in explanation.pools],
        "left_over": [_reason(each) for each in explanation.left_over],
    }
    return json.dumps(answer, indent=2, ensure_ascii=False)


def _pool(pool: PoolExplanation) -> dict[str, Any]:
    return {
        "name": pool.pool,
        "machine": pool.machine,
        "verdict": pool.verdict,
        "reasons": [_reason(each) for each in pool.reasons],
        **({"requests": [], "constraints": []} if pool.report is None else _report(pool.report)),
        "selectors": [_selector(each) for each in pool.selectors],
        "devices": [{"request": request, "device": device} for request, device in pool.devices],
        "edits": [{"kind": each.kind, "text": each.text} for each in pool.edits],
    }


def _reason(reason: Reason) -> dict[str, Any]:
    return {"code": reason.code, "message": reason.message, "fix": reason.fix}


def _selector(report: SelectorReport) -> dict[str, Any]:
    return {
        "expression": report.text,
        "conditions": [
            {
                "expression": term.text,
                "matching": term.matching,
                "failing": term.failing,
                "erring": term.erring,
                "unknown": term.unknown,
                "reads": [
                    {
                        "path": list(at.path),
                        "values": [{"value": value, "devices": count} for value, count in at.values],
                        "absent": at.absent,
                        "unknown": at.unknown,
                    }
                    for at in term.reads
                ],
                "wanted": term.wanted,
                "nearest": term.nearest,
                "error": term.error,
            }
            for term in report.terms
        ],
        "warnings": list(report.warnings),
    }


def _report(report: ClaimReport) -> dict[str, Any]:
    return {
        "requests": [[_way(way) for way in request] for request in report.requests],
        "constraints": [_constraint(each) for each in report.constraints],
    }


def _way(way: AlternativeReport) -> dict[str, Any]:
    return {
        "request": way.request,
        "wanted": way.wanted,
        "seen": way.seen,
        "left": way.left,
        "fault": way.fault,
        "excluded": [
            {
                "step": each.step,
                "count": each.count,
                "class": each.term.owner if each.term else "",
                "expression": each.term.expression if each.term else "",
                "detail": each.detail,
                "values": list(each.values),
            }
            for each in way.exclusions
        ],
    }


def _constraint(report: ConstraintReport) -> dict[str, Any]:
    constraint = report.constraint
    return {
        "match_attribute": constraint.match_attribute,
        "distinct_attribute": constraint.distinct_attribute,
        "requests": list(constraint.requests),
        "groups": [{"value": value, "devices": count} for value, count in report.groups],
        "without": report.without,
        "unknown": report.unknown,
    }

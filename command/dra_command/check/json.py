"""Findings as the published JSON."""

from __future__ import annotations

from dra_command.check.contract import CheckOutput, ExemptedRow, SkippedRuleRow
from dra_command.claim_report.joint_fix_json import joint_fix_row
from dra_command.findings.check_result import CheckResult
from dra_command.findings.json import finding_row


def check_json(checked: CheckResult) -> str:
    """Return the findings as indented JSON."""
    output = CheckOutput(
        verdict=checked.verdict,
        diagnostics=[finding_row(each) for each in checked.diagnostics],
        kubernetes=checked.kubernetes,
        judged=list(checked.judged),
        skipped=[SkippedRuleRow(rule=each.rule, why=each.reason) for each in checked.skipped],
        exempted=[
            ExemptedRow(
                code=each.finding.code,
                file=each.finding.place.file,
                line=each.finding.place.line,
                message=each.finding.message,
                reason=each.reason,
                by=str(each.by),
            )
            for each in checked.exempted
        ],
        workloads=checked.workloads,
        known=checked.known,
        joint_fix=None if checked.plan is None else joint_fix_row(checked.plan.joint_fix),
    )
    absent = {"joint_fix"} if output.joint_fix is None else None
    return output.model_dump_json(indent=2, exclude=absent)

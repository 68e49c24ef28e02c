"""Findings as the published JSON."""

from __future__ import annotations

from dra_command.checked import Checked
from dra_command.contract import CheckOutput
from dra_command.contract.check import ExemptedRow, SkippedRule
from dra_command.formats.plan_json import finding


def check_json(checked: Checked) -> str:
    """Return the findings as indented JSON."""
    output = CheckOutput(
        verdict=checked.verdict,
        diagnostics=[finding(each) for each in checked.diagnostics],
        kubernetes=checked.kubernetes,
        judged=list(checked.judged),
        skipped=[SkippedRule(rule=each.rule, why=each.why) for each in checked.skipped],
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
    )
    return output.model_dump_json(indent=2)

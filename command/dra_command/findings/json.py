"""A finding as a row of the published JSON."""

from __future__ import annotations

from dra_command.findings.contract import DiagnosticRow
from dra_planner.errors import Diagnostic


def finding_row(diagnostic: Diagnostic) -> DiagnosticRow:
    """Return a diagnostic as a row of the JSON contract."""
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

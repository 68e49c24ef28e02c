"""A finding in JSON answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output


class DiagnosticRow(Output):
    """One finding about one object."""

    severity: Literal["error", "warning", "note"]
    code: str
    file: str
    line: int = Field(description="Line number, starting at 1. 0 if unknown.")
    path: str = Field(description="Field path inside the object.")
    message: str
    fix: str

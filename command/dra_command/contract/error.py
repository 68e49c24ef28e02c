"""Output of every subcommand if the input is invalid."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output


class FaultRow(Output):
    """An error in the input, with a fix."""

    file: str
    line: int
    path: str
    message: str
    fix: str


class ErrorOutput(Output):
    """Output of every subcommand with --format json if the input is invalid."""

    version: Literal[1] = 1
    error: FaultRow
    others: list[FaultRow] = Field(
        default_factory=list, description="Other errors in the same input."
    )

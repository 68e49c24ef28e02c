"""Answer of every subcommand when the input is wrong."""

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
    """Answer of every subcommand with --format json when the input is wrong."""

    version: Literal[1] = 1
    error: FaultRow
    others: list[FaultRow] = Field(
        default_factory=list, description="Other faults in the same input."
    )

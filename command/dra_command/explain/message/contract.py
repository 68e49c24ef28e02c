"""Output of `pulumi-dra explain --message`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output


class RecognizedRow(Output):
    """A known message within the text."""

    id: str
    where: str = Field(description="Program that prints the message.")
    words: str = Field(description="Part of the text that identifies the message.")
    nodes: int | None = Field(description="Number of nodes, if the text contains it.")
    cause: str
    fix: str
    source: str


class MessagesOutput(Output):
    """Output of `pulumi-dra explain --message --format json`. It's empty if the text doesn't
    contain a known message.
    """

    version: Literal[1] = 1
    messages: list[RecognizedRow]

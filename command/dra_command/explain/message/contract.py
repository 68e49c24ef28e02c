"""Answer of `pulumi-dra explain --message`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output


class RecognizedRow(Output):
    """A known message within the text."""

    id: str
    where: str = Field(description="Who says it.")
    words: str = Field(description="The words of the text that told it.")
    nodes: int | None = Field(description="On how many nodes, where the text counts them.")
    cause: str
    fix: str
    source: str


class MessagesOutput(Output):
    """Answer of `pulumi-dra explain --message --format json`; empty where no message in the text is known."""

    version: Literal[1] = 1
    messages: list[RecognizedRow]

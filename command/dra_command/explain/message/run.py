"""`pulumi-dra explain --message TEXT`: explain a message of Kubernetes, a driver, or a chart, with
its fix.
"""

from __future__ import annotations

import argparse
import sys
from typing import Final

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.explain.message.contract import MessagesOutput, RecognizedRow
from dra_command.pens.terminal.page import Page
from dra_planner.catalog.messages import (
    Recognized,
    messages,
    nearest,
    recognize,
    unrecognized_reasons,
)

_NEXT_STEPS: Final = (
    "to find out if the pod fits: pulumi-dra explain PATH --fleet FILE --pod NAMESPACE/POD",
    "to explain all events of the pod: pulumi-dra explain --events NAMESPACE/POD --context NAME",
    "for other causes: https://kubernetes.io/docs/tasks/debug/debug-application/debug-pods/",
)


def explain_message(values: argparse.Namespace) -> int:
    """Print the meaning of the text. Return 3 if no message in it is known. Raises UsageError
    without a text.
    """
    text = sys.stdin.read() if values.message == "-" else values.message
    if not text.strip():
        raise UsageError(
            "--message is empty", fix='put the message in quotes: --message "0/3 nodes are …"'
        )
    return print_meanings(text, values.format)


def print_meanings(text: str, format: str) -> int:
    """Print the meaning of the messages in a text, as text or JSON. Return 3 if none is known."""
    found = recognize(text)
    if format == "json":
        print(_json(found))
    else:
        _print(found, text)
    return Status.FITS if found else Status.CANNOT_TELL


def _json(found: tuple[Recognized, ...]) -> str:
    rows = [
        RecognizedRow(
            id=each.message.id,
            where=each.message.where,
            words=each.words,
            nodes=each.nodes,
            cause=each.message.cause,
            fix=each.message.fix,
            source=each.message.stands_in,
        )
        for each in found
    ]
    return MessagesOutput(messages=rows).model_dump_json(indent=2)


def _print(found: tuple[Recognized, ...], text: str) -> None:
    with Page() as page:
        if not found:
            page.line(
                f"Unknown message: it doesn't match any of the {len(messages())} known messages."
            )
            for near in nearest(text):
                page.text(f"similar: {near.example} ({near.where})", indent=2, mark="· ")
            for step in _NEXT_STEPS:
                page.text(step, indent=2, mark="→ ")
        for number, each in enumerate(found):
            if number:
                page.gap()
            page.line((each.words, "bold"), f"  ({each.message.where})")
            page.text(each.message.cause, indent=2)
            page.text(each.message.fix, indent=2, mark="→ ")
        if others := unrecognized_reasons(text, found) if found else ():
            page.gap()
            page.line(f"not among the known messages: {', '.join(others)}")

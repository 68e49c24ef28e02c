"""Messages of Kubernetes, drivers, Helm, and autoscalers about claims that don't work, with their
causes and fixes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from msgspec import Struct

from dra_planner.catalog.tables import read_table

_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\u00a0": " "})
_COMMAND: Final = re.compile(r"`((?:pulumi-dra|kubectl|helm) [^`]+)`")
_SPACE: Final = re.compile(r"\s+")
_WORD: Final = re.compile(r"[A-Za-z]{4,}")
_REASONS: Final = re.compile(r"(?<!preemption: )\b\d+/\d+ nodes are available: (.+?)(?:\. |\.?$)")
_NEXT_REASON: Final = re.compile(r", (?=\d+ )")
_NEAR: Final = 0.4
"""Minimum share of a text's words that a similar message must contain."""


class Message(Struct, frozen=True):
    """One message: the program that prints it, an example, the cause, and the fix.

    `pattern` finds it in longer texts. Commands in `fix` are in backticks. Without a command,
    `nothing_to_run` explains why.
    """

    id: str
    where: str
    example: str
    pattern: re.Pattern[str]
    cause: str
    fix: str
    nothing_to_run: str
    stands_in: str  # file, issue, or type that contains the message
    source: str


class Recognized(Struct, frozen=True):
    """A known message in a text: the matching words, and the number of nodes if the text contains
    it.
    """

    message: Message
    words: str
    nodes: int | None = None


@cache
def messages() -> tuple[Message, ...]:
    """Return every known message, in the order in which a pod encounters the programs that print
    the messages.
    """
    return tuple(
        Message(
            row["id"],
            row["where"],
            row["example"],
            re.compile(row["pattern"], re.IGNORECASE),
            row["cause"],
            row["fix"],
            row["nothing_to_run"],
            row["stands_in"],
            row["source"],
        )
        for row in read_table("messages")
    )


def commands(message: Message) -> tuple[str, ...]:
    """Return the commands in a message's fix, in order. Words in capitals are placeholders."""
    return tuple(_COMMAND.findall(message.fix))


def recognize(text: str) -> tuple[Recognized, ...]:
    """Return the known messages in a text, in the order of the text. Line breaks, quotes, and shell
    escapes don't matter.
    """
    plain = _SPACE.sub(" ", text.translate(_QUOTES).replace('\\"', '"'))
    found: list[tuple[int, Recognized]] = []
    for message in messages():
        match = message.pattern.search(plain)
        if match is not None:
            counted = match.groupdict().get("nodes")
            found.append(
                (match.start(), Recognized(message, match[0], int(counted) if counted else None))
            )
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def unrecognized_reasons(text: str, found: Iterable[Recognized]) -> tuple[str, ...]:
    """Return the reasons of a scheduler's message ("0/3 nodes are available: …") that no known
    message explains.
    """
    plain = _SPACE.sub(" ", text.translate(_QUOTES))
    explained = [each.words for each in found]
    return tuple(
        reason
        for listed in _REASONS.findall(plain)
        for reason in _NEXT_REASON.split(listed)
        if not any(words in reason or reason in words for words in explained)
    )


def nearest(text: str, most: int = 3) -> tuple[Message, ...]:
    """Return the known messages that share the most words with an unknown text, starting with the
    nearest.
    """
    words = {each.lower() for each in _WORD.findall(text)}
    shared = [
        (len(words & {each.lower() for each in _WORD.findall(message.example)}), message)
        for message in messages()
    ]
    near = [pair for pair in shared if pair[0] >= 2 and pair[0] >= _NEAR * len(words)]
    near.sort(key=lambda pair: -pair[0])
    return tuple(message for _, message in near[:most])

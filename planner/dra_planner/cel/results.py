"""Results of compiling a selector, evaluating it on a device, and explaining it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Path = tuple[str, ...]
"""A path that a selector reads: `("driver",)`, `("attributes", domain, name)`, and so on. A prefix
stands for everything below it.
"""

Kind = Literal["syntax", "type", "length", "depth", "cost", "unsupported"]
Verdict = Literal["match", "no-match", "error", "unknown"]


class RejectedSelector(Struct, frozen=True):
    """A selector that doesn't compile. `message` is the stable part of upstream's message, `offset`
    is the position in the expression, and `fix` is the suggested expression, or None.
    """

    text: str
    kind: Kind
    message: str
    offset: int = 0
    fix: str | None = None


class SelectorOutcome(Struct, frozen=True):
    """The outcome of a selector on a device, and the cost of the evaluation.

    `message` is the error, or the values on which an unknown outcome depends. Otherwise, it's
    empty.
    """

    verdict: Verdict
    message: str = ""
    cost: int = 0


class ValuesAt(Struct, frozen=True):
    """The values of the devices at a path: each value as text with its number of devices, most
    frequent first.

    `absent` is the number of devices without a value, and `unknown` is the number of devices whose
    value is known only at run time.
    """

    path: Path
    values: tuple[tuple[str, int], ...]
    absent: int = 0
    unknown: int = 0


class SelectorTerm(Struct, frozen=True):
    """One of the conditions that must all be true. Counts are numbers of devices.

    `wanted` is the constant with which the term compares, and `nearest` is the nearest value of a
    device that fails. Both are empty if they don't exist. `error` is the message of the first
    error.
    """

    text: str
    matching: int
    failing: int
    erring: int
    unknown: int
    reads: tuple[ValuesAt, ...]
    wanted: str = ""
    nearest: str = ""
    error: str = ""


class SelectorExplanation(Struct, frozen=True):
    """The number of devices by outcome, the terms, and warnings as sentences."""

    text: str
    verdicts: tuple[tuple[str, int], ...]
    terms: tuple[SelectorTerm, ...]
    warnings: tuple[str, ...]

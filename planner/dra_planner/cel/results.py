"""What compiling a selector, evaluating it on a device and explaining it give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Path = tuple[str, ...]
"""What is read of a device: `("driver",)`, `("attributes", domain, name)` and the like; a prefix is
all below it.
"""

Kind = Literal["syntax", "type", "length", "depth", "cost", "unsupported"]
Verdict = Literal["match", "no-match", "error", "unknown"]


@dataclass(frozen=True, slots=True)
class RejectedSelector:
    """A selector that does not compile.

    `message` is upstream's in its stable part, `offset` the place in the expression, `fix` what to
    write instead (None where nothing better is known).
    """

    text: str
    kind: Kind
    message: str
    offset: int = 0
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class SelectorOutcome:
    """What a selector says of a device, and the cost of finding out.

    `message` says what an error is, or which values an unknown outcome depends on; else it is
    empty.
    """

    verdict: Verdict
    message: str = ""
    cost: int = 0


@dataclass(frozen=True, slots=True)
class ValuesAt:
    """What the devices have at a path: the value as a string and how many devices have it, most
    frequent first.

    `absent` is how many devices have nothing there, `unknown` for how many the value is known at
    run time only.
    """

    path: Path
    values: tuple[tuple[str, int], ...]
    absent: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class SelectorTerm:
    """One of the conditions that must all hold.

    Counts are devices. `wanted` is the constant that the term compares with, `nearest` the value of
    a device that comes nearest to it among those that fail; empty where there is no such thing.
    `error` is the first error's message.
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


@dataclass(frozen=True, slots=True)
class SelectorExplanation:
    """Counts of devices by verdict, the terms, and warnings in sentences."""

    text: str
    verdicts: tuple[tuple[str, int], ...]
    terms: tuple[SelectorTerm, ...]
    warnings: tuple[str, ...]

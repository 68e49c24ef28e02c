"""What `check` answers with, whatever was checked: the formats word it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dra_planner.errors import Diagnostic, Place
from dra_planner.model import Verdict


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that had nothing to look at, and what it would need."""

    rule: str
    why: str


@dataclass(frozen=True, slots=True)
class Exempted:
    """A finding that somebody has accepted: why, and where that is written."""

    finding: Diagnostic
    reason: str
    by: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found; errors first, then by place. `verdict` is *fits* where nothing is wrong.

    `passed` is what to say where nothing was found. `judged` are the rules that had something to look at, by id, and
    `skipped` the others; `kubernetes` is the release that was judged for. `exempted` are findings that do not count.
    """

    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]
    workloads: int
    passed: str
    kubernetes: str = ""
    judged: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    exempted: tuple[Exempted, ...] = ()


def order_findings(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return findings in the order in which they are told: errors first, then by place."""
    order = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(found, key=lambda each: (order[each.severity], each.place, each.code, each.message)))

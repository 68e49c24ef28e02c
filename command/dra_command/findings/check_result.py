"""What `check` answers with, whatever was checked: the formats word it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dra_planner.errors import Diagnostic, Place
from dra_planner.model import Verdict
from dra_planner.wording import counted


@dataclass(frozen=True, slots=True)
class SkippedRule:
    """A rule that had nothing to look at, and what it would need."""

    rule: str
    why: str


@dataclass(frozen=True, slots=True)
class ExemptedFinding:
    """A finding that somebody has accepted: why, and where that is written."""

    finding: Diagnostic
    reason: str
    by: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What was found; errors first, then by place. `verdict` is *fits* where nothing is wrong.

    `passed` is what to say where nothing was found. `judged` are the rules that had something to look at, by id, and
    `skipped` the others; `kubernetes` is the release that was judged for. `exempted` are findings that do not count;
    `known` says how many were there before and are not told again.
    """

    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]
    workloads: int
    passed: str
    kubernetes: str = ""
    judged: tuple[str, ...] = ()
    skipped: tuple[SkippedRule, ...] = ()
    exempted: tuple[ExemptedFinding, ...] = ()
    known: int = 0

    @property
    def not_told(self) -> str:
        """How many findings are not told, as the end of a sentence; "" for none."""
        said = [f"{counted(len(self.exempted), 'finding')} exempted"] if self.exempted else []
        said += [f"{counted(self.known, 'finding')} known before"] if self.known else []
        return "".join(f"; {each}" for each in said)


def summary(checked: CheckResult) -> str:
    """Return how many findings there are of each severity, as a sentence; what that means where there is none."""
    by_severity = Counter(each.severity for each in checked.diagnostics)
    if not by_severity:
        return checked.passed
    said = (counted(by_severity[name], name) for name in ("error", "warning", "note") if by_severity[name])
    return f"{', '.join(said)}{checked.not_told}."


def order_findings(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return findings in the order in which they are told: errors first, then by place."""
    order = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(found, key=lambda each: (order[each.severity], each.place, each.code, each.message)))

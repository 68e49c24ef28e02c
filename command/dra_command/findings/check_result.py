"""The result of `check` for any input, which each format prints."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from dra_planner.errors import Diagnostic, Place
from dra_planner.model import Verdict
from dra_planner.plan import Plan
from dra_planner.records import equality


class SkippedRule(Struct, frozen=True):
    """A rule that had no objects to check, and the input that it needs."""

    rule: str
    reason: str


class ExemptedFinding(Struct, frozen=True):
    """An accepted finding, with the reason and the location of its exemption."""

    finding: Diagnostic
    reason: str
    by: Place


@equality(ignored=("plan",))
class CheckResult(Struct, frozen=True, kw_only=True):
    """Findings, with errors first, then ordered by place.

    `verdict` is *fits* if nothing is wrong. `passed` is the sentence for a result without findings,
    or "" for the sentence of the rules. `judged` are the IDs of the rules that had something to
    check, and `skipped` are the other rules. `kubernetes` is the version. `is_newest` is set if the
    version is the newest known one, because no input sets a version. `exempted` are findings that
    don't count, and `known` is the number of findings that a baseline leaves out. `plan` is the
    plan that the rules used, or None if only some rules were selected. `stack` is the checked
    stack, or "", and `fleet_file` is the file of the stack or fleet, or "". `accepts_misfits` is
    set if workloads don't fit, but a baseline or exemptions accept it.
    """

    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]
    workloads: int
    passed: str = ""
    kubernetes: str = ""
    is_newest: bool = False
    judged: tuple[str, ...] = ()
    skipped: tuple[SkippedRule, ...] = ()
    exempted: tuple[ExemptedFinding, ...] = ()
    known: int = 0
    stack: str = ""
    fleet_file: str = ""
    accepts_misfits: bool = False
    plan: Plan | None = None


def order_findings(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return findings in the order of reports: errors first, then by place."""
    order = {"error": 0, "warning": 1, "note": 2}
    return tuple(
        sorted(found, key=lambda each: (order[each.severity], each.place, each.code, each.message))
    )

"""Findings that count, and accepted findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from dra_command.findings.check_result import ExemptedFinding
from dra_planner.errors import Diagnostic
from dra_policies.rules import Finding, Rule

RuleFinding = tuple[Rule, Finding]
FITTING = frozenset(
    {
        "claim-fits-no-pool",
        "pool-maximum-too-small",
        "claim-cannot-be-judged",
        "pod-fits-no-system-pool",
    }
)
"""The rules that report what a plan's verdict depends on."""


class ActiveFindings(Struct, frozen=True):
    """Findings that count, accepted findings, and findings about exemptions."""

    rule_findings: tuple[RuleFinding, ...]
    read: tuple[Diagnostic, ...]
    exempted: tuple[ExemptedFinding, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()


def is_accepted(
    accepted: Iterable[str], levels: Mapping[str, str], found: Iterable[Diagnostic]
) -> bool:
    """Return whether none of the findings that decide a plan's verdict is an error. `accepted` are
    the codes of findings that don't count, and `levels` are the severities that a project sets.
    """
    loose = {*accepted, *(rule for rule, level in levels.items() if level != "mandatory")}
    return bool(loose & FITTING) and not any(
        each.code in FITTING and each.severity == "error" for each in found
    )

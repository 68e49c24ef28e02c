"""Findings that count, beside those that somebody accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dra_command.checked import Exempted
from dra_planner.errors import Diagnostic
from dra_policies.rules import Finding, Rule

Told = tuple[Rule, Finding]
FITTING = frozenset({"claim-fits-no-pool", "pool-maximum-too-small", "claim-cannot-be-judged"})
"""The rules that tell what the verdict of a plan rests on."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Findings that count, those that somebody accepted, and what is to be said of exemptions."""

    told: tuple[Told, ...]
    read: tuple[Diagnostic, ...]
    exempted: tuple[Exempted, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()

    def settles(self, levels: Mapping[str, str]) -> bool:
        """Return whether what a plan's verdict rests on is accepted, given the levels that a project sets: none of it
        is an error any more.
        """
        accepted = {each.finding.code for each in self.exempted}
        accepted |= {rule for rule, level in levels.items() if level != "mandatory"}
        return bool(accepted & FITTING) and not any(
            rule.id in FITTING and rule.level == "mandatory" and finding.certain for rule, finding in self.told
        )

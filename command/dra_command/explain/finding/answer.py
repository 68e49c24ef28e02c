"""The answer of `explain --finding` for one finding, which the formats print."""

from __future__ import annotations

from dataclasses import dataclass

from dra_planner.errors import Diagnostic
from dra_planner.plan.explanation.pods import PodExplanation
from dra_policies.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingExplanation:
    """A finding, its rule if it has one, and the pods described at its place."""

    finding: Diagnostic
    rule: Rule | None
    pods: tuple[PodExplanation, ...]

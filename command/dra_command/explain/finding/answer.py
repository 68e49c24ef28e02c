"""The answer of `explain --finding` for one finding, which the formats print."""

from __future__ import annotations

from msgspec import Struct

from dra_planner.errors import Diagnostic
from dra_planner.plan.explanation.pods import PodExplanation
from dra_policies.rules import Rule


class FindingExplanation(Struct, frozen=True, kw_only=True):
    """A finding, the rule that it violates (if any), and the pods described at its location."""

    finding: Diagnostic
    rule: Rule | None
    pods: tuple[PodExplanation, ...]

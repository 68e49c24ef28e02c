"""The answer of `explain --finding` for one finding, which the formats print."""

from __future__ import annotations

from msgspec import Struct

from dra_planner.errors import Diagnostic
from dra_planner.plan.explanation.pods import PodExplanation
from dra_policies.rules import Rule


class FindingExplanation(Struct, frozen=True, kw_only=True):
    """A finding, its rule if it has one, and the pods described at its place."""

    finding: Diagnostic
    rule: Rule | None
    pods: tuple[PodExplanation, ...]

"""What `explain --finding` says of one finding: the formats word it."""

from __future__ import annotations

from dataclasses import dataclass

from dra_planner.errors import Diagnostic
from dra_planner.plan.explanation.pods import PodExplanation
from dra_policies.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingExplanation:
    """A finding, the rule that it breaks where it is one of ours, and the pods described where it
    was found.
    """

    finding: Diagnostic
    rule: Rule | None
    pods: tuple[PodExplanation, ...]

"""A claim that requests more devices than one allocation can hold."""

from __future__ import annotations

from dra_planner.plan.blockers.device_counts import MOST_DEVICES, find_oversized_claims
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="claim-asks-for-too-many-devices",
    description=f"A claim requests more than {MOST_DEVICES} devices.",
    why="The API server accepts the claim, but the scheduler always rejects it.",
    fix="Split the request into multiple claims.",
    level="mandatory",
    check=planner_check("claim-asks-for-too-many-devices", find_oversized_claims),
)

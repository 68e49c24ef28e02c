"""A claim that exceeds the quotas of its namespace, so that it can't be created."""

from __future__ import annotations

from dra_planner.plan.blockers.claim_quotas import find_denied_claims
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="claim-exceeds-quota",
    description="A ResourceClaim exceeds the quotas of its namespace.",
    why="The API server rejects the claim, and pods that use it stay pending.",
    fix="Raise the quota, or request fewer devices.",
    level="mandatory",
    check=planner_check("claim-exceeds-quota", find_denied_claims),
)

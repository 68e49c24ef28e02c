"""A container uses a request that its claim doesn't contain."""

from __future__ import annotations

from dra_planner.plan.blockers.containers import find_missing_requests
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="request-not-in-claim",
    description="A container uses a request that its claim doesn't contain.",
    why="The API server doesn't check request names, so the container starts without the "
    "device, or the pod doesn't start.",
    fix=(
        "Use the name of a request in the claim, or omit the request name to get all devices of "
        "the claim."
    ),
    level="mandatory",
    check=planner_check("request-not-in-claim", find_missing_requests),
)

"""A container uses a request that its claim does not have."""

from __future__ import annotations

from dra_planner.plan.hindrances.containers import find_missing_requests
from dra_policies.rules.hindrances import tell
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="request-not-in-claim",
    says="Containers use requests that their claims have.",
    why="The API server does not compare the two: the container starts without the device, or the pod does not start.",
    fix="Write the name of a request of the claim, or leave it out for all its devices.",
    level="mandatory",
    check=tell("request-not-in-claim", find_missing_requests),
)

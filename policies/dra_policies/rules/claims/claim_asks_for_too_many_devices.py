"""A claim that asks for more devices than one allocation can hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.written import alternatives, written_claims
from dra_planner.model import ClaimSpec
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

MOST_DEVICES: Final = 32
"""Devices of one allocation: AllocationResultsMaxSize in kubernetes/api:resource/v1/types.go@v0.36.3."""


def check(view: StackView) -> Iterator[Finding]:
    for claim in written_claims(view.manifests) if view.manifests else ():
        least = least_devices(claim.spec)
        if least > MOST_DEVICES:
            yield Finding(
                message=f"{claim.title} requests at least {least} devices, and a claim can be given {MOST_DEVICES}",
                fix="spread them over several claims",
                place=claim.place,
            )


def least_devices(spec: ClaimSpec) -> int:
    """Return the fewest devices that can satisfy a claim: the smallest alternative of each request."""
    return sum(
        min((way.count if way.allocation_mode == "ExactCount" else 1 for way in alternatives(request)), default=0)
        for request in spec.requests
    )


RULE = Rule(
    id="claim-asks-for-too-many-devices",
    says=f"No claim requests more than {MOST_DEVICES} devices.",
    why="The API server accepts it, and the scheduler refuses it for ever.",
    fix="Spread the devices over several claims.",
    level="mandatory",
    check=check,
)

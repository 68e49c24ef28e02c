"""Claims for more devices than one allocation can hold. The API server admits them, but the
scheduler never allocates them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.manifest_claims import written_claims
from dra_planner.model import ClaimSpec
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation

MOST_DEVICES: Final = 32
"""Maximum number of devices in one allocation: AllocationResultsMaxSize in
kubernetes/api:resource/v1/types.go@v0.36.3.
"""


def find_oversized_claims(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield claims and templates that no node can satisfy, regardless of its devices."""
    for claim in written_claims(situation.manifests):
        least = least_devices(claim.spec)
        if least > MOST_DEVICES:
            yield Blocker(
                code="claim-asks-for-too-many-devices",
                message=f"{claim.title} requests at least {least} devices, but the limit is "
                f"{MOST_DEVICES}",
                fix="split the claim into several claims",
                place=claim.place,
                workloads=claim.users,
            )


def least_devices(spec: ClaimSpec) -> int:
    """Return the minimum number of devices that can satisfy a claim, with each request's smallest
    alternative.
    """
    return sum(
        min(
            (
                way.count if way.allocation_mode == "ExactCount" else 1
                for way in request.alternatives
            ),
            default=0,
        )
        for request in spec.requests
    )

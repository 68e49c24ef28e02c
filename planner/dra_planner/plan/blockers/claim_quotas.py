"""ResourceClaims that exceed the quotas of their namespace, so that they can't be created."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims import QuotaRoom
from dra_planner.claims.manifest_claims import written_claims
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation


def find_denied_claims(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield every claim that a ResourceQuota denies."""
    manifests = situation.manifests
    if not manifests.quotas:
        return
    users = {claim.title: claim.users for claim in written_claims(manifests)}
    classes = {**situation.classes, **manifests.classes}
    for key, reason in QuotaRoom(manifests, classes, situation.features).denied_claims.items():
        yield Blocker(
            code="claim-exceeds-quota",
            message=f"ResourceClaim {key}: {reason.message}",
            fix=reason.fix,
            place=manifests.claims[key].meta.place,
            workloads=users.get(f"ResourceClaim {key}", ()),
        )

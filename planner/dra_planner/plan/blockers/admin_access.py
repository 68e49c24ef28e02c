"""Admin access to devices in a namespace whose labels are unknown.

The API server admits such claims only with the label. If the manifests contain the namespace
without the label, the reader already rejects the claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.manifest_claims import written_claims
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation

LABEL: Final = "resource.kubernetes.io/admin-access"


def find_unknown_admin_access(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield claims with admin access in namespaces that the manifests don't contain."""
    for claim in written_claims(situation.manifests):
        if not any(
            way.admin_access for request in claim.spec.requests for way in request.alternatives
        ):
            continue
        if claim.namespace not in situation.manifests.namespaces:
            yield Blocker(
                code="admin-access-unknown",
                message=f"{claim.title} requests admin access, but the manifests don't declare "
                f'namespace "{claim.namespace}", so it\'s unknown whether the namespace '
                f'has the required label {LABEL}: "true"',
                fix="if the users of the namespace should have access to all devices, declare the "
                f'namespace with the label {LABEL}: "true"',
                place=claim.place,
                workloads=claim.users,
                verdict="cannot-tell",
            )

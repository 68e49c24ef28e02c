"""Zones without available machines, and their effect on node pools."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

LOST_ZONE = "dra-sandbox:gcp:LostZone"
"""Kind of the stored zones without machines, by name."""


def has_machines(request: CloudRequest) -> str | None:
    """Reject nodes that can't be launched. Autoscaler limits don't start nodes.

    A count applies to each zone, so each zone must have machines
    (hashicorp/terraform-provider-google issue 6287 and pull request 10121; the message is in
    akka/akka-core issue 32992). The provider changes the count before the zones
    (google/services/container/resource_container_node_pool.go, nodePoolUpdate).
    """
    if request.inputs is None:
        return None
    before, wanted = request.before or {}, _per_zone(request.inputs, first=request.before is None)
    present, then = _per_zone(before, first=True), set(before.get("nodeLocations") or [])
    zones = set(request.inputs.get("nodeLocations") or [])
    if then and wanted > present:
        zones = then | zones
    elif then:
        zones -= then
    lost = sorted(zones & request.cloud.all(LOST_ZONE).keys())
    if not lost or not wanted:
        return None
    return (
        f"Google Compute Engine: Not all instances running in IGM after 35m0s. Expected {wanted}, "
        "running 0, "
        f"transitioning {wanted}. Current errors: [GCE_STOCKOUT]: Instance creation failed: The "
        "zone "
        f"'{'/'.join(request.identifier.split('/')[:2])}/zones/{lost[0]}' does not have "
        "enough resources available to fulfill the request. '(resource type:compute)'."
    )


def _per_zone(pool: Values, *, first: bool) -> int:
    """Return the current or initial number of nodes of the pool in each zone. The initial count
    only matters at creation.
    """
    count = pool.get("nodeCount")
    if count is None and first:
        count = pool.get("initialNodeCount")
    return int(count or 0)

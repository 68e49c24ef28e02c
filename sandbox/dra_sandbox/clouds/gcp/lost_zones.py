"""Zones in which no machine is to be had: what that does to node pools."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

LOST_ZONE = "dra-sandbox:gcp:LostZone"
"""Kind under which a cloud remembers zones without machines, by their names."""


def has_machines(request: CloudRequest) -> str | None:
    """Refuse nodes that cannot be launched; limits of the autoscaler ask for none.

    A count is one per zone, so that each zone must have machines
    (hashicorp/terraform-provider-google issue 6287 and pull request 10121, the sentence in
    akka/akka-core issue 32992). A change of the count reaches the cloud before one of the zones
    does (google/services/container/resource_container_node_pool.go, nodePoolUpdate).
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
    """How many nodes a zone of the pool has, or gets: the first count matters when the pool is
    made.
    """
    count = pool.get("nodeCount")
    if count is None and first:
        count = pool.get("initialNodeCount")
    return int(count or 0)

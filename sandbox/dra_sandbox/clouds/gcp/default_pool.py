"""The node pool `default-pool`, which GKE creates with a cluster."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest

POOL, NAME = "gcp:container/nodePool:NodePool", "default-pool"


def comes_and_goes(request: CloudRequest) -> None:
    """Create, remove, or keep the first pool when a cluster is created, changed, or deleted.

    If `remove_default_node_pool` changes to true, the pool of an existing cluster is removed with
    all its pods. Source:
    hashicorp/terraform-provider-google:google/services/container/resource_container_cluster.go
    (update), and issue 3064. All pools of a cluster are deleted with it.
    """
    if request.inputs is None:
        for identifier in request.cloud.all(POOL):
            if identifier.startswith(f"{request.identifier}/nodePools/"):
                request.cloud.drop(POOL, identifier)
        return
    first = f"{request.identifier}/nodePools/{NAME}"
    removed = bool(request.inputs.get("removeDefaultNodePool"))
    if request.before is None and request.inputs.get("initialNodeCount") and not removed:
        config = request.inputs.get("nodeConfig") or {}
        pool = {"name": NAME, "cluster": request.identifier, "nodeConfig": config}
        request.cloud.put(
            POOL, first, {**pool, "initialNodeCount": request.inputs["initialNodeCount"]}
        )
    elif request.before is not None and removed and not request.before.get("removeDefaultNodePool"):
        request.cloud.drop(POOL, first)

"""The node pool that GKE makes with a cluster, and what becomes of it: `default-pool`."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest

POOL, NAME = "gcp:container/nodePool:NodePool", "default-pool"


def comes_and_goes(request: CloudRequest) -> None:
    """Make, remove or leave the first pool, as a cluster is created, changed or deleted.

    A change of `remove_default_node_pool` to true removes it from a cluster that is there, with all
    that runs on it:
    hashicorp/terraform-provider-google:google/services/container/resource_container_cluster.go
    (update), and issue 3064. The pools of a cluster go with it.
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

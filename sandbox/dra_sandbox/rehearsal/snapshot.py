"""The current state of the rehearsed cluster, read from the API server as a snapshot for the
planner.
"""

from __future__ import annotations

from typing import Any, Final

from dra_sandbox.control_plane import ApiServer

Json = dict[str, Any]

NODES: Final = "/api/v1/nodes"
SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"
CLAIMS: Final = "/apis/resource.k8s.io/v1/resourceclaims"
PODS: Final = "/api/v1/pods"
_PATHS: Final = (
    "/api/v1/namespaces",
    NODES,
    "/apis/resource.k8s.io/v1/deviceclasses",
    SLICES,
    CLAIMS,
    "/apis/resource.k8s.io/v1/resourceclaimtemplates",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "/apis/node.k8s.io/v1/runtimeclasses",
    PODS,
)
_OWNERS: Final = (
    "/api/v1/resourcequotas",
    "/api/v1/limitranges",
    "/apis/policy/v1/poddisruptionbudgets",
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/replicasets",
    "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/daemonsets",
    "/apis/batch/v1/jobs",
)


def take_cluster(server: ApiServer) -> list[Json]:
    """Return all objects that affect pods. Raises Refused if the API server rejects a request."""
    return [item for path in (*_PATHS, *_OWNERS) for item in server.listed(path)[0]]


def take_pods_alone(server: ApiServer) -> list[Json]:
    """Return the cluster with every pod as a bare pod, so that each pod is evaluated under its own
    name.
    """
    return [_alone(item) for path in _PATHS for item in server.listed(path)[0]]


def without_nodes(cluster: list[Json], names: frozenset[str]) -> list[Json]:
    """Return the cluster without these nodes, their slices, their pods, and the devices of these
    pods.
    """
    lost = {
        (item["metadata"]["namespace"], item["metadata"]["name"])
        for item in cluster
        if item["kind"] == "Pod" and item["spec"].get("nodeName") in names
    }
    return [_freed(item, lost) for item in cluster if not _is_of(item, names)]


def _is_of(item: Json, names: frozenset[str]) -> bool:
    match item["kind"]:
        case "Node":
            return item["metadata"]["name"] in names
        case "Pod" | "ResourceSlice":
            return item["spec"].get("nodeName") in names
        case _:
            return False


def _freed(item: Json, lost: set[tuple[str, str]]) -> Json:
    """Return the object.

    The reservations of a claim for lost pods are removed, and also its devices if no other pod
    reserves the claim.
    """
    if item["kind"] != "ResourceClaim" or not item.get("status"):
        return item
    space, status = item["metadata"]["namespace"], item["status"]
    kept = [each for each in status.get("reservedFor", []) if (space, each.get("name")) not in lost]
    if len(kept) == len(status.get("reservedFor", [])):
        return item
    left = {
        name: value
        for name, value in status.items()
        if name not in ("reservedFor", *(() if kept else ("allocation",)))
    }
    return {**item, "status": {**left, "reservedFor": kept} if kept else left}


def _alone(item: Json) -> Json:
    if item["kind"] != "Pod":
        return item
    metadata = {
        name: value for name, value in item["metadata"].items() if name != "ownerReferences"
    }
    return {**item, "metadata": metadata}

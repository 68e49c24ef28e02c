"""Delete all workloads of a rehearsed cluster. Nodes, slices, classes, and daemon pods stay."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

from dra_sandbox.control_plane import ApiServer, NotReady
from dra_sandbox.rehearsal.cluster import DAEMON_LABEL
from dra_sandbox.rehearsal.snapshot import CLAIMS, PODS

_OWNERS: Final = (
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/daemonsets",
    "/apis/apps/v1/replicasets",
    "/apis/batch/v1/jobs",
    "/api/v1/replicationcontrollers",
)
_REST: Final = (
    "/apis/resource.k8s.io/v1/resourceclaimtemplates",
    "/api/v1/resourcequotas",
    "/api/v1/limitranges",
    "/apis/policy/v1/poddisruptionbudgets",
    "/api/v1/events",
)
_LOOK_EVERY_SECONDS: Final = 0.1


def clear_workloads(server: ApiServer, within_seconds: float = 120) -> None:
    """Delete all objects of workloads, and return when none of their pods and claims is left.

    Pods without a node are deleted first. Otherwise, the scheduler would retry them with the
    devices that the other pods release. If such a pod is deleted while the scheduler creates its
    claim, the devices stay allocated in the scheduler's memory (observed with extended resources on
    1.36.3: later workloads have one GPU less). Raises NotReady after `within_seconds`, and Refused
    if the API server rejects a request.
    """
    until = time.monotonic() + within_seconds
    while left := _left(server):
        if time.monotonic() > until:
            raise NotReady(f"{len(left)} workloads, pods, and claims weren't deleted in time")
        for each in left:
            server.delete(_path(each), at_once=True, alone=True)
        time.sleep(_LOOK_EVERY_SECONDS)
    for each in _listed(server, _REST):
        server.delete(_path(each))


def _left(server: ApiServer) -> list[dict[str, Any]]:
    """Return the next objects to delete: first controllers, then pending pods, then all
    other pods.
    """
    pods = [
        each
        for each in _listed(server, [PODS])
        if DAEMON_LABEL not in (each["metadata"].get("labels") or {})
    ]
    waiting = [each for each in pods if not each["spec"].get("nodeName")]
    return _listed(server, _OWNERS) or waiting or [*pods, *_listed(server, [CLAIMS])]


def _listed(server: ApiServer, paths: Iterable[str]) -> list[dict[str, Any]]:
    return [each for path in paths for each in server.listed(path)[0]]


def _path(item: dict[str, Any]) -> str:
    plural = f"{item['kind'].lower()}s"
    base = (
        f"/apis/{item['apiVersion']}" if "/" in item["apiVersion"] else f"/api/{item['apiVersion']}"
    )
    return f"{base}/namespaces/{item['metadata']['namespace']}/{plural}/{item['metadata']['name']}"

"""Takes all workloads off a rehearsed cluster; nodes, slices, classes and daemon pods stay."""

from __future__ import annotations

import time
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
    """Delete everything that workloads brought, and return when no pod or claim of theirs is left.

    Raises NotReady after `within_seconds`, Refused.
    """
    _delete(server, *_OWNERS)
    until = time.monotonic() + within_seconds
    while left := _left(server):
        if time.monotonic() > until:
            raise NotReady(f"{len(left)} pods and claims of workloads were not deleted in time")
        for path in left:
            server.delete(path, at_once=True)
        time.sleep(_LOOK_EVERY_SECONDS)
    _delete(server, *_REST)


def _left(server: ApiServer) -> list[str]:
    pods = [each for each in server.listed(PODS)[0] if DAEMON_LABEL not in (each["metadata"].get("labels") or {})]
    owners = [each for path in _OWNERS for each in server.listed(path)[0]]
    return [_path(each) for each in (*owners, *pods, *server.listed(CLAIMS)[0])]


def _delete(server: ApiServer, *paths: str) -> None:
    for path in paths:
        for each in server.listed(path)[0]:
            server.delete(_path(each))


def _path(item: dict[str, Any]) -> str:
    plural = f"{item['kind'].lower()}s"
    base = f"/apis/{item['apiVersion']}" if "/" in item["apiVersion"] else f"/api/{item['apiVersion']}"
    return f"{base}/namespaces/{item['metadata']['namespace']}/{plural}/{item['metadata']['name']}"

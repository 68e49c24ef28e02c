"""`python -m dra_sandbox.control_plane.kubelet`: simulate the kubelets of all nodes.

Bound pods become Running and Ready and stay so. Pods that are being deleted disappear immediately.
Containers don't run, so Jobs never complete.
"""

from __future__ import annotations

import argparse
import http.client
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, Final

import yaml

from dra_sandbox.control_plane.api import ApiRejection, ApiServer
from dra_sandbox.control_plane.kubeconfig import api_server_of
from dra_sandbox.control_plane.problems import ControlPlaneError

_PODS: Final = "/api/v1/pods"
_THREADS: Final = 4
_PAUSE_SECONDS: Final = 0.5  # pause between attempts while the API server is stopped
_FINISHED: Final = ("Succeeded", "Failed")
_CONDITIONS: Final = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")


def main() -> None:
    """Serve until a signal ends the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", required=True)
    with open(parser.parse_args().kubeconfig, encoding="utf-8") as file:
        server = api_server_of(yaml.safe_load(file))
    while True:
        try:
            serve(server)
        except (ControlPlaneError, ApiRejection, http.client.HTTPException, OSError, ValueError):
            time.sleep(_PAUSE_SECONDS)


def serve(server: ApiServer, is_ours: Callable[[str], bool] = lambda _node: True) -> None:
    """Update the status of all existing and new pods until the server ends the watch. `is_ours`
    returns True for the name of a node whose pods this process manages.
    """
    with ThreadPoolExecutor(_THREADS) as threads:
        pods, version = server.listed(_PODS)
        for pod in pods:
            threads.submit(_tend, server, pod, is_ours)
        for event, pod in server.watch(_PODS, version):
            if event != "DELETED":
                threads.submit(_tend, server, pod, is_ours)


def running_status(pod: Mapping[str, Any], now: str) -> dict[str, Any]:
    """Return the status of a pod whose containers are all running and ready. `now` is a timestamp
    of the API.
    """
    containers = pod["spec"]["containers"]
    return {
        "phase": "Running",
        "startTime": now,
        "conditions": [
            *(
                each
                for each in pod.get("status", {}).get("conditions", [])
                if each["type"] not in _CONDITIONS
            ),
            *({"type": name, "status": "True", "lastTransitionTime": now} for name in _CONDITIONS),
        ],
        "containerStatuses": [
            {
                "name": each["name"],
                "image": each.get("image", ""),
                "imageID": "",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": now}},
            }
            for each in containers
        ],
    }


def _tend(server: ApiServer, pod: Mapping[str, Any], is_ours: Callable[[str], bool]) -> None:
    metadata, status = pod["metadata"], pod.get("status", {})
    node = pod["spec"].get("nodeName")
    if not node or not is_ours(node):
        return
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
    try:
        if metadata.get("deletionTimestamp"):
            server.delete(path, at_once=True)
        elif status.get("phase") not in ("Running", *_FINISHED):
            server.patch_status(
                path, running_status(pod, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
            )
    except ApiRejection as refused:
        if refused.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            print(f"{path}: {refused}", flush=True)


if __name__ == "__main__":
    main()

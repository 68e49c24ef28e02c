"""Tells when the control plane has decided: nothing is queued, and every pod has a node or the scheduler's verdict."""

from __future__ import annotations

import contextlib
import http.client
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from dra_sandbox.control_plane import ApiServer, ControlPlane, NotReady
from dra_sandbox.control_plane.problems import tail
from dra_sandbox.rehearsal.following import Follower
from dra_sandbox.rehearsal.workloads import ANNOTATION

Json = dict[str, Any]

_QUIET_SECONDS: Final = 0.5
"""Without a change this long, nothing is on its way between the processes."""
_IDLE_SECONDS: Final = 4.0
"""Without a change this long, pods that were never judged are not going to be: something that they need is missing."""
_LOOK_EVERY_SECONDS: Final = 0.25
_QUEUES: Final = ("deployment", "replicaset", "statefulset", "daemonset", "job", "replicationmanager", "resource_claim")
_PENDING: Final = re.compile(r'^scheduler_pending_pods\{queue="(active|backoff)"\} (\S+)', re.MULTILINE)
_DEPTH: Final = re.compile(r'^workqueue_depth\{name="([^"]+)"\} (\S+)', re.MULTILINE)
_KNOWN_NODES: Final = re.compile(r'^scheduler_cache_size\{type="nodes"\} (\S+)', re.MULTILINE)
_VERDICTS: Final = ("Unschedulable", "SchedulingGated")


class Decisions:
    """The pods and claims of a cluster as they are decided."""

    def __init__(self, plane: ControlPlane) -> None:
        server = ApiServer.of(plane)
        self._plane = plane
        self._context = ssl.create_default_context()
        self._context.check_hostname, self._context.verify_mode = False, ssl.CERT_NONE  # ours, on loopback, no secret
        self._changed = threading.Event()
        self._last = time.monotonic()
        self._pods = Follower(server, "/api/v1/pods", self._note)
        self._claims = Follower(server, "/apis/resource.k8s.io/v1/resourceclaims", self._note)

    @property
    def pods(self) -> list[Json]:
        """The pods of workloads, those that came first first."""
        return [pod for pod in self._pods.objects() if ANNOTATION in pod["metadata"].get("annotations", {})]

    @property
    def claims(self) -> list[Json]:
        """All claims."""
        return self._claims.objects()

    def wait_for_nodes(self, count: int, within_seconds: float) -> None:
        """Return when the scheduler knows so many nodes. Raises NotReady after `within_seconds`."""
        until = time.monotonic() + within_seconds
        while time.monotonic() < until:
            with contextlib.suppress(OSError, http.client.HTTPException):
                known = _KNOWN_NODES.search(self._metrics(self._plane.ports.scheduler))
                if known is not None and float(known[1]) >= count:
                    return
            time.sleep(_LOOK_EVERY_SECONDS)
        raise NotReady(f"kube-scheduler did not see {count} nodes in time:{tail(self._plane.log('kube-scheduler'))}")

    def wait(self, is_complete: Callable[[list[Json]], bool], within_seconds: float) -> bool:
        """Return when all is decided: True; or after `within_seconds`: False.

        `is_complete` says whether the pods are all that workloads are to have. When some are missing, or cannot be
        judged, all is decided once nothing happens any more.
        """
        until = time.monotonic() + within_seconds
        self._note()
        while time.monotonic() < until:
            self._changed.wait(_LOOK_EVERY_SECONDS)
            self._changed.clear()
            quiet = time.monotonic() - self._last
            if quiet >= _QUIET_SECONDS and not self._is_queued():
                pods = self.pods
                if (is_complete(pods) and all(map(is_judged, pods))) or quiet >= _IDLE_SECONDS:
                    return True
        return False

    def stop(self) -> None:
        """Follow no longer."""
        self._pods.stop()
        self._claims.stop()

    def _note(self) -> None:
        self._last = time.monotonic()
        self._changed.set()

    def _is_queued(self) -> bool:
        """Whether the scheduler or a controller has work; what does not answer is taken to have some."""
        try:
            pending = _PENDING.findall(self._metrics(self._plane.ports.scheduler))
            depths = _DEPTH.findall(self._metrics(self._plane.ports.controller_manager))
        except (OSError, http.client.HTTPException):
            return True
        return any(_positive(pending)) or any(_positive(pair for pair in depths if pair[0] in _QUEUES))

    def _metrics(self, port: int) -> str:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=self._context)
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode("utf-8", "replace")
        finally:
            connection.close()


def is_judged(pod: Json) -> bool:
    """Whether a pod has a node, or the scheduler has said why it has none."""
    return bool(pod["spec"].get("nodeName")) or scheduled_condition(pod).get("reason") in _VERDICTS


def scheduled_condition(pod: Json) -> Json:
    """Return the pod's condition PodScheduled; empty where it has none."""
    conditions = pod.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == "PodScheduled"), {})


def _positive(pairs: Any) -> Iterator[bool]:
    return (float(value) > 0 for _, value in pairs)

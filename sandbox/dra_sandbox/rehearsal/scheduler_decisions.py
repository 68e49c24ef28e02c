"""Detect when the control plane has decided: all queues are empty, and every pod has a node or a
reason from the scheduler.
"""

from __future__ import annotations

import contextlib
import http.client
import re
import ssl
import threading
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

from dra_sandbox.control_plane import ApiServer, ControlPlane, NotReady
from dra_sandbox.control_plane.problems import tail
from dra_sandbox.control_plane.tls import tls_context
from dra_sandbox.rehearsal.collection_watch import Follower
from dra_sandbox.rehearsal.controller_delays import seconds_to_replacement
from dra_sandbox.rehearsal.snapshot import NODES
from dra_sandbox.rehearsal.workloads import ANNOTATION

Json = dict[str, Any]

_QUIET_SECONDS: Final = 0.5
"""After this time without a change, no change is in transit between the processes."""
_QUIET_SECONDS_BLIND: Final = 3.0
"""The same limit if the queues of the processes can't be read."""
_RETRIED_SECONDS: Final = 11.0
"""If nothing changes for this long, the scheduler has failed again with the same error: it retries
such pods after at most 10 seconds (podMaxBackoffSeconds) as long as they exist.
"""
_NOT_READY: Final = "node.kubernetes.io/not-ready"
_IDLE_SECONDS: Final = 4.0
"""After this time without a change, the scheduler won't evaluate the remaining pods, because an
object that they need is missing.
"""
_LATE_SECONDS: Final = 30.0
"""Maximum delay of the Job controller beyond its backoff on a busy machine."""
_LOOK_EVERY_SECONDS: Final = 0.25
_QUEUES: Final = (
    "deployment",
    "replicaset",
    "statefulset",
    "daemonset",
    "job",
    "replicationmanager",
    "resource_claim",
)
_PENDING: Final = re.compile(
    r'^scheduler_pending_pods\{queue="(active|backoff)"\} (\S+)', re.MULTILINE
)
_DEPTH: Final = re.compile(r'^workqueue_depth\{name="([^"]+)"\} (\S+)', re.MULTILINE)
_KNOWN_NODES: Final = re.compile(r'^scheduler_cache_size\{type="nodes"\} (\S+)', re.MULTILINE)
_VERDICTS: Final = ("Unschedulable", "SchedulingGated")
_ERROR: Final = "SchedulerError"


class Decisions:
    """The pods and claims of a cluster, and whether the scheduler has decided about them. `load`
    reads the queues, if that is possible.
    """

    def __init__(self, server: ApiServer, load: PendingWork | None) -> None:
        self._server, self._load = server, load
        self._quiet = _QUIET_SECONDS if load is not None else _QUIET_SECONDS_BLIND
        self._changed = threading.Event()
        self._last = time.monotonic()
        self._pods = Follower(server, "/api/v1/pods", self._note)
        self._claims = Follower(server, "/apis/resource.k8s.io/v1/resourceclaims", self._note)

    @property
    def pods(self) -> list[Json]:
        """The pods of workloads, in the order of their arrival."""
        return [
            pod
            for pod in self._pods.objects()
            if ANNOTATION in pod["metadata"].get("annotations", {})
        ]

    @property
    def claims(self) -> list[Json]:
        """All claims."""
        return self._claims.objects()

    def wait_for_nodes(self, count: int, within_seconds: float) -> None:
        """Return when the scheduler knows this number of nodes. Raises NotReady after
        `within_seconds`.
        """
        until = time.monotonic() + within_seconds
        while time.monotonic() < until:
            if self._known_nodes() >= count:
                return
            time.sleep(_LOOK_EVERY_SECONDS)
        reason = self._load.words if self._load is not None else ""
        raise NotReady(f"kube-scheduler didn't add {count} nodes to its cache in time:{reason}")

    def _known_nodes(self) -> int:
        """Return the number of nodes that the scheduler knows. If the scheduler can't be asked,
        return the number of ready nodes.
        """
        if self._load is not None:
            return self._load.known_nodes()
        return sum(
            1
            for each in self._server.listed(NODES)[0]
            if not each["spec"].get("taints") or _is_usable(each)
        )

    def wait(self, is_complete: Callable[[list[Json]], bool], within_seconds: float) -> bool:
        """Return True when the scheduler has decided about every pod, or False after
        `within_seconds`. `is_complete` returns True if all pods of the workloads exist. If some are
        missing or can't be evaluated, the method returns True when the cluster no longer changes.
        On a busy machine, the sandbox's kubelets can be late, so the method waits until they have
        started all bound pods.
        """
        until = time.monotonic() + within_seconds
        self._note()
        while time.monotonic() < until:
            self._changed.wait(_LOOK_EVERY_SECONDS)
            self._changed.clear()
            quiet = time.monotonic() - self._last
            if quiet >= self._quiet:
                pods = self.pods
                # An error that the scheduler had only once can be temporary.
                is_final = is_failing if quiet >= _RETRIED_SECONDS else _never
                if self._load is not None and self._load.is_queued(
                    besides=sum(map(is_final, pods))
                ):
                    continue
                if is_complete(pods) and all(is_judged(pod) or is_final(pod) for pod in pods):
                    return True
                if self._load is not None and any(map(_awaits_kubelet, pods)):
                    continue
                idle = quiet - self._quiet - _IDLE_SECONDS
                if idle >= 0 and idle >= self._longest_replacement():
                    return True
        return False

    def _longest_replacement(self) -> float:
        backoff = seconds_to_replacement(self._server)
        return backoff + _LATE_SECONDS if backoff else 0.0

    def wait_for_retry(self, pods: Collection[tuple[str, str]], within_seconds: float) -> None:
        """Return when all these pods (by namespace and name) have nodes or are deleted, or after
        `within_seconds`.
        """
        until = time.monotonic() + within_seconds
        while time.monotonic() < until:
            there = {
                (each["metadata"]["namespace"], each["metadata"]["name"]): each
                for each in self.pods
            }
            if all(name not in there or there[name]["spec"].get("nodeName") for name in pods):
                return
            self._changed.wait(_LOOK_EVERY_SECONDS)
            self._changed.clear()

    def stop(self) -> None:
        """Stop watching the cluster."""
        self._pods.stop()
        self._claims.stop()

    def _note(self) -> None:
        self._last = time.monotonic()
        self._changed.set()


def _awaits_kubelet(pod: Json) -> bool:
    """Return True if a pod is bound and hasn't started yet."""
    is_bound = bool(pod["spec"].get("nodeName"))
    return is_bound and pod.get("status", {}).get("phase", "Pending") == "Pending"


def _is_usable(node: Json) -> bool:
    return all(each["key"] != _NOT_READY for each in node["spec"]["taints"])


class PendingWork:
    """The remaining work of the sandbox's own control plane, from the metrics of its processes."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._context = tls_context()
        # the server belongs to the sandbox and listens only on loopback
        self._context.check_hostname, self._context.verify_mode = False, ssl.CERT_NONE

    @property
    def words(self) -> str:
        """The last line in the scheduler's log."""
        return tail(self._plane.log("kube-scheduler"))

    def known_nodes(self) -> int:
        """Number of nodes that the scheduler knows, or 0 while it doesn't answer."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            known = _KNOWN_NODES.search(self._metrics(self._plane.ports.scheduler))
            return int(float(known[1])) if known is not None else 0
        return 0

    def is_queued(self, *, besides: int = 0) -> bool:
        """Return True if the scheduler has more than `besides` pods in its queues, or a controller
        has work. If a process doesn't answer, return True.
        """
        try:
            pending = _PENDING.findall(self._metrics(self._plane.ports.scheduler))
            depths = _DEPTH.findall(self._metrics(self._plane.ports.controller_manager))
        except (OSError, http.client.HTTPException):
            return True
        return sum(float(value) for _, value in pending) > besides or any(
            _positive(pair for pair in depths if pair[0] in _QUEUES)
        )

    def _metrics(self, port: int) -> str:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", port, timeout=5, context=self._context
        )
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode("utf-8", "replace")
        finally:
            connection.close()


def is_judged(pod: Json) -> bool:
    """Return True if a pod has a node or the scheduler has reported why it doesn't have one."""
    return bool(pod["spec"].get("nodeName")) or scheduled_condition(pod).get("reason") in _VERDICTS


def is_failing(pod: Json) -> bool:
    """Return True if the scheduler's last attempt for a pod ended with an error instead of a
    decision.
    """
    return scheduled_condition(pod).get("reason") == _ERROR


def _never(_: Json) -> bool:
    return False


def scheduled_condition(pod: Json) -> Json:
    """Return the pod's condition PodScheduled, or an empty mapping."""
    conditions = pod.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == "PodScheduled"), {})


def _positive(pairs: Any) -> Iterator[bool]:
    return (float(value) > 0 for _, value in pairs)

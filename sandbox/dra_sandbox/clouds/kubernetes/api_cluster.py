"""A cluster with a real API server.

Objects are applied with server-side apply, and the provider waits for them as Pulumi's own provider
does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from dra_sandbox.clouds.kubernetes.backend import ApplyFailed, ClusterObjectKey
from dra_sandbox.clouds.kubernetes.helm_releases import HelmReleases
from dra_sandbox.clouds.wire_values import Values
from dra_sandbox.control_plane import ApiRejection, ApiServer, ControlPlaneError

_PATCH_FORCE: Final = "pulumi.com/patchForce"
_SKIP_AWAIT: Final = "pulumi.com/skipAwait"
_TIMEOUT: Final = "pulumi.com/timeoutSeconds"
# pulumi/pulumi-kubernetes:provider/pkg/await (the default of Deployments and DaemonSets)
_SECONDS: Final = 600.0
_LOOK_EVERY_SECONDS: Final = 0.2


class ApiCluster:
    """The cluster of a control plane."""

    def __init__(
        self, server: ApiServer, releases: HelmReleases, seconds: float = _SECONDS
    ) -> None:
        """Store the connection.

        `seconds` is the maximum time until an object is ready, unless the object sets it.
        """
        self._server, self._releases, self._seconds = server, releases, seconds

    def apply(self, key: ClusterObjectKey, manifest: Values, manager: str) -> Values:
        """Apply the object and wait until it's ready. Raises ApplyFailed if the API server rejects
        it, or if it isn't ready in time.
        """
        annotations = (manifest.get("metadata") or {}).get("annotations") or {}
        try:
            live = self._server.apply(
                manifest, manager=manager, force=annotations.get(_PATCH_FORCE) == "true"
            )
        except (ApiRejection, ControlPlaneError) as problem:
            raise ApplyFailed(str(problem)) from problem
        is_ready = _READY.get(key.kind)
        if is_ready is None or annotations.get(_SKIP_AWAIT) == "true":
            return live
        return self._wait(key, live, is_ready, float(annotations.get(_TIMEOUT) or self._seconds))

    def read(self, key: ClusterObjectKey) -> Values | None:
        answer = self._server.request("GET", self._path(key))
        return answer.document if answer.status == HTTPStatus.OK else None

    def delete(self, key: ClusterObjectKey) -> None:
        """Delete the object, and wait until it no longer exists."""
        path = self._path(key)
        try:
            self._server.delete(path)
        except ApiRejection as problem:
            raise ApplyFailed(str(problem)) from problem
        until = time.monotonic() + self._seconds
        while self._server.request("GET", path).status == HTTPStatus.OK:
            if time.monotonic() > until:
                raise ApplyFailed(f"{key.kind} {key.id} still exists after {self._seconds:.0f} s")
            time.sleep(_LOOK_EVERY_SECONDS)

    def release(self, key: ClusterObjectKey, manager: str) -> None:
        """Release the fields that a patch has set. The object stays."""
        metadata = {"name": key.name, **({"namespace": key.namespace} if key.namespace else {})}
        if self.read(key) is not None:
            self._server.apply(
                {"apiVersion": key.api_version, "kind": key.kind, "metadata": metadata},
                manager=manager,
                force=False,
            )

    def recall(self, key: ClusterObjectKey, live: Values) -> None:
        """Do nothing, because the API server stores the objects."""

    def install(self, release: Values) -> str:
        """Install or upgrade the release with Helm. Raises ApplyFailed with Helm's message."""
        return self._releases.install(release)

    def uninstall(self, release: Values) -> None:
        """Uninstall the release with Helm. Raises ApplyFailed with Helm's message."""
        self._releases.uninstall(release)

    def _path(self, key: ClusterObjectKey) -> str:
        """Return the path of the object. Raises ApplyFailed for a kind that the API server doesn't
        serve.
        """
        served = self._server.resource(key.api_version, key.kind)
        if served is None:
            raise ApplyFailed(f'no matches for kind "{key.kind}" in version "{key.api_version}"')
        return served.path(key.namespace, key.name)

    def _wait(
        self,
        key: ClusterObjectKey,
        live: Values,
        is_ready: Callable[[Values], bool],
        seconds: float,
    ) -> Values:
        until = time.monotonic() + seconds
        while not is_ready(live):
            if time.monotonic() > until:
                raise ApplyFailed(
                    f"{key.kind} {key.id} is not ready after {seconds:.0f} s: {_state(live)}"
                )
            time.sleep(_LOOK_EVERY_SECONDS)
            live = self.read(key) or live
        return live


def _is_observed(live: Mapping[str, Any]) -> bool:
    return int(live.get("status", {}).get("observedGeneration") or 0) >= int(
        live["metadata"].get("generation") or 0
    )


def _deployment(live: Values) -> bool:
    status, wanted = live.get("status", {}), live["spec"].get("replicas", 1)
    counts = [status.get(name, 0) for name in ("updatedReplicas", "availableReplicas", "replicas")]
    return _is_observed(live) and counts == [wanted] * 3


def _stateful_set(live: Values) -> bool:
    status, wanted = live.get("status", {}), live["spec"].get("replicas", 1)
    return _is_observed(live) and status.get("readyReplicas", 0) == wanted == status.get(
        "updatedReplicas", 0
    )


def _daemon_set(live: Values) -> bool:
    status = live.get("status", {})
    wanted = status.get("desiredNumberScheduled", 0)
    ready = [status.get(name, 0) for name in ("updatedNumberScheduled", "numberAvailable")]
    return _is_observed(live) and ready == [wanted] * 2


def _pod(live: Values) -> bool:
    conditions = live.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _definition(live: Values) -> bool:
    conditions = live.get("status", {}).get("conditions", [])
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


_READY: Final[Mapping[str, Callable[[Values], bool]]] = {
    "CustomResourceDefinition": _definition,
    "DaemonSet": _daemon_set,
    "Deployment": _deployment,
    "Pod": _pod,
    "StatefulSet": _stateful_set,
}
"""Function that returns True if an object of the kind is ready. Objects of other kinds are ready
when they exist.
"""


def _state(live: Values) -> str:
    status = live.get("status", {})
    reasons = [
        each.get("message", "")
        for each in status.get("conditions", [])
        if each.get("status") != "True"
    ]
    counts = ", ".join(
        f"{name} {value}" for name, value in status.items() if isinstance(value, int)
    )
    return "; ".join(filter(None, [counts, *reasons]))

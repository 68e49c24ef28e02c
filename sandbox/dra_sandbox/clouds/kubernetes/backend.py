"""The interface between the provider and a cluster, and a cluster in memory."""

from __future__ import annotations

import copy
import threading
import uuid
from typing import Protocol

from msgspec import Struct

from dra_sandbox.clouds.wire_values import Values


class ClusterObjectKey(Struct, frozen=True):
    """The key of an object in a cluster. The namespace is empty for cluster-scoped objects."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def id(self) -> str:
        """The identifier that the real provider uses."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class ApplyFailed(Exception):
    """The cluster rejected a request. The message is from the cluster."""


class ClusterBackend(Protocol):
    """The operations that the provider needs from a cluster. An API server implements them with
    server-side apply, get, and delete.
    """

    def apply(self, key: ClusterObjectKey, manifest: Values, manager: str) -> Values:
        """Apply `manifest`, and return the resulting object.

        `manager` owns the fields that the manifest sets. Raises ApplyFailed if the cluster rejects
        it.
        """
        ...

    def read(self, key: ClusterObjectKey) -> Values | None:
        """Return the object in the cluster, or None."""
        ...

    def delete(self, key: ClusterObjectKey) -> None:
        """Delete the object. An object that doesn't exist isn't an error."""
        ...

    def release(self, key: ClusterObjectKey, manager: str) -> None:
        """Release the fields that `manager` has set in an object of another owner.

        The object itself stays.
        """
        ...

    def recall(self, key: ClusterObjectKey, live: Values) -> None:
        """Store an object from the engine's state. A cluster with its own storage ignores this."""
        ...

    def install(self, release: Values) -> str:
        """Install or upgrade a Helm release.

        Return the version of the chart's app, or an empty text if the chart isn't rendered. Raises
        ApplyFailed with Helm's message.
        """
        ...

    def uninstall(self, release: Values) -> None:
        """Uninstall a Helm release. A release that doesn't exist isn't an error.

        Raises ApplyFailed with Helm's message.
        """
        ...


class MemoryCluster:
    """A cluster that keeps objects while its process runs, and learns earlier objects from the
    engine's state.
    """

    def __init__(self) -> None:
        self._objects: dict[ClusterObjectKey, Values] = {}
        self._revision = 1
        self._lock = threading.Lock()

    def apply(self, key: ClusterObjectKey, manifest: Values, manager: str) -> Values:
        with self._lock:
            self._revision += 1
            before = self._objects.get(key, {}).get("metadata", {})
            live = copy.deepcopy(manifest)
            live["metadata"] = {
                **live.get("metadata", {}),
                "uid": before.get("uid") or str(uuid.uuid5(uuid.NAMESPACE_URL, f"{key}")),
                "creationTimestamp": before.get("creationTimestamp") or "2026-01-01T00:00:00Z",
                "resourceVersion": str(
                    max(self._revision, int(before.get("resourceVersion") or 0) + 1)
                ),
                "generation": int(before.get("generation") or 0) + 1,
            }
            self._objects[key] = live
            return copy.deepcopy(live)

    def read(self, key: ClusterObjectKey) -> Values | None:
        with self._lock:
            return copy.deepcopy(self._objects.get(key))

    def delete(self, key: ClusterObjectKey) -> None:
        with self._lock:
            self._objects.pop(key, None)

    def release(self, key: ClusterObjectKey, manager: str) -> None:
        self.delete(key)

    def recall(self, key: ClusterObjectKey, live: Values) -> None:
        with self._lock:
            self._objects.setdefault(key, copy.deepcopy(live))

    def install(self, release: Values) -> str:
        """Do nothing, because releases are only recorded here."""
        return ""

    def uninstall(self, release: Values) -> None:
        """Do nothing, because releases have no objects here."""

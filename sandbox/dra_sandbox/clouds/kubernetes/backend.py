"""Where Kubernetes objects live: the few calls that the provider needs of a cluster, and a cluster
in memory.
"""

from __future__ import annotations

import copy
import threading
import uuid
from dataclasses import dataclass
from typing import Protocol

from dra_sandbox.clouds.wire_values import Values


@dataclass(frozen=True, slots=True)
class ClusterObjectKey:
    """An object's place in a cluster; the namespace is empty for what belongs to the whole
    cluster.
    """

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def id(self) -> str:
        """The identifier that the real provider gives it."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class ApplyFailed(Exception):
    """The cluster did not do what it was asked for; the message says why, in its own words."""


class ClusterBackend(Protocol):
    """What the provider asks of a cluster. An API server answers it by server-side apply, get and
    delete.
    """

    def apply(self, key: ClusterObjectKey, manifest: Values, manager: str) -> Values:
        """Make the object be as `manifest` says, and return it as the cluster now has it. Raises
        ApplyFailed.

        `manager` owns the fields that the manifest sets.
        """
        ...

    def read(self, key: ClusterObjectKey) -> Values | None:
        """The object as the cluster has it, or None."""
        ...

    def delete(self, key: ClusterObjectKey) -> None:
        """Remove the object; one that is gone already is no error."""
        ...

    def release(self, key: ClusterObjectKey, manager: str) -> None:
        """Give back the fields that `manager` has set in somebody else's object, which stays."""
        ...

    def recall(self, key: ClusterObjectKey, live: Values) -> None:
        """Take note of what the engine's state says about an object; a cluster with a memory of its
        own need not.
        """
        ...

    def install(self, release: Values) -> str:
        """Install or upgrade a Helm release; return the version of what its chart installs, empty
        where the chart is not rendered. Raises ApplyFailed.
        """
        ...

    def uninstall(self, release: Values) -> None:
        """Take a Helm release away; one that is gone already is no error. Raises ApplyFailed."""
        ...


class MemoryCluster:
    """A cluster that keeps objects as long as its process lives, and learns earlier ones from the
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
        """Nothing: here releases are recorded alone."""
        return ""

    def uninstall(self, release: Values) -> None:
        """Nothing: there is nothing of it."""

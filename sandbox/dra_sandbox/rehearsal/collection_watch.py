"""Watch a collection of an API server, so that callers can wait for changes without polling."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable
from typing import Any

from dra_sandbox.control_plane import ApiRejection, ApiServer, ControlPlaneError

Json = dict[str, Any]

_PAUSE_SECONDS = 0.2


class Follower:
    """The current objects of a collection by (namespace, name), in the order of their arrival."""

    def __init__(self, server: ApiServer, path: str, changed: Callable[[], None]) -> None:
        """Read the collection at `path`, and watch it in a thread. `changed` is called after each
        change. Raises ApiRejection if the collection can't be read.
        """
        self._server, self._path, self._changed = server, path, changed
        self._objects: dict[tuple[str, str], Json] = {}
        self._lock = threading.Lock()
        self._stopped = False
        self._version = self._read()
        threading.Thread(target=self._follow, daemon=True).start()

    def objects(self) -> list[Json]:
        """Return the objects in the order of their arrival."""
        with self._lock:
            return list(self._objects.values())

    def stop(self) -> None:
        """Stop watching. The known objects stay, and `changed` is no longer called."""
        self._stopped, self._changed = True, _nobody

    def _read(self) -> str:
        items, version = self._server.listed(self._path)
        with self._lock:
            self._objects = {_key(item): item for item in items}
        return version

    def _follow(self) -> None:
        while not self._stopped:
            try:
                for event, item in self._server.watch(self._path, self._version):
                    self._take(event, item)
                    if self._stopped:
                        return
                self._version = self._read()
            except (
                ApiRejection,
                ControlPlaneError,
                http.client.HTTPException,
                OSError,
                ValueError,
            ):
                time.sleep(_PAUSE_SECONDS)
                self._read_again()
            self._changed()

    def _read_again(self) -> None:
        try:
            self._version = self._read()
        except (ApiRejection, ControlPlaneError):
            return  # the server doesn't respond, so the next round tries again

    def _take(self, event: str, item: Json) -> None:
        with self._lock:
            if event == "DELETED":
                self._objects.pop(_key(item), None)
            else:
                self._objects[_key(item)] = item
        self._changed()


def _nobody() -> None:
    """Do nothing. Replaces `changed` after the watch ends."""


def _key(item: Json) -> tuple[str, str]:
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]

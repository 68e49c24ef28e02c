"""Send requests to an API server, with one connection for each thread, and parse the answers."""

from __future__ import annotations

import http.client
import json
import re
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from msgspec import Struct, field

from dra_sandbox.control_plane.plane import ControlPlane
from dra_sandbox.control_plane.problems import ControlPlaneError
from dra_sandbox.control_plane.tls import tls_context

Json = dict[str, Any]

_SECONDS: Final = 60.0
_WATCH_SECONDS: Final = 300
_API_VERSION: Final = re.compile(r"([a-z0-9.-]+/)?[a-z0-9]+")


class ApiRejection(Exception):
    """The API server rejected a request. `status` is the HTTP status, and `reason` is the reason of
    the Status object.
    """

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.reason = str(document.get("reason") or f"HTTP {status}")
        super().__init__(str(document.get("message") or self.reason))


class Response(NamedTuple):
    """Status, document, and warnings of one answer."""

    status: int
    document: Json
    warnings: tuple[str, ...] = ()


class ApiResource(NamedTuple):
    """The path and plural name under which the API server serves a kind, and whether the kind is
    namespaced.
    """

    base: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of all objects, of the objects in one namespace, or of one object."""
        within = (
            f"/namespaces/{urllib.parse.quote(namespace, safe='')}"
            if self.namespaced and namespace
            else ""
        )
        return f"{self.base}{within}/{self.plural}" + (
            f"/{urllib.parse.quote(name, safe='')}" if name else ""
        )


class ApiServer(Struct):
    """One API server. `connect` opens a connection with a time limit in seconds, and `headers`
    authenticate the client.
    """

    connect: Callable[[float], http.client.HTTPConnection]
    headers: Mapping[str, str] = {}
    _local: threading.local = field(default_factory=threading.local)
    _resources: dict[str, dict[str, ApiResource]] = {}

    def __repr__(self) -> str:
        """Omit the headers, so that no message contains a token."""
        return "ApiServer()"

    @classmethod
    def of(cls, plane: ControlPlane) -> ApiServer:
        """Return the API server of a control plane. Only its own certificate is trusted."""
        port, context = plane.ports.api_server, tls_context(str(plane.certificate))

        def connect(seconds: float) -> http.client.HTTPConnection:
            return http.client.HTTPSConnection("127.0.0.1", port, timeout=seconds, context=context)

        return cls(connect, {"Authorization": f"Bearer {plane.token}"})

    def request(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        content: str = "application/json",
    ) -> Response:
        """Return the answer to a request, whatever its status.

        A broken connection is reopened once. Raises ControlPlaneError if the server doesn't answer.
        """
        headers = {**self.headers, "Accept": "application/json", "Content-Type": content}
        sent = body.encode() if isinstance(body, str) else body
        for is_last in (False, True):
            try:
                connection = self._connection()
                connection.request(method, path, sent, headers)
                answer = connection.getresponse()
                text = answer.read()
            except (http.client.HTTPException, OSError) as error:
                self._forget()
                # the error isn't stored, because it references this frame, and thus this object and
                # its connections
                if is_last:
                    raise ControlPlaneError(
                        f"the API server doesn't answer {method} {path}: {error}"
                    ) from error
            else:
                return Response(
                    answer.status, _document(text), tuple(answer.headers.get_all("Warning", []))
                )
        raise AssertionError  # the last attempt has returned or raised

    def call(
        self, method: str, path: str, document: Mapping[str, Any] | None = None, content: str = ""
    ) -> Json:
        """Return the document of a successful answer. Raises ApiRejection for any other status."""
        body = None if document is None else json.dumps(document)
        answer = self.request(method, path, body, content or "application/json")
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise ApiRejection(answer.status, answer.document)
        return answer.document

    def resource(self, api_version: str, kind: str) -> ApiResource | None:
        """Return the path and the names under which the API server serves a kind, or None if it
        doesn't serve the kind.
        """
        if api_version not in self._resources:
            self._resources[api_version] = self._discover(api_version)
        return self._resources[api_version].get(kind)

    def _discover(self, api_version: str) -> dict[str, ApiResource]:
        if not _API_VERSION.fullmatch(api_version):
            return {}
        base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        answer = self.request("GET", base)
        items = answer.document["resources"] if answer.status == HTTPStatus.OK else []
        return {
            item["kind"]: ApiResource(base, item["name"], item["namespaced"])
            for item in items
            if "/" not in item["name"]
        }

    def path(self, document: Mapping[str, Any], *, named: bool = True) -> str:
        """Return the path of an object or of its collection. Raises ApiRejection if the kind is
        unknown.
        """
        api_version, kind = str(document.get("apiVersion")), str(document.get("kind"))
        served = self.resource(api_version, kind)
        if served is None:
            message = f'no matches for kind "{kind}" in version "{api_version}"'
            raise ApiRejection(HTTPStatus.NOT_FOUND, {"reason": "NoMatch", "message": message})
        metadata = document.get("metadata") or {}
        name = str(metadata.get("name", "")) if named else ""
        return served.path(str(metadata.get("namespace") or "default"), name)

    def apply(
        self, document: Mapping[str, Any], *, manager: str = "pulumi-dra", force: bool = True
    ) -> Json:
        """Apply an object with server-side apply, and return the stored object.

        Raises ApiRejection if the API server rejects it.
        """
        path = f"{self.path(document)}?fieldManager={manager}&force={str(force).lower()}"
        return self.call("PATCH", path, document, "application/apply-patch+yaml")

    def create(self, document: Mapping[str, Any]) -> Json:
        """Create an object and return it. Raises ApiRejection if the API server rejects it."""
        return self.call("POST", self.path(document, named=False), document)

    def patch_status(self, path: str, status: Mapping[str, Any]) -> Json:
        """Merge values into the status of the object at `path`.

        Raises ApiRejection if the API server rejects them.
        """
        return self.call(
            "PATCH", f"{path}/status", {"status": status}, "application/merge-patch+json"
        )

    def delete(self, path: str, *, at_once: bool = False, alone: bool = False) -> None:
        """Delete the object at `path`. An object that doesn't exist isn't an error.

        The object is deleted immediately, without waiting for its kubelet. Objects that it owns
        stay.
        """
        parameters = [*["gracePeriodSeconds=0"] * at_once, *["propagationPolicy=Orphan"] * alone]
        try:
            self.call("DELETE", f"{path}?{'&'.join(parameters)}")
        except ApiRejection as refused:
            if refused.status != HTTPStatus.NOT_FOUND:
                raise

    def listed(self, path: str) -> tuple[list[Json], str]:
        """Return the objects of a collection, and the resource version from which to watch it.

        Raises ApiRejection if the collection can't be read.
        """
        found = self.call("GET", path)
        kind, api_version = str(found["kind"]).removesuffix("List"), found["apiVersion"]
        items = [{"apiVersion": api_version, "kind": kind, **item} for item in found["items"] or []]
        return items, str(found["metadata"]["resourceVersion"])

    def watch(self, path: str, resource_version: str) -> Iterator[tuple[str, Json]]:
        """Yield (ADDED, MODIFIED, or DELETED, object) for each change of a collection, until the
        server ends the watch.
        """
        query = f"watch=1&resourceVersion={resource_version}&timeoutSeconds={_WATCH_SECONDS}"
        connection = self.connect(_WATCH_SECONDS + _SECONDS)
        try:
            connection.request(
                "GET", f"{path}?{query}", headers={**self.headers, "Accept": "application/json"}
            )
            answer = connection.getresponse()
            if answer.status != HTTPStatus.OK:
                raise ApiRejection(answer.status, _document(answer.read()))
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiRejection(int(event["object"].get("code", 0)), event["object"])
                yield event["type"], event["object"]
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        kept: http.client.HTTPConnection | None = getattr(self._local, "kept", None)
        if kept is None:
            kept = self._local.kept = self.connect(_SECONDS)
        return kept

    def _forget(self) -> None:
        kept: http.client.HTTPConnection | None = getattr(self._local, "kept", None)
        self._local.kept = None
        if kept is not None:
            kept.close()


def _document(text: bytes) -> Json:
    try:
        found = json.loads(text)
    except ValueError:
        return {"kind": "Status", "message": text.decode("utf-8", "replace")}
    return found if isinstance(found, dict) else {"kind": "Status", "message": str(found)}

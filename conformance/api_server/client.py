"""Send requests to an API server, and return its responses in a form that can be compared with our
results.
"""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct

from dra_sandbox.control_plane import ApiServer, ControlPlaneError

Json = dict[str, Any]
THREADS: Final = 6
PANIC: Final = "panic"
"""Reason for a missing response: the server's handler crashed on the object."""
NOT_ASKED: Final = "not asked"
_PATH_SEGMENT: Final = re.compile(r"(?!\.{1,2}$)[^/%]+")
_UNKNOWN: Final = re.compile(r'(unknown|duplicate) field "((?:[^"\\]|\\.)*)"')
_EXPONENT: Final = re.compile(r"(e[+-])0+(?=\d)")


class Answer(Struct, frozen=True):
    """A server's response.

    `reason` is the reason in the Status, or empty if the server accepts the object. `faults`
    contains (field, reason) for every cause. `stored` is the object that would be stored.
    """

    reason: str
    faults: frozenset[tuple[str, str]] = frozenset()
    stored: Json | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()


class Client(Struct, frozen=True):
    """Sends requests to one server."""

    server: ApiServer

    def call(
        self, method: str, path: str, body: bytes | None = None, content: str = "application/json"
    ) -> tuple[int, Json, tuple[str, ...]]:
        """Return the status, the document, and the warnings of one request."""
        try:
            return self.server.request(method, path, body, content)
        except ControlPlaneError:
            return (
                0,
                {"reason": PANIC, "message": "the server closed the connection without a response"},
                (),
            )

    def create(
        self, text: str, document: Mapping[str, Any], mode: str = "Strict", *, dry_run: bool = True
    ) -> Answer:
        """Create an object from its text as kubectl would. `document` is the same object as a
        value, for JSON.
        """
        path = self.path_of(document)
        if path is None:
            return Answer("NoMatch", frozenset({("", "NoMatch")}))
        if mode == "Apply":
            return self._apply(path, document)
        query = f"?fieldValidation={mode}" + ("&dryRun=All" if dry_run else "")
        is_json = text.lstrip().startswith("{")
        body = kubectl_json(document) if is_json else text
        content = "application/json" if is_json else "application/yaml"
        return _answer(
            *self.call("POST", path + query, body.encode("utf-8", "surrogatepass"), content)
        )

    def _apply(self, path: str, document: Mapping[str, Any]) -> Answer:
        """Apply an object on the server. Like kubectl, this requires a name. Numbers that exceed
        their field's range aren't compared, because server-side apply lets them overflow.
        """
        if _has_large_number(document):
            return Answer(NOT_ASKED)
        metadata = document.get("metadata")
        name = metadata.get("name") if isinstance(metadata, Mapping) else None
        if not isinstance(name, str) or not _PATH_SEGMENT.fullmatch(name):
            return Answer(NOT_ASKED)
        where = (
            f"{path}/{urllib.parse.quote(name, safe='')}?fieldManager=referee&force=true&dryRun=All"
        )
        body = kubectl_json(document).encode("utf-8", "surrogatepass")
        return _answer(*self.call("PATCH", where, body, "application/apply-patch+yaml"))

    def change(self, document: Mapping[str, Any]) -> Answer:
        """Merge a document into the object with the same name, without storing the result."""
        where = f"{self.path_of(document)}/{document['metadata']['name']}?fieldValidation=Strict&dryRun=All"
        return _answer(
            *self.call(
                "PATCH", where, kubectl_json(document).encode(), "application/merge-patch+json"
            )
        )

    def path_of(self, document: Mapping[str, Any]) -> str | None:
        """Return the path to which kubectl would post such an object, or None if the server doesn't
        serve the kind.
        """
        found = self.server.resource(
            str(document.get("apiVersion")).removeprefix("/"), str(document.get("kind"))
        )
        if found is None:
            return None
        metadata = document.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, Mapping) else None
        return found.path(namespace if isinstance(namespace, str) and namespace else "default")

    def schemas(self, group: str) -> Json:
        """Return the schemas that the server publishes for a group and version, by name."""
        found: Json = self.call("GET", f"/openapi/v3/{group}")[1]["components"]["schemas"]
        return found


def ask(client: Client, questions: Iterable[tuple[str, Mapping[str, Any], str]]) -> list[Answer]:
    """Return the responses for (text, document, field validation), in order. Multiple requests run
    at the same time.
    """
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(lambda each: client.create(*each), questions))


def kubectl_json(document: Any) -> str:
    """Return the JSON that kubectl sends.

    It reads integers as int64 and other numbers as float64, and sorts the keys. Sources:
    sigs.k8s.io/json (numbers), Go's encoding/json (how it writes a float64).
    """
    if isinstance(document, dict):
        keys = sorted(document)
        items = (
            f"{json.dumps(key, ensure_ascii=False)}:{kubectl_json(document[key])}" for key in keys
        )
        return "{" + ",".join(items) + "}"
    if isinstance(document, list):
        return "[" + ",".join(map(kubectl_json, document)) + "]"
    if isinstance(document, bool) or not isinstance(document, int | float):
        return json.dumps(document, ensure_ascii=False)
    if isinstance(document, int) and -(2**63) <= document < 2**63:
        return str(document)
    number = float(document)
    if number.is_integer() and abs(number) < 1e21:
        return _digits(number)
    return _EXPONENT.sub(r"\1", repr(number))


def _has_large_number(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_large_number, value.values()))
    if isinstance(value, list):
        return any(map(_has_large_number, value))
    return isinstance(value, int | float) and abs(value) >= 2**31


def _digits(number: float) -> str:
    """Return an integer with the fewest digits that identify it, followed by zeros."""
    return format(Decimal(repr(number)), "f").partition(".")[0]


def _document(text: bytes) -> Json:
    try:
        found: Json = json.loads(text)
    except ValueError:
        return {"kind": "Status", "message": text.decode("utf-8", "replace")}
    return found


def _answer(status: int, body: Json, warnings: tuple[str, ...]) -> Answer:
    texts = tuple(warning.split(" ", 2)[-1].strip('"') for warning in warnings)
    if 200 <= status < 300:
        return Answer("", stored=body, warnings=texts)
    reason = body.get("reason") or f"HTTP {status}"
    message = str(body.get("message", ""))
    details = body.get("details") or {}
    faults = {
        (cause.get("field", ""), cause.get("reason", "")) for cause in details.get("causes") or ()
    }
    if reason == "BadRequest":
        faults = {(path, "UnknownField") for _, path in _UNKNOWN.findall(message)}
    return Answer(reason, frozenset(faults), message=message, warnings=texts)

"""Apply manifests as `kubectl apply` does: fields that only the previous manifest contained are
removed.

The patch depends on three objects: the manifest, the manifest that was applied last (stored in an
annotation), and the current object.
"""

from __future__ import annotations

import copy
import json
from http import HTTPStatus
from typing import Any, Final

from dra_sandbox.control_plane import ApiRejection, ApiServer

Json = dict[str, Any]

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_PATCH: Final = "application/strategic-merge-patch+json"
_RETAINED: Final = (
    "strategy",
    "updateStrategy",
)  # in these fields, only the values of the manifest remain


def apply(server: ApiServer, manifest: Json) -> None:
    """Create the object of a manifest, or patch the existing object. Raises ApiRejection if the API
    server rejects it.
    """
    path = server.path(manifest)
    given = _annotated(manifest)
    try:
        there = server.call("GET", path)
    except ApiRejection as refused:
        if refused.status != HTTPStatus.NOT_FOUND:
            raise
        server.create(given)
        return
    last = json.loads((there["metadata"].get("annotations") or {}).get(LAST_APPLIED, "{}"))
    server.call("PATCH", path, _patch(last, given), _PATCH)


def _annotated(manifest: Json) -> Json:
    given = copy.deepcopy(manifest)
    text = json.dumps(manifest, separators=(",", ":"), sort_keys=True)
    given["metadata"].setdefault("annotations", {})[LAST_APPLIED] = text
    return given


def _patch(last: Any, given: Json) -> Json:
    """Return the fields of the manifest, and null for fields that only the previous manifest
    contained.
    """
    before: Json = last if isinstance(last, dict) else {}
    patch: Json = {key: None for key in before if key not in given}
    for key, value in given.items():
        patch[key] = _value(before.get(key), value)
        if key in _RETAINED:
            patch[key]["$retainKeys"] = sorted(value)
    return patch


def _value(before: Any, given: Any) -> Any:
    if isinstance(given, dict):
        return _patch(before, given)
    if isinstance(given, list) and all(isinstance(each, dict) and "name" in each for each in given):
        known = {each["name"]: each for each in before or ()}
        return [_patch(known.get(each["name"]), each) for each in given]
    return given

"""Applies manifests as `kubectl apply` does: what a manifest gave before and gives no more is taken
away.

The patch is made of three: the manifest, the one that was applied last (kept in an annotation), and
the object.
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
_RETAINED: Final = ("strategy", "updateStrategy")  # of which only the fields that are given stay


def apply(server: ApiServer, manifest: Json) -> None:
    """Create the object of a manifest, or patch the one that is there. Raises ApiRejection."""
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
    """Return what is given, and null for what was given before."""
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

"""The rules that determine whether the server's response differs from the reader's result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from client import NOT_ASKED, PANIC, Answer, Json

from dra_planner.manifests.validation.stored_form import changes

_SERVERS_OWN: Final = (
    "uid",
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
)
# For pods and workloads, the reader checks only the fields that affect claims and devices.
_DEVICE_FIELDS: Final = re.compile(r"resourceClaims|resources|priority|preemptionPolicy")
# A version drops volumes whose feature gate is off, which changes the indexes of later volumes.
_VOLUMES: Final = re.compile(r"\.volumes\[")
_PATH: Final = re.compile(r"Go struct field (?P<path>\S+) of type")
_WORD: Final = re.compile(r"\w+")
_MOST_UNKNOWN: Final = 100  # the server lists at most this number of unknown fields
_NOW: Final = "timeAdded"  # field that depends on the current time
_NOTHING: Final = (None, 0, "", False)  # values that Go writes for omitted fields
_OWN_WORDS: Final = {"unreadable": "BadRequest"}


def difference(theirs: Answer, ours: Answer, sent: Any) -> str:
    """Return the differences between the results, or an empty text. `sent` is the object as it was
    written.
    """
    if theirs.reason == NOT_ASKED:
        return ""
    reason = _OWN_WORDS.get(ours.reason, ours.reason)
    # the object already exists, which the server checks after all other validation
    if theirs.reason == "AlreadyExists":
        return (
            ""
            if not reason
            else f"verdict: server accepted, reader {reason} ({ours.message[:300]})"
        )
    # if the server crashes on an object, any reason of the reader for rejecting it is correct
    if theirs.reason == PANIC and reason:
        return ""
    if theirs.reason != reason:
        return f"verdict: server {theirs.reason or 'accepted'} ({theirs.message[:400]}), " + (
            f"reader {ours.reason or 'accepted'} ({ours.message[:300]})"
        )
    if theirs.reason == "BadRequest" and ours.reason != "unreadable":
        return _decoding(theirs, ours)
    if theirs.reason:
        if theirs.reason == "Invalid" and theirs.faults != ours.faults:
            missing, more = sorted(theirs.faults - ours.faults), sorted(ours.faults - theirs.faults)
            return (
                f"fields: only the server names {missing}, only the reader {more} "
                f"({theirs.message[:400]})"
            )
        return ""
    assert theirs.stored is not None
    assert ours.stored is not None
    return _stored(theirs.stored, ours.stored, sent)


def _decoding(theirs: Answer, ours: Answer) -> str:
    if theirs.faults:
        mine = frozenset(fault for fault in ours.faults if fault[1] == "UnknownField")
        if len(theirs.faults) == _MOST_UNKNOWN and theirs.faults < mine:
            return ""
        return (
            ""
            if theirs.faults == mine
            else f"unknown fields: {sorted(theirs.faults)}, reader {sorted(ours.faults)}"
        )
    named = _PATH.search(theirs.message)
    if named is None:
        return ""
    # Go also includes the names of embedded structs
    steps = [step for step in _WORD.findall(named["path"])[1:] if not step[0].isupper()]
    # the reader also includes indexes and keys
    paths = [iter(_WORD.findall(field)) for field, _ in ours.faults]
    if any(all(step in words for step in steps) for words in paths):
        return ""
    return f"wrong type at {'.'.join(steps)}, reader {sorted(ours.faults)} ({theirs.message[:300]})"


def _stored(theirs: Json, ours: Any, sent: Any) -> str:
    whole = str(sent.get("apiVersion")).startswith("resource.k8s.io/")
    server, reader = dict(_changed(sent, theirs, whole)), dict(_changed(sent, ours, whole))
    if server == reader:
        return ""
    paths = sorted(path for path in {*server, *reader} if server.get(path) != reader.get(path))
    return "stored: " + "; ".join(
        f"{path}: server {server.get(path, 'as sent')}, reader {reader.get(path, 'as sent')}"
        for path in paths
    )


def _changed(sent: Any, stored: Any, whole: bool) -> Iterator[tuple[str, Any]]:
    """Yield each path that changed when the object was stored, and the new value or "dropped"."""
    metadata = {
        key: value
        for key, value in (stored.get("metadata") or {}).items()
        if key not in _SERVERS_OWN
    }
    given = sent.get("metadata") or {}
    if metadata.get("namespace") == "default" and not given.get("namespace"):
        metadata.pop("namespace")
    if given.get("generateName") and not given.get("name"):
        metadata.pop("name", None)
    plain = {
        **sent,
        "metadata": {key: value for key, value in given.items() if key not in _SERVERS_OWN},
    }
    for path, what, _, value in changes(
        _without_nothing(plain), _without_nothing({**stored, "metadata": metadata})
    ):
        followed = _DEVICE_FIELDS.search(path) and not _VOLUMES.search(path)
        if path.startswith("status") or not (whole or followed):
            continue
        if what == "defaulted" and value in _NOTHING:
            continue
        yield (
            path,
            (
                "dropped"
                if what == "dropped"
                else _NOW
                if what == "defaulted" and path.endswith(_NOW)
                else value
            ),
        )


def _without_nothing(value: Any) -> Any:
    """Return a value without empty fields. Go writes some empty fields and omits others."""
    if isinstance(value, dict):
        kept = {key: _without_nothing(item) for key, item in value.items()}
        return {
            key: item for key, item in kept.items() if item is not None and item not in ({}, [], "")
        }
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value


def listed_changes(theirs: Answer, sent: Any) -> list[tuple[str, str, Any]]:
    """Return the server's changes to an object that it accepted, as (path, dropped | defaulted |
    rewritten, value).
    """
    assert theirs.stored is not None
    metadata = {
        key: value for key, value in theirs.stored["metadata"].items() if key not in _SERVERS_OWN
    }
    if not (sent.get("metadata") or {}).get("namespace"):
        metadata.pop("namespace", None)
    stored = {**theirs.stored, "metadata": metadata}
    return [
        (path, what, value)
        for path, what, _, value in changes(sent, stored)
        if not path.startswith("status")
    ]

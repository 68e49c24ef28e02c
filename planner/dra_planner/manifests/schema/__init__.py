"""The fields of the API's types, per minor release, and decoding by them.

`types.json` is generated from the published Go types (conformance/api_types). A field's type is a
scalar, the name of a struct, `[]T`, `[key,…]T` (a list in which those keys are unique under
server-side apply), `[=]T` (a set) or `{}T` (a mapping); `@36-` behind it means from 1.36 on, `@-35`
up to 1.35.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dra_planner.releases import is_between

_SINCE: Final = re.compile(r"^(\S+)(?: @(\d*)-(\d*))?$")


@dataclass(frozen=True, slots=True)
class ApiType:
    """A type: `kind` is a scalar's name, `struct`, `list` or `map`."""

    kind: str
    name: str = ""  # of a struct
    item: ApiType | None = None
    keys: tuple[str, ...] = ()  # of a list: unique keys; ("=",) for a set


def struct_of(api_version: str, kind: str) -> str | None:
    """Return the name of the struct that an object of this version and kind is decoded to; None if
    unknown.
    """
    name: str | None = _document()["kinds"].get(f"{api_version} {kind}")
    return name


def recorded_minors() -> tuple[int, ...]:
    """Return the minors whose types the table holds; what it says of others is no more than a
    guess.
    """
    return tuple(sorted(int(version.removeprefix("1.")) for version in _document()["source"]))


@lru_cache(maxsize=2048)
def fields_of(struct: str, minor: int) -> dict[str, ApiType]:
    """Return the fields that a struct has in this minor release."""
    fields = {}
    for name, text in _document()["types"].get(struct, {}).items():
        match = _SINCE.match(text)
        assert match is not None, text
        kind, since, until = match.groups()
        if is_between(minor, int(since or 0), int(until) if until else None):
            fields[name] = _parse(kind)
    return fields


@lru_cache(maxsize=2048)
def _parse(text: str) -> ApiType:
    if text.startswith("{}"):
        return ApiType("map", item=_parse(text[2:]))
    if text.startswith("["):
        keys, _, rest = text[1:].partition("]")
        return ApiType("list", item=_parse(rest), keys=tuple(keys.split(",")) if keys else ())
    if "." in text:
        return ApiType("struct", name=text)
    return ApiType(text)


@lru_cache(maxsize=1)
def _document() -> dict[str, Any]:
    text = Path(__file__).with_name("types.json").read_text("utf-8")
    document: dict[str, Any] = json.loads(text)
    return document

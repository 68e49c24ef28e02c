"""The fields of the API's types by minor version, and decoding with them.

`types.json` is generated from the published Go types (conformance/api_types). The type of a field
is a scalar, the name of a struct, `[]T`, `[key,…]T` (a list in which these keys are unique under
server-side apply), `[=]T` (a set), or `{}T` (a mapping). The suffix `@36-` means 1.36 and later,
and `@-35` means 1.35 and earlier.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from dra_planner.releases import is_between

_SINCE: Final = re.compile(r"^(\S+)(?: @(\d*)-(\d*))?$")


class ApiType(Struct, frozen=True):
    """A type: `kind` is a scalar's name, `struct`, `list` or `map`."""

    kind: str
    name: str = ""  # the name of a struct
    item: ApiType | None = None
    keys: tuple[str, ...] = ()  # the unique keys of a list's items; ("=",) for a set


def struct_of(api_version: str, kind: str) -> str | None:
    """Return the name of the struct to which an object of this version and kind is decoded, or None
    if it's unknown.
    """
    name: str | None = _document()["kinds"].get(f"{api_version} {kind}")
    return name


def recorded_minors() -> tuple[int, ...]:
    """Return the minor versions in the table. For other versions, its content is only a guess."""
    return tuple(sorted(int(version.removeprefix("1.")) for version in _document()["source"]))


@lru_cache(maxsize=2048)
def fields_of(struct: str, minor: int) -> dict[str, ApiType]:
    """Return the fields of a struct in this minor version."""
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

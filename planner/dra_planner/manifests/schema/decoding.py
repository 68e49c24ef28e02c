"""Decode objects as the API server does with strict field validation, and as server-side apply
does.

A wrong type ends the decoding, and is the only error that is reported. Unknown fields are all
reported together, and hide any other error. Source of the wording: sigs.k8s.io/json@v0.0.0-2025,
structured-merge-diff v6 typed/validate.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, reduce
from typing import Any, Final, Literal

from msgspec import Struct

from dra_planner.documents.scalars import number_text
from dra_planner.documents.tree import new_map, new_seq, step
from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.manifests.schema import ApiType, fields_of
from dra_planner.manifests.validation.violations import Violation
from dra_planner.quantity import WRONG_FORMAT, QuantityError

FieldValidation = Literal["strict", "lenient", "apply"]

_NOTHING: Final[frozenset[type]] = frozenset({type(None)})
_PLAIN: Final[dict[str, frozenset[type]]] = {
    "string": frozenset({str, type(None)}),
    "bool": frozenset({bool, type(None)}),
}
_ZEROS: Final[dict[str, Any]] = {
    "bool": False,
    "int32": 0,
    "int64": 0,
    "float": 0,
    "int-or-string": 0,
    "quantity": "0",
    "any": None,
    "fields": None,
}
_INTEGERS: Final = {"int32": 31, "int64": 63}
_JSON_KIND: Final = {
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
    dict: "object",
    list: "array",
}
_SELF_DECODING: Final = frozenset({"quantity", "time", "int-or-string"})
_INDEX: Final = re.compile(r"\[\d+\]")
_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)T(\d\d?)(:\d\d:\d\d)(?:[.,]\d+)?(?:Z|([+-]\d\d:\d\d))", re.ASCII
)

Keys = tuple[str | int, ...]
Fault = tuple[str, Keys, str]  # "type", "value", "unknown", or "null"; the keys; and the text
Trail = tuple[Any, str | int] | None  # the path to a value: (the path to its container, its key)
Check = Callable[[Any, Trail, list[Fault]], None]
# classes that don't need a check, and the check for each other class
Field = tuple[frozenset[type], Check]


class Decoded(Struct, frozen=True):
    """The decoded data, or the reason why it can't be decoded.

    `data` has zero values for items that were null.
    """

    data: Any
    violations: tuple[Violation, ...] = ()


def decode(
    data: Any, struct: str, kind: str, minor: int, mode: FieldValidation = "strict"
) -> Decoded:
    """Decode data to a struct, or return the error. `kind` is the name of the object in messages.
    In lenient mode, unknown fields are ignored.
    """
    if mode == "apply":
        wrong = tuple(
            Violation(path, "Schema", text) for path, text in _apply_struct(data, struct, "", minor)
        )
        if wrong:
            return Decoded(data, wrong)
    faults: list[Fault] = []
    _struct(struct, minor)(data, None, faults)
    if not faults:
        return Decoded(data)
    # a value that decodes itself ends decoding on an error, but a wrong type is reported at the end
    for kind_of_fault in ("value", "type"):
        wrong_ones = [(keys, text) for what, keys, text in faults if what == kind_of_fault]
        if not wrong_ones:
            continue
        # the first error in kubectl's request, whose keys are sorted
        keys, text = min(wrong_ones)
        message = f"{kind} cannot be handled as a {kind}: {text}"
        return Decoded(data, (Violation(_path(keys), "Decode", message),))
    unknown = sorted({_path(keys) for what, keys, _ in faults if what == "unknown"})
    if unknown and mode == "strict":
        return Decoded(
            data,
            tuple(Violation(path, "UnknownField", f'unknown field "{path}"') for path in unknown),
        )
    if any(what == "null" for what, _, _ in faults):
        data = _filled(data, ApiType("struct", name=struct), minor)
    return Decoded(data)


def _filled(value: Any, kind: ApiType, minor: int) -> Any:
    """Return a copy with zero values in place of null items, as Go decodes them."""
    # checked first, because line numbers are determined from the outside in
    line, lines = getattr(value, "line", 0), getattr(value, "lines", None)
    if kind.kind == "struct":
        fields = fields_of(kind.name, minor)
        source = value if isinstance(value, dict) else {}
        items = [
            (
                name,
                item if item is None or name not in fields else _filled(item, fields[name], minor),
            )
            for name, item in source.items()
        ]
        return new_map(items, line, lines)
    if kind.kind == "list" and kind.item is not None:
        listed = [_filled(item, kind.item, minor) for item in value or ()]
        return new_seq(listed, line, lines)
    if kind.kind == "map" and kind.item is not None:
        items = [(name, _filled(item, kind.item, minor)) for name, item in (value or {}).items()]
        return new_map(items, line, lines)
    return _ZEROS.get(kind.kind, "") if value is None else value


def unknown_fields(data: Any, struct: str, minor: int) -> list[str]:
    """Return the paths of fields that the Kubernetes version doesn't have."""
    faults: list[Fault] = []
    _struct(struct, minor)(data, None, faults)
    return sorted({_path(keys) for what, keys, _ in faults if what == "unknown"})


@cache
def _struct(struct: str, minor: int) -> Check:
    """Check a struct: every field must be known, and every value must have its type."""
    fields: dict[str, Field] = {}

    def check(data: Any, trail: Trail, faults: list[Fault]) -> None:
        if not isinstance(data, dict):
            if data is not None:
                faults.append(_wrong_type(data, trail, struct))
            return
        if not fields:  # filled on first use, because types refer to themselves
            fields.update(
                (name, _field(kind, minor)) for name, kind in fields_of(struct, minor).items()
            )
        for name, value in data.items():
            field = fields.get(name)
            if field is None:
                faults.append(("unknown", _keys((trail, name)), ""))
            elif value.__class__ not in field[0]:
                field[1](value, (trail, name), faults)

    return check


@cache
def _field(kind: ApiType, minor: int) -> Field:
    if kind.kind == "struct":
        return _NOTHING, _struct(kind.name, minor)
    if kind.kind in ("list", "map"):
        assert kind.item is not None
        look = _list if kind.kind == "list" else _map
        return _NOTHING, look(_field(kind.item, minor), _name(kind.item))
    return _PLAIN.get(kind.kind, _NOTHING), _scalar(kind.kind)


def _list(item: Field, name: str) -> Check:
    fine, look = item

    def check(data: Any, trail: Trail, faults: list[Fault]) -> None:
        if not isinstance(data, list):
            faults.append(_wrong_type(data, trail, f"[]{name}"))
            return
        for index, value in enumerate(data):
            if value is None:
                faults.append(("null", (), ""))
            elif value.__class__ not in fine:
                look(value, (trail, index), faults)

    return check


def _map(item: Field, name: str) -> Check:
    fine, look = item

    def check(data: Any, trail: Trail, faults: list[Fault]) -> None:
        if not isinstance(data, dict):
            faults.append(_wrong_type(data, trail, f"map[string]{name}"))
            return
        for key, value in data.items():
            if value is None:
                faults.append(("null", (), ""))
            elif value.__class__ not in fine:
                look(value, (trail, key), faults)

    return check


def _scalar(kind: str) -> Check:
    is_right = _SCALARS[kind]

    def check(value: Any, trail: Trail, faults: list[Fault]) -> None:
        if not is_right(value):
            what, keys, text = _wrong_type(value, trail, kind)
            faults.append(
                (
                    "value" if kind in _SELF_DECODING else what,
                    keys,
                    WRONG_FORMAT if kind == "quantity" else text,
                )
            )

    return check


def _wrong_type(value: Any, trail: Trail, wanted: str) -> Fault:
    keys = _keys(trail)
    return "type", keys, _mismatch(value, _path(keys), wanted)


def _keys(trail: Trail) -> Keys:
    keys: list[str | int] = []
    while trail is not None:
        trail, key = trail
        keys.append(key)
    return tuple(reversed(keys))


def _path(keys: Keys) -> str:
    return reduce(step, keys, "")


def _mismatch(value: Any, path: str, wanted: str) -> str:
    kind = next((text for cls, text in _JSON_KIND.items() if isinstance(value, cls)), "null")
    shown = (
        f"number {value if isinstance(value, int) else number_text(value)}"
        if kind == "number"
        else kind
    )
    if kind == "number" and wanted not in _INTEGERS:
        shown = "number"
    return (
        f"json: cannot unmarshal {shown} into Go struct field {_INDEX.sub('', path)} of type "
        f"{wanted}"
    )


def _name(kind: ApiType | None) -> str:
    return "" if kind is None else kind.name or kind.kind


def _is_integer(bits: int) -> Any:
    def check(value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
            return False
        if isinstance(value, float):  # it's sent with its shortest digits, followed by zeros
            value = int(Decimal(repr(value)))
        return bool(-(2**bits) <= value < 2**bits)

    return check


def is_quantity(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        parse_quantity(value)
    except QuantityError:
        return False
    return True


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and parse_time(value) is not None


def parse_time(text: str) -> datetime | None:
    """Parse a time as Go parses RFC 3339, in UTC and without fractions, which aren't stored.

    Returns None if the text is invalid.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    day, hour, rest, offset = match.groups()
    try:
        return datetime.fromisoformat(f"{day}T{hour:0>2}{rest}{offset or '+00:00'}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


_SCALARS: Final[dict[str, Any]] = {
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int32": _is_integer(31),
    "int64": _is_integer(63),
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "quantity": is_quantity,
    "int-or-string": lambda value: isinstance(value, str) or _is_integer(31)(value),
    "time": _is_time,
    "any": lambda value: True,
    # FieldsV1 is accepted unchanged, but must be a map when it's applied
    "fields": lambda value: True,
}


def _apply_struct(data: Any, struct: str, path: str, minor: int) -> Iterator[tuple[str, str]]:
    """Yield the errors of server-side apply's own schema check, which runs first, with their
    paths.
    """
    if data is None:
        return
    if not isinstance(data, dict):
        yield path, f"expected map, got &{{{data}}}"
        return
    fields = fields_of(struct, minor)
    for name, value in data.items():
        kind = fields.get(name)
        where = f"{path}.{name}" if path else name
        if kind is None:
            yield where, "field not declared in schema"
        elif value is not None:
            yield from _apply_value(value, kind, where, minor)


def _apply_value(value: Any, kind: ApiType, path: str, minor: int) -> Iterator[tuple[str, str]]:
    if kind.kind == "struct":
        yield from _apply_struct(value, kind.name, path, minor)
    elif kind.kind == "list":
        yield from _apply_list(value, kind, path, minor)
    elif kind.kind == "map":
        if not isinstance(value, dict):
            yield path, f"expected map, got &{{{value}}}"
            return
        assert kind.item is not None
        for name, item in value.items():
            if item is not None:
                yield from _apply_value(item, kind.item, f"{path}.{name}", minor)
    else:
        text = _apply_scalar(value, kind.kind)
        if text:
            yield path, text


def _apply_list(value: Any, kind: ApiType, path: str, minor: int) -> Iterator[tuple[str, str]]:
    if not isinstance(value, list):
        yield path, f"expected list, got &{{{value}}}"
        return
    assert kind.item is not None
    seen: set[str] = set()
    for index, item in enumerate(value):
        where = f"{path}[{index}]"
        if kind.keys and kind.keys != ("=",):
            if not isinstance(item, dict):
                text = f"element {index}: associative list with keys may not have non-map elements"
                yield path, text
                return  # structured-merge-diff stops checking the list here
            key = _key(item, kind, minor)
            if key in seen:
                yield path, f"duplicate entries for key [{key}]"
            seen.add(key)
            where = f"{path}[{key}]"
        elif kind.keys:
            if text := _not_in_a_set(item):
                yield path, f"element {index}: {text}"
                return
            if str(item) in seen:
                yield path, f'duplicate entries for key [="{item}"]'
            seen.add(str(item))
        if item is not None:
            yield from _apply_value(item, kind.item, where, minor)


def _not_in_a_set(item: Any) -> str:
    """Return why an item can't be a member of a list without keys, or "" if it can.

    Source: kubernetes-sigs/structured-merge-diff:typed/helpers.go@v6.3.0 (setItemToPathElement).
    """
    if isinstance(item, dict):
        return "associative list without keys has an element that's a map type"
    if isinstance(item, list):
        return "not supported: associative list with lists as elements"
    if item is None:
        return "associative list without keys has an element that's an explicit null"
    return ""


def _key(item: dict[str, Any], kind: ApiType, minor: int) -> str:
    """Return the key of a list item. Missing keys have their defaults, and null counts as
    a value.
    """
    assert kind.item is not None
    types, shown = fields_of(kind.item.name, minor), []
    for name in sorted(kind.keys):
        default = (
            "TCP"
            if name == "protocol"
            else _ZEROS.get(types[name].kind, "")
            if name in types
            else ""
        )
        shown.append(f"{name}={json.dumps(item.get(name, default), ensure_ascii=False)}")
    return ",".join(shown)


def _apply_scalar(value: Any, kind: str) -> str:
    if kind in ("any", "fields"):
        return "" if kind == "any" or isinstance(value, dict) else f"expected map, got &{{{value}}}"
    if isinstance(value, dict | list):
        return (
            f"expected any scalar, got &{{{value}}}"
            if kind in ("quantity", "int-or-string")
            else f"expected {kind}"
        )
    if kind in ("string", "time") and not isinstance(value, str):
        return f"expected string, got &value.valueUnstructured{{Value:{str(value).lower()}}}"
    if kind == "bool" and not isinstance(value, bool):
        return f"expected boolean, got {_JSON_KIND.get(type(value), 'null')}"
    if kind in ("int32", "int64", "float") and (
        isinstance(value, bool) or not isinstance(value, int | float)
    ):
        return f"expected numeric (int or float), got {_JSON_KIND.get(type(value), 'null')}"
    return ""

"""`format`: fill the clauses of a string with the values of a list.

Source of the behavior: google/cel-go:ext/formatting.go@v0.26.0.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from dra_planner.cel.cost.effort import spend
from dra_planner.cel.libraries.conversions import double_text, plain_double_text
from dra_planner.cel.libraries.operators import MAX_SIZE, known
from dra_planner.cel.libraries.times import seconds, timestamp_text
from dra_planner.cel.values import (
    INT_MAX,
    CelError,
    CostExceeded,
    Duration,
    MapValue,
    Timestamp,
    TypeValue,
    Uint,
    show,
    type_name,
)

_CLAUSE: Final = re.compile(r"%(?:(%)|(?:\.([0-9]*))?(.)?)", re.DOTALL | re.ASCII)
_STRINGS: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
    "durations, and "
    "timestamps, was given {}"
)
_WRONG: Final = {
    "s": _STRINGS,
    "d": "decimal clause can only be used on integers, was given {}",
    "f": "fixed-point clause can only be used on doubles, was given {}",
    "e": "scientific clause can only be used on doubles, was given {}",
    "b": "only integers and bools can be formatted as binary, was given {}",
    "x": "only integers, byte buffers, and strings can be formatted as hex, was given {}",
    "X": "only integers, byte buffers, and strings can be formatted as hex, was given {}",
    "o": "octal clause can only be used on integers, was given {}",
}
TYPES: Final[dict[str, frozenset[str]]] = {
    "s": frozenset(
        (
            "list",
            "map",
            "int",
            "uint",
            "double",
            "bool",
            "string",
            "google.protobuf.Timestamp",
            "bytes",
            "google.protobuf.Duration",
            "type",
            "null_type",
        )
    ),
    "d": frozenset(("int", "uint")),
    "f": frozenset(("double", "string")),
    "e": frozenset(("double", "string")),
    "b": frozenset(("int", "uint", "bool")),
    "x": frozenset(("int", "uint", "string", "bytes")),
    "X": frozenset(("int", "uint", "string", "bytes")),
    "o": frozenset(("int", "uint")),
}
"""Names of the types that each clause accepts."""
_MAX_PRECISION: Final = 1_000_000
# the output of Go's formatter for a precision that it doesn't support
_TOO_PRECISE: Final = "%!(NOVERB)"
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def clauses(text: str, count: int) -> list[tuple[str, str, int | None]]:
    """Yield the text between clauses, the letter of the clause after it (empty at the end), and its
    precision.

    `count` is the number of values. Raises `CelError` if upstream rejects the format string.
    """
    found: list[tuple[str, str, int | None]] = []
    before, at, used = "", 0, 0
    for match in _CLAUSE.finditer(text):
        before += text[at : match.start()]
        at = match.end()
        if match[1]:
            before += "%"
            continue
        if used >= count:
            raise CelError(f"index {used} out of range")
        letter = match[3]
        if letter is None:
            raise CelError("unexpected end of string")
        if letter not in TYPES:
            raise CelError(
                f'could not parse formatting clause: unrecognized formatting clause "{letter}"'
            )
        if match[2] == "" or int((match[2] or "0")[-400:]) > INT_MAX:
            raise CelError("could not parse formatting clause: error while parsing precision")
        precision = None if match[2] is None else int(match[2][-400:])
        found.append((before, letter, precision))
        before, used = "", used + 1
    found.append((before + text[at:], "", None))
    return found


def wrong_clause(letter: str, given: str) -> str:
    """Return the error for a clause whose value has the wrong type."""
    return _WRONG[letter].format(given)


def format_text(text: str, values: Sequence[Any]) -> str:
    """Return the string with its clauses filled. Raises `CelError`."""
    parts: list[str] = []
    size = 0
    for index, (before, letter, precision) in enumerate(clauses(text, len(values))):
        part = before
        if letter:
            part += _fill(letter, precision, known(values[index]))
        parts.append(part)
        size += len(part)
        if size > MAX_SIZE:
            raise CostExceeded
    return "".join(parts)


def _fill(letter: str, precision: int | None, value: Any) -> str:
    try:
        return _FORMATTERS[letter](value, precision)
    except _WrongTypeError as error:
        raise CelError(f"error during formatting: {wrong_clause(letter, error.given)}") from None


class _WrongTypeError(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.given = type_name(value)


def _string(value: Any, _: int | None = None) -> str:
    kind = value.__class__
    if kind is list:
        spend(10 * len(value))
        # a generator would use C stack
        return "[" + ", ".join([_member(known(item)) for item in value]) + "]"
    if kind is MapValue:
        spend(20 * len(value))
        pairs = sorted((_map_key(k), _member(known(v))) for k, v in value.entries.values())
        return "{" + ", ".join(f"{k}:{v}" for k, v in pairs) + "}"
    if kind is float:
        return double_text(value)
    if kind is Duration:
        return plain_double_text(seconds(value)) + "s"
    if kind is Timestamp:
        return timestamp_text(value)
    if kind is bytes:
        try:
            return str(value.decode())
        except UnicodeDecodeError:
            raise CelError(
                "error during formatting: could not convert argument to string"
            ) from None
    if kind in (str, bool, int, Uint, TypeValue) or value is None:
        return show(value) if kind is not Uint else str(int(value))
    raise _WrongTypeError(value)


def _member(value: Any) -> str:
    """Return a value inside a list or map as text."""
    kind = value.__class__
    if kind is str:
        return json.dumps(value, ensure_ascii=False)
    if kind is bytes:
        return "b" + json.dumps(_string(value), ensure_ascii=False)
    if kind is float:
        if value != value or math.isinf(value):
            return json.dumps({math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN"))
        return f"{value:.6f}"
    if kind is Timestamp:
        return f'timestamp("{_string(value)}")'
    if kind is Duration:
        return f'duration("{_string(value)}")'
    if kind in (list, MapValue, bool, int, Uint, TypeValue) or value is None:
        return _string(value)
    raise CelError(f"error during formatting: no formatting function for {type_name(value)}")


def _map_key(key: Any) -> str:
    if key.__class__ in (str, bool, int, Uint):
        return _member(key)
    raise CelError(
        f"error during formatting: no formatting function for map key of type {type_name(key)}"
    )


def _decimal(value: Any, _: int | None) -> str:
    if value.__class__ not in (int, Uint):
        raise _WrongTypeError(value)
    return str(int(value))


def _floating(style: str) -> Callable[[Any, int | None], str]:
    def form(value: Any, precision: int | None) -> str:
        if value.__class__ is str and value in _SPECIAL:
            value = _SPECIAL[value]
        if value.__class__ is not float:
            raise _WrongTypeError(value)
        if precision is not None and precision // 10 > _MAX_PRECISION:
            return _TOO_PRECISE
        if value != value:
            return "NaN"
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        if precision is not None and precision > _MAX_PRECISION:
            raise CostExceeded
        digits = 6 if precision is None else precision
        spend(digits // 4)
        if style == "f":
            return f"{value:,.{digits}f}"
        mantissa, exponent = f"{value:.{digits}e}".split("e")
        return f"{mantissa}\u202f×\u202f10" + f"{int(exponent):+03d}".translate(_SUPERSCRIPT)

    return form


_SUPERSCRIPT: Final = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")


def _binary(value: Any, _: int | None) -> str:
    if value.__class__ not in (int, Uint, bool):
        raise _WrongTypeError(value)
    return f"{int(value):b}"


def _octal(value: Any, _: int | None) -> str:
    if value.__class__ not in (int, Uint):
        raise _WrongTypeError(value)
    return f"{int(value):o}"


def _hexadecimal(upper: bool) -> Callable[[Any, int | None], str]:
    def form(value: Any, _: int | None) -> str:
        kind = value.__class__
        if kind is str:
            text = value.encode().hex()
        elif kind is bytes:
            text = value.hex()
        elif kind in (int, Uint):
            text = f"{int(value):x}"
        else:
            raise _WrongTypeError(value)
        return str(text.upper() if upper else text)

    return form


_FORMATTERS: Final[dict[str, Callable[[Any, int | None], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _floating("f"),
    "e": _floating("e"),
    "b": _binary,
    "x": _hexadecimal(upper=False),
    "X": _hexadecimal(upper=True),
    "o": _octal,
}

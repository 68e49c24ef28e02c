"""Plain scalars as kubectl reads them: YAML 1.1 booleans, Go's integers, no clock times and no
dates.

Source of the behavior: kubernetes-sigs/yaml:goyaml.v2/resolve.go@v1.4.0, and json.Marshal of the
result.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from typing import Any, Final

_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(
        ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True
    ),
    **dict.fromkeys(
        ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False
    ),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
}
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_INTEGER: Final = re.compile(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))", re.ASCII
)
_BASES: Final = (16, 8, 2, 10)
_INT64: Final = range(-(2**63), 2**63)
_UINT64: Final = range(2**64)
# longer digit sequences stay text, because Python limits their length and nobody writes such
# numbers
_MAX_DIGITS: Final = 400

MERGE: Final = "<<"
_MAX_REMEMBERED: Final = 50_000
_MAX_REMEMBERED_LENGTH: Final = 64

Scalar = str | int | float | bool | None


def resolve_plain(text: str) -> Scalar:
    """Return the value of an unquoted scalar that doesn't have a tag."""
    if text in _WORDS:
        return _WORDS[text]  # type: ignore[no-any-return]  # bool, None or float from the table above
    first = text[0]
    if not (first.isdigit() or first in "+-.") or not first.isascii() or len(text) > _MAX_DIGITS:
        return text
    if first == ".":
        return float(text) if _FLOAT.fullmatch(text) else text
    plain = text.replace("_", "")
    number = _integer(plain)
    if number is not None:
        return number
    if _FLOAT.fullmatch(plain):
        value = float(plain)
        return text if math.isinf(value) else value
    return text


def _integer(plain: str) -> int | None:
    match = _INTEGER.fullmatch(plain)
    if match is None:
        return None
    sign, *digits = match.groups()
    number = next(
        int(text, base) for text, base in zip(digits, _BASES, strict=True) if text is not None
    )
    if sign == "-":
        number = -number
    return number if number in _INT64 or (not sign and number in _UINT64) else None


def key_text(value: Scalar) -> str | None:
    """Return the text of a mapping key that YAML read as another type, or None if Kubernetes
    rejects it.

    Source: kubernetes-sigs/yaml:yaml.go@v1.6.0 (convertToJSONableObject).
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value in _INT64 else None
    if isinstance(value, float):
        return _float_key(value)
    return None


def _float_key(value: float) -> str:
    """Return a float in the same form as Go's `FormatFloat(value, 'g', -1, 32)`: with the fewest
    digits that identify a 32-bit float.
    """
    try:
        (value,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        value = math.copysign(math.inf, value)
    if not math.isfinite(value):
        return {math.inf: ".inf", -math.inf: "-.inf"}.get(value, ".nan")
    for precision in range(9):
        text = f"{value:.{precision}e}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            break
    exponent = int(text.partition("e")[2])
    return format(Decimal(text), "f") if -4 <= exponent < 6 else text


def number_text(value: float) -> str:
    """Return a float as Go writes it in JSON: with the fewest digits, and without an exponent from
    1e-6 to 1e21.
    """
    if math.isinf(value) or math.isnan(value):
        return {"inf": ".inf", "-inf": "-.inf"}.get(str(value), ".nan")
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        text = format(Decimal(repr(value)), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return repr(value).replace("e-0", "e-")


class NotInJson(Exception):
    """An unquoted scalar that is infinite or NaN."""


class PlainValues(dict[str, Any]):
    """The values of unquoted scalars by text. Values of short texts are cached."""

    def __missing__(self, text: str) -> Any:
        value = self._resolve(text)
        if len(text) <= _MAX_REMEMBERED_LENGTH:
            if len(self) >= _MAX_REMEMBERED:
                self.clear()
            self[text] = value
        return value

    def _resolve(self, text: str) -> Any:
        value = resolve_plain(text)
        if value.__class__ is float and not math.isfinite(value):
            raise NotInJson(text)
        return value


class PlainKeys(PlainValues):
    """The values of unquoted keys. A merge key or null gives None."""

    def _resolve(self, text: str) -> str | None:
        return None if text == MERGE else key_text(resolve_plain(text))

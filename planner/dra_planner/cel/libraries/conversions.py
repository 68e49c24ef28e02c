"""Conversions between the basic types.

Source of the behavior: google/cel-go:common/types/*.go@v0.26.0; Go's strconv.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from dra_planner.cel.libraries import times
from dra_planner.cel.values import INT_MAX, INT_MIN, UINT_MAX, CelError, Uint

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,400}", re.ASCII)
_FLOAT: Final = re.compile(
    r"[+-]?(?:inf(?:inity)?|nan|(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)"
    r"(?:e[+-]?[0-9]+(?:_[0-9]+)*)?)",
    re.ASCII | re.IGNORECASE,
)
_HEX_FLOAT: Final = re.compile(
    r"([+-]?)0x((?:_?[0-9a-f])*)(?:\.((?:_?[0-9a-f])*))?p([+-]?[0-9]+)", re.ASCII | re.IGNORECASE
)
_MAX_LENGTH: Final = 4000


def _failed(wanted: str) -> CelError:
    return CelError(f"type conversion error from 'string' to '{wanted}'")


def _text_to_int(text: str) -> int:
    if not _INTEGER.fullmatch(text) or not INT_MIN <= int(text) <= INT_MAX:
        raise _failed("int")
    return int(text)


def _text_to_uint(text: str) -> Uint:
    if not _INTEGER.fullmatch(text) or text[0] in "+-" or int(text) > UINT_MAX:
        raise _failed("uint")
    return Uint(int(text))


def _text_to_double(text: str) -> float:
    if len(text) > _MAX_LENGTH:
        raise _failed("double")
    if _HEX_FLOAT.fullmatch(text):
        return _hex_float(text)
    if not _FLOAT.fullmatch(text) or (text[0] in "+-" and text[1:].lower() == "nan"):
        raise _failed("double")
    number = float(text.replace("_", ""))
    if math.isinf(number) and "inf" not in text.lower():
        raise _failed("double")
    return number


def _hex_float(text: str) -> float:
    try:
        return float.fromhex(text.replace("_", ""))
    except (ValueError, OverflowError):
        raise _failed("double") from None


def _text_to_bool(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _failed("bool")


def _double_to_int(number: float) -> int:
    if number != number or not -9223372036854775808.0 < number < 9223372036854775808.0:
        raise CelError("integer overflow")
    return int(number)


def _double_to_uint(number: float) -> Uint:
    if number != number or not 0 <= number < 18446744073709551616.0:
        raise CelError("unsigned integer overflow")
    return Uint(int(number))


def _int_to_uint(number: int) -> Uint:
    if number < 0:
        raise CelError("unsigned integer overflow")
    return Uint(number)


def _uint_to_int(number: Uint) -> int:
    if number > INT_MAX:
        raise CelError("integer overflow")
    return int(number)


def _bytes_to_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


def double_text(number: float) -> str:
    """Return a double as Go's %g writes it."""
    if number != number:
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    sign = "-" if number < 0 else ""
    mantissa, exponent = _shortest(abs(number))
    if exponent < -4 or exponent >= 6:
        head = mantissa[0] + ("." + mantissa[1:] if len(mantissa) > 1 else "")
        return f"{sign}{head}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    return sign + _plain(mantissa, exponent)


def _shortest(number: float) -> tuple[str, int]:
    """Return the fewest digits that represent the number, without leading or trailing zeros, and
    its decimal exponent.
    """
    text = repr(number)
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    shift = len(whole) - 1 if whole.strip("0") else -(len(fraction) - len(fraction.lstrip("0")) + 1)
    return digits.rstrip("0") or "0", int(exponent or 0) + shift


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


def plain_double_text(number: float) -> str:
    """Return a finite double without an exponent, with the fewest digits."""
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    digits, exponent = _shortest(abs(number))
    return ("-" if number < 0 else "") + _plain(digits, exponent)


def _same(value: Any) -> Any:
    return value


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(
        (
            "bool_to_bool",
            "bytes_to_bytes",
            "double_to_double",
            "duration_to_duration",
            "int64_to_int64",
            "string_to_string",
            "timestamp_to_timestamp",
            "uint64_to_uint64",
        ),
        _same,
    ),
    "string_to_bool": _text_to_bool,
    "string_to_bytes": lambda text: text.encode(),
    "int64_to_double": float,
    "string_to_double": _text_to_double,
    "uint64_to_double": float,
    "int64_to_duration": times.duration_of_int,
    "string_to_duration": times.parse_duration,
    "double_to_int64": _double_to_int,
    "duration_to_int64": lambda duration: duration.nanos,
    "string_to_int64": _text_to_int,
    "timestamp_to_int64": lambda moment: moment.nanos // 10**9,
    "uint64_to_int64": _uint_to_int,
    "bool_to_string": lambda value: "true" if value else "false",
    "bytes_to_string": _bytes_to_text,
    "double_to_string": double_text,
    "duration_to_string": lambda duration: plain_double_text(times.seconds(duration)) + "s",
    "int64_to_string": str,
    "timestamp_to_string": times.timestamp_text,
    "uint64_to_string": lambda number: str(int(number)),
    "int64_to_timestamp": times.timestamp_of_seconds,
    "string_to_timestamp": times.parse_timestamp,
    "double_to_uint64": _double_to_uint,
    "int64_to_uint64": _int_to_uint,
    "string_to_uint64": _text_to_uint,
}

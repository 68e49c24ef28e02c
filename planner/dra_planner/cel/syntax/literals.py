"""Convert literals to values."""

from __future__ import annotations

import re
from typing import Any, Final

from dra_planner.cel.values import UINT_MAX, Uint

_ESCAPE: Final = re.compile(
    r"\\(?:([xX])(..)|u(.{4})|U(.{8})|([0-3][0-7]{2})|(.))|([^\\]+)", re.DOTALL
)
_SIMPLE: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class LiteralError(ValueError):
    """A literal with a valid form but an invalid content."""


def value_of(kind: str, token: str) -> Any:
    """Return the value of a word of this kind. Raises `LiteralError`."""
    match kind:
        case "INT_LIT":
            return int(token, 16) if token.startswith("0x") else _decimal(token)
        case "UINT_LIT":
            digits = token[:-1]
            return Uint(int(digits, 16) if digits.startswith("0x") else _decimal(digits))
        case "FLOAT_LIT":
            return float(token)
        case "BOOL_LIT":
            return token == "true"
        case "NULL_LIT":
            return None
        case "BYTES_LIT":
            return bytes_of(token[1:])
        case _:
            return text_of(token)


def _decimal(digits: str) -> int:
    # Python refuses to parse very long numbers
    return int(digits) if len(digits) < 4000 else UINT_MAX + 1


def text_of(literal: str) -> str:
    """Return the value of a string literal, from its text with quotes and prefix. Raises
    `LiteralError`.
    """
    body, raw = _body(literal)
    if raw or "\\" not in body:
        return body
    parts: list[str] = []
    for match in _ESCAPE.finditer(body):
        _, two, four, eight, octal, simple, plain = match.groups()
        if plain is not None:
            parts.append(plain)
        elif simple is not None:
            parts.append(_SIMPLE.get(simple, simple))
        else:
            parts.append(_character(int(octal, 8) if octal else int(two or four or eight, 16)))
    return "".join(parts)


def bytes_of(literal: str) -> bytes:
    """Return the bytes of a bytes literal without its `b`. Raises `LiteralError`."""
    body, raw = _body(literal)
    if raw or "\\" not in body:
        return body.encode()
    parts = bytearray()
    for match in _ESCAPE.finditer(body):
        _, two, four, eight, octal, simple, plain = match.groups()
        if plain is not None:
            parts += plain.encode()
        elif simple is not None:
            parts += _SIMPLE.get(simple, simple).encode()
        elif four or eight:
            raise LiteralError("unable to unescape string")
        else:
            parts.append((int(octal, 8) if octal else int(two, 16)) & 0xFF)
    return bytes(parts)


def _body(literal: str) -> tuple[str, bool]:
    literal = literal.replace("\r\n", "\n").replace("\r", "\n")
    raw = literal[0] in "rR"
    if raw:
        literal = literal[1:]
    width = 3 if len(literal) >= 6 and literal[:3] in ('"""', "'''") else 1
    return literal[width:-width], raw


def _character(code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise LiteralError("invalid unicode code point")
    return chr(code)

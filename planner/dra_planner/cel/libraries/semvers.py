"""Semantic versions.

Source of the behavior: blang/semver:v4/semver.go@v4.0.0,
kubernetes/apiserver:pkg/cel/library/semverlib.go@v0.36.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dra_planner.cel.libraries.operators import compare_versions
from dra_planner.cel.values import CelError, SemverValue

_DIGITS: Final = frozenset("0123456789")
_IDENTIFIER: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")
_UINT64: Final = 2**64


class SemverError(ValueError):
    """A text that isn't a semantic version."""


def parse_semver(text: str) -> SemverValue:
    """Parse a semantic version. Raises `SemverError` with upstream's reason."""
    if not text:
        raise SemverError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise SemverError("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "Major"), _number(parts[1], "Minor")
    patch, build, prerelease = parts[2], None, None
    if "+" in patch:
        patch, rest = patch.split("+", 1)
        build = rest.split(".")
    if "-" in patch:
        patch, rest = patch.split("-", 1)
        prerelease = rest.split(".")
    number = _number(patch, "Patch")
    identifiers = tuple(_prerelease(p) for p in prerelease or ())
    for part in build or ():
        if not part:
            raise SemverError("Build meta data is empty")
        if not set(part) <= _IDENTIFIER:
            raise SemverError(f'Invalid character(s) found in build meta data "{part}"')
    return SemverValue(major, minor, number, identifiers, text)


def _number(text: str, which: str) -> int:
    if not set(text) <= _DIGITS:
        raise SemverError(f'Invalid character(s) found in {which.lower()} number "{text}"')
    if len(text) > 1 and text[0] == "0":
        raise SemverError(f'{which} number must not contain leading zeroes "{text}"')
    if not text:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) >= _UINT64:
        raise SemverError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _prerelease(text: str) -> int | str:
    if not text:
        raise SemverError("Prerelease is empty")
    if set(text) <= _DIGITS:
        if len(text) > 1 and text[0] == "0":
            raise SemverError(
                f'Numeric PreRelease version must not contain leading zeroes "{text}"'
            )
        if len(text) > 20 or int(text) >= _UINT64:
            raise SemverError(f'strconv.ParseUint: parsing "{text}": value out of range')
        return int(text)
    if not set(text) <= _IDENTIFIER:
        raise SemverError(f'Invalid character(s) found in prerelease "{text}"')
    return text


def normalize(text: str) -> str:
    """Return the text without a leading v and leading zeros, and with missing parts added. Raises
    `SemverError`.
    """
    text = text.removeprefix("v")
    parts = text.split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            trimmed = part.lstrip("0")
            parts[index] = trimmed if trimmed and trimmed[0] in _DIGITS else "0" + trimmed
    if len(parts) < 3:
        if any(c in parts[-1] for c in "+-"):
            raise SemverError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _semver(text: str, normalized: bool = False) -> SemverValue:
    try:
        return parse_semver(normalize(text) if normalized else text)
    except SemverError as error:
        raise CelError(str(error)) from None


def _is_semver(text: str, normalized: bool = False) -> bool:
    try:
        parse_semver(normalize(text) if normalized else text)
    except SemverError:
        return False
    return True


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_semver": _semver,
    "string_bool_to_semver": _semver,
    "is_semver_string": _is_semver,
    "is_semver_string_bool": _is_semver,
    "semver_is_greater_than": lambda a, b: compare_versions(a, b) > 0,
    "semver_is_less_than": lambda a, b: compare_versions(a, b) < 0,
    "semver_compare_to": compare_versions,
    "semver_major": lambda v: _wrapped(v.major),
    "semver_minor": lambda v: _wrapped(v.minor),
    "semver_patch": lambda v: _wrapped(v.patch),
}


def _wrapped(number: int) -> int:
    """Convert a 64-bit number to an int as upstream does, with overflow."""
    return number if number < 2**63 else number - _UINT64

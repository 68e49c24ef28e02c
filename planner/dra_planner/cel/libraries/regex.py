"""Regular expressions on RE2.

Source of the behavior: kubernetes/apiserver:pkg/cel/library/regex.go@v0.36.3;
google/cel-go:common/types/string.go.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final

import re2

from dra_planner.cel.cost.effort import spend
from dra_planner.cel.values import CelError

_SHORT: Final = 256
_NEW: Final = 1_500
_MAX_COMPILED: Final = 512
_compiled: dict[str, Any] = {}
_lock: Final = threading.Lock()


@cache
def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    return options


def compile_pattern(pattern: str) -> Any:
    """Return the compiled pattern, which is cached. Raises `CelError` with the reason if it's
    invalid.
    """
    compiled = _compiled.get(pattern)
    if compiled is not None:
        return compiled
    try:
        compiled = re2.compile(pattern, options=_options())
    except re2.error as error:
        reason = error.args[0] if error.args else "invalid pattern"
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise CelError(f"error parsing regexp: {text}") from None
    with _lock:
        while len(_compiled) >= _MAX_COMPILED:
            del _compiled[next(iter(_compiled))]
        _compiled[pattern] = compiled
    return compiled


def _pattern(pattern: str) -> Any:
    """Return the compiled pattern, and charge the evaluation if the pattern isn't cached yet."""
    compiled = _compiled.get(pattern)
    if compiled is None:
        spend(_NEW + 8 * len(pattern))
        compiled = compile_pattern(pattern)
    return compiled


@lru_cache(maxsize=4096)
def _matches_short(text: str, pattern: str) -> bool:
    return _pattern(pattern).search(text) is not None


def _matches(text: str, pattern: str) -> bool:
    if len(text) + len(pattern) <= _SHORT:
        return _matches_short(text, pattern)
    return _pattern(pattern).search(text) is not None


def _find(text: str, pattern: str) -> str:
    match = _pattern(pattern).search(text)
    return "" if match is None else str(match.group(0))


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found: list[str] = []
    previous_end = -1
    for match in _pattern(pattern).finditer(text):
        if 0 <= limit <= len(found):
            break
        # Go drops empty matches next to another match
        if match.start() != match.end() or match.start() != previous_end:
            found.append(match.group(0))
        previous_end = match.end()
    return found


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "matches": _matches,
    "matches_string": _matches,
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
}

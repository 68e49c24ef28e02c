"""All functions of the libraries by overload."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from dra_planner.cel.checking.rows import AUTHORIZER
from dra_planner.cel.dialect import Library
from dra_planner.cel.libraries import (
    conversions,
    formats,
    lists,
    networks,
    optionals,
    quantities,
    regex,
    semvers,
    strings,
    times,
    urls,
)
from dra_planner.cel.values import CelError


def _unavailable(*_: Any) -> Any:
    """A function of the authorizer: declared everywhere, and never given anything it takes."""
    raise CelError("no such overload")


_AUTHORIZER: Final = tuple(line.split()[0] for line in AUTHORIZER.strip().splitlines())

_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(_AUTHORIZER, _unavailable),
    **conversions.FUNCTIONS,
    **formats.FUNCTIONS,
    **lists.FUNCTIONS,
    **networks.FUNCTIONS,
    **optionals.FUNCTIONS,
    **quantities.FUNCTIONS,
    **regex.FUNCTIONS,
    **semvers.FUNCTIONS,
    **strings.FUNCTIONS,
    **times.FUNCTIONS,
    **urls.FUNCTIONS,
}


@cache
def implementations(library: Library) -> dict[str, Callable[..., Any]]:
    """Return the functions of a library by overload."""
    functions = dict(_FUNCTIONS)
    if library.bounded_ranges:
        functions |= lists.BOUNDED_RANGES
    if library.bounded_searches:
        functions |= strings.BOUNDED_SEARCHES
    if library.pure_arithmetic:
        functions |= quantities.PURE_ARITHMETIC
    if library.strict_host_colons:
        functions |= urls.STRICT_COLONS | formats.STRICT_COLONS
    return functions

"""All functions of the libraries by overload. A library is loaded when a selector can call one of
its functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from dra_planner.cel.checking.overload_rows import AUTHORIZER
from dra_planner.cel.dialect import CelLibrary
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

Functions = Mapping[str, Callable[..., Any]]


def _authorizer(_: CelLibrary) -> Functions:
    """Return the functions of the authorizer. They are declared in all environments, but no
    environment has values that they accept.
    """

    def unavailable(*_: Any) -> Any:
        raise CelError("no such overload")

    return {line.split()[0]: unavailable for line in AUTHORIZER.strip().splitlines()}


def _conversions(_: CelLibrary) -> Functions:
    return conversions.FUNCTIONS


def _formats(library: CelLibrary) -> Functions:
    return formats.FUNCTIONS | (formats.STRICT_COLONS if library.strict_host_colons else {})


def _lists(library: CelLibrary) -> Functions:
    return lists.FUNCTIONS | (lists.BOUNDED_RANGES if library.bounded_ranges else {})


def _networks(_: CelLibrary) -> Functions:
    return networks.FUNCTIONS


def _optionals(_: CelLibrary) -> Functions:
    return optionals.FUNCTIONS


def _quantities(library: CelLibrary) -> Functions:
    return quantities.FUNCTIONS | (quantities.PURE_ARITHMETIC if library.pure_arithmetic else {})


def _regex(_: CelLibrary) -> Functions:
    return regex.FUNCTIONS


def _semvers(_: CelLibrary) -> Functions:
    return semvers.FUNCTIONS


def _strings(library: CelLibrary) -> Functions:
    return strings.FUNCTIONS | (strings.BOUNDED_SEARCHES if library.bounded_searches else {})


def _times(_: CelLibrary) -> Functions:
    return times.FUNCTIONS


def _urls(library: CelLibrary) -> Functions:
    return urls.FUNCTIONS | (urls.STRICT_COLONS if library.strict_host_colons else {})


_LIBRARIES: Final = (
    _quantities,
    _semvers,
    _strings,
    _optionals,
    _regex,
    _lists,
    _conversions,
    _times,
    _networks,
    _urls,
    _formats,
    _authorizer,
)
"""The libraries. Libraries that device selectors use come first. No overload is in two of them."""


@cache
def implementation_of(overload: str, library: CelLibrary) -> Callable[..., Any] | None:
    """Return the function of an overload, or None if it isn't supported."""
    for functions_of in _LIBRARIES:
        found = functions_of(library).get(overload)
        if found is not None:
            return found
    return None

"""All functions of the libraries by overload."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

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
from dra_planner.cel.rows import AUTHORIZER
from dra_planner.cel.values import CelError


def _unavailable(*_: Any) -> Any:
    """A function of the authorizer: declared everywhere, and never given anything it takes."""
    raise CelError("no such overload")


_AUTHORIZER: Final = tuple(line.split()[0] for line in AUTHORIZER.strip().splitlines())

_UP_TO_36: Final[dict[str, Callable[..., Any]]] = {
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
_FROM_37: Final = {**_UP_TO_36, **lists.FROM_37, **quantities.FROM_37, **strings.FROM_37}


def implementations(minor: int) -> dict[str, Callable[..., Any]]:
    """The functions of a minor by overload."""
    return _FROM_37 if minor >= 37 else _UP_TO_36

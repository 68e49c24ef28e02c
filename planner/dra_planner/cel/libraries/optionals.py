"""Optional values.

Source of the behavior: google/cel-go:cel/library.go, common/types/optional.go @v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dra_planner.cel.libraries.operators import known
from dra_planner.cel.values import (
    NONE,
    CelError,
    Duration,
    MapValue,
    Optional,
    Timestamp,
    Uint,
    show,
)

_YEAR_ONE: Final = -62135596800 * 10**9


def _is_zero(value: Any) -> bool:
    kind = value.__class__
    if value is None:
        return True
    # maps of domains are never considered empty
    if kind is MapValue and value.default is not None:
        return False
    if kind in (bool, int, Uint, float, str, bytes, list, MapValue):
        return not value
    if kind is Duration:
        return bool(value.nanos == 0)
    return kind is Timestamp and bool(value.nanos == _YEAR_ONE)


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise CelError("optional.none() dereference")
    return known(optional.value)


def _unwrap(items: list[Any]) -> list[Any]:
    values = []
    for item in map(known, items):
        if item.__class__ is not Optional:
            raise CelError(f"value {show(item)} is not optional")
        if item.present:
            values.append(known(item.value))
    return values


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "optional_of": lambda value: Optional(True, value),
    "optional_ofNonZeroValue": lambda value: NONE if _is_zero(value) else Optional(True, value),
    "optional_none": lambda: NONE,
    "optional_value": _value,
    "optional_hasValue": lambda optional: optional.present,
    "list_first": lambda items: Optional(True, known(items[0])) if items else NONE,
    "list_last": lambda items: Optional(True, known(items[-1])) if items else NONE,
    "optional_unwrap": _unwrap,
    "optional_unwrapOpt": _unwrap,
}

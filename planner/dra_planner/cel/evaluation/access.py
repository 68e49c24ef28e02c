"""Read a field, a key, or an index of a value.

Source of the behavior: google/cel-go:interpreter/attributes.go@v0.26.0.
"""

from __future__ import annotations

from typing import Any

from dra_planner.cel.libraries.operators import known
from dra_planner.cel.values import CelError, MapValue, Uint, show

ABSENT = object()
"""Result of reading a missing entry, if a missing entry isn't an error."""


def read(container: Any, key: Any) -> Any:
    """Return the entry of the container. Raises `CelError` if it doesn't exist, and `UnknownError`
    for an unknown value.
    """
    kind = container.__class__
    if kind is MapValue:
        entry = container.find(key)
        if entry is not None:
            return known(entry[1])
        if container.default is not None:
            return container.default
        raise CelError(f"no such key: {show(key)}")
    if kind is list:
        index = _index(key)
        if 0 <= index < len(container):
            return known(container[index])
        raise CelError(f"index out of bounds: {show(key)}")
    raise CelError(f"no such key: {show(key)}")


def read_if_present(container: Any, key: Any) -> Any:
    """Return the entry of the container, or `ABSENT`."""
    kind = container.__class__
    if kind is MapValue:
        entry = container.find(key)
        if entry is not None:
            return known(entry[1])
        return ABSENT if container.default is None else container.default
    if kind is list:
        index = _index(key)
        return known(container[index]) if 0 <= index < len(container) else ABSENT
    return ABSENT


def is_present(container: Any, key: Any) -> bool:
    """Return True if the container has the entry. An unknown value counts as present."""
    kind = container.__class__
    if kind is MapValue:
        return container.find(key) is not None or container.default is not None
    if kind is list:
        return 0 <= _index(key) < len(container)
    return False


def _index(key: Any) -> int:
    kind = key.__class__
    if kind is int or kind is Uint:
        return int(key)
    if kind is float and key.is_integer():
        return int(key)
    if kind is float:
        raise CelError(f"unsupported index value {show(key)} in list")
    raise CelError(f"unsupported index type '{type(key).__name__}' in list")

"""Documents in which one value has an unexpected type."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

ODD: tuple[Any, ...] = (None, 0, "x", "", [], {}, [None], {"a": 1}, True, 1.5, "²", "9" * 5000)
Path = tuple[Any, ...]


def places(data: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value below `data`."""
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def with_odd_values(data: Any, path: Path) -> Iterator[Any]:
    """Yield copies of `data`, each with another odd value at `path`."""
    for value in ODD:
        found = copy.deepcopy(data)
        parent = found
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = value
        yield found

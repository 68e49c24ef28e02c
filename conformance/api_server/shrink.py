"""Reduce an object to the smallest one for which the two results still differ in the same way."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

Json = dict[str, Any]
Path = tuple[str | int, ...]
_LONG = 8
_BATCH = 12
_ROUNDS = 60


def shrink(document: Json, differs: Callable[[list[Json]], list[bool]]) -> Json:
    """Return a small object that was found by removing parts. `differs` evaluates multiple objects
    at the same time.
    """
    for _ in range(_ROUNDS):
        smaller = (made for path in _paths(document) for made in _without(document, path))
        while batch := list(islice(smaller, _BATCH)):
            found = next(
                (made for made, bad in zip(batch, differs(batch), strict=True) if bad), None
            )
            if found is not None:
                break
        else:
            return document
        document = found
    return document


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of the parts that can be removed, starting with the outer parts. Fields that
    identify the kind are omitted.
    """
    keys: Iterator[Any] = iter(value) if isinstance(value, dict) else iter(range(len(value)))
    inner = []
    for key in keys:
        where = (*path, key)
        if where in (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name")):
            if where == ("metadata",) and isinstance(value[key], dict):
                inner.append((value[key], where))
            continue
        yield where
        if isinstance(value[key], dict | list):
            inner.append((value[key], where))
    for item, where in inner:
        yield from _paths(item, where)


def _without(document: Json, path: Path) -> Iterator[Json]:
    """Yield copies without one part and, for a long list, also without half of the list."""
    holder = document
    for key in path[:-1]:
        holder = holder[key]  # type: ignore[index]
    value: Any = holder[path[-1]]  # type: ignore[index]
    if isinstance(value, list) and len(value) > _LONG:
        for half in (slice(None, len(value) // 2), slice(len(value) // 2, None)):
            made = copy.deepcopy(document)
            target: Any = made
            for key in path[:-1]:
                target = target[key]
            target[path[-1]] = copy.deepcopy(value[half])
            yield made
    made = copy.deepcopy(document)
    target = made
    for key in path[:-1]:
        target = target[key]
    del target[path[-1]]
    yield made

"""Converts Pulumi's names of properties to those of the cloud's own API."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Names = Mapping[str, str | Callable[[Any], dict[str, Any]] | None]
"""What a property is called in the API, by its path in Pulumi's inputs
(`nodeConfig.guestAccelerators`, lists left out): a dotted path from where its parent is, None for
what never reaches this API, or a function that returns the members that stand for its value.
"""


def renamed(value: Any, names: Names, path: str = "") -> Any:
    """Return a value with the API's property names. Properties that `names` doesn't contain keep
    their names.
    """
    if isinstance(value, list):
        return [renamed(item, names, path) for item in value]
    if not isinstance(value, Mapping):
        return value
    result: dict[str, Any] = {}
    for key, inner in value.items():
        here = f"{path}.{key}" if path else key
        target = names.get(here, "") if here in names else [key]
        if callable(target):
            result |= target(inner)
        elif target is not None:
            _place(
                result,
                target if isinstance(target, list) else target.split("."),
                renamed(inner, names, here),
            )
    return result


def _place(document: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        document = document.setdefault(part, {})
    if isinstance(value, dict) and isinstance(document.get(path[-1]), dict):
        document[path[-1]] |= value
    else:
        document[path[-1]] = value


FREE_MAPS = frozenset({"tags", "labels", "resourceLabels", "metadata", "sysctls"})
"""Properties whose keys the user chooses."""


def misspelt(value: Any) -> Iterator[Any]:
    """For each API key in a value, yield a copy in which this key is misspelt."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield {(f"{k}x" if k == key else k): v for k, v in value.items()}
            if key not in FREE_MAPS:
                yield from ({**value, key: changed} for changed in misspelt(inner))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from (
                [*value[:index], changed, *value[index + 1 :]] for changed in misspelt(inner)
            )

"""Properties with unknown values. Only this module handles unknown values.

In a preview, the policy SDK returns mappings that raise on any access to an unknown value,
including `in` and `.get`. If such an exception leaves a policy, the SDK skips the policy for that
resource or stack, so a mandatory rule silently has no effect. So `plain` copies everything once,
with `UNKNOWN` where the SDK raised, and `Properties` returns the value, the default (absent), or
None (not known).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeGuard

from msgspec import Struct


class _Unknown:
    """A value that isn't known before the resource exists."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()
_DIGITS: Final = 18  # a longer text can't be a count

UNKNOWN_TEXTS: Final = frozenset(
    {
        # The sentinels by which the engine marks unknown values, by type.
        # Source: pulumi/pulumi:sdk/go/common/resource/plugin/rpc.go
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def as_mapping(value: object) -> dict[str, Any] | None:
    """Return the value if it's a mapping, and None otherwise."""
    return value if _is_dict(value) else None


def as_list(value: object) -> list[Any] | None:
    """Return the value if it's a list, and None otherwise."""
    return value if _is_list(value) else None


def plain(value: object, raised: type[Exception]) -> Any:
    """Return a copy made of dicts, lists, and scalars, with UNKNOWN if reading raised `raised`.

    Integers are returned as int, because the engine passes every number as a float.
    """
    if isinstance(value, str):
        return UNKNOWN if value in UNKNOWN_TEXTS else value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    # checked first, because the other checks are slower
    if value is None or isinstance(value, int):
        return value
    if _is_mapping(value):
        return {str(key): _item(value, key, raised) for key in value}
    if _is_sequence(value):
        return [_item(value, index, raised) for index in range(len(value))]
    return value


def _item(container: Any, key: Any, raised: type[Exception]) -> Any:
    try:
        value = container[key]
    except raised:
        return UNKNOWN
    return plain(value, raised)


def unknown_paths(value: object, path: str = "") -> Iterator[str]:
    """Yield the path of every unknown value below this one."""
    if value is UNKNOWN:
        yield path
    for key, item in (as_mapping(value) or {}).items():
        yield from unknown_paths(item, f"{path}.{key}" if path else key)
    for index, item in enumerate(as_list(value) or ()):
        yield from unknown_paths(item, f"{path}[{index}]")


def has_unknown(value: object) -> bool:
    """Return whether a value or any nested value is unknown."""
    if value is UNKNOWN:
        return True
    if _is_dict(value):
        return any(map(has_unknown, value.values()))
    return _is_list(value) and any(map(has_unknown, value))


class Properties(Struct, frozen=True):
    """Properties from `plain`.

    Paths are dotted, with `%2E` for a dot in a key, and all readers return None for *not known*. A
    value of another type than requested counts as not known.
    """

    values: Any

    def at(self, path: str) -> Any:
        """Return the raw value: None if absent or null, UNKNOWN if it or one of its parents isn't
        known.
        """
        here = self.values
        for part in path.split("."):
            if here is UNKNOWN:
                return UNKNOWN
            here = (as_mapping(here) or {}).get(part.replace("%2E", "."))
        return here

    def has(self, path: str) -> bool | None:
        """Return whether the property exists and isn't null."""
        value = self.at(path)
        return None if value is UNKNOWN else value is not None

    def is_given(self, path: str) -> bool | None:
        """Return whether the property has a value. Providers return empty texts and lists for
        properties that aren't set.
        """
        value = self.at(path)
        return None if value is UNKNOWN else value not in (None, "", [], {})

    def text(self, path: str, default: str = "") -> str | None:
        """Return a text, or `default` if absent."""
        value = self.at(path)
        if value is None:
            return default
        return value if isinstance(value, str) else None

    def count(self, path: str, default: int) -> int | None:
        """Return an integer, even if it's written as text, or `default` if absent."""
        value = self.at(path)
        if value is None:
            return default
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS:
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def flag(self, path: str, default: bool) -> bool | None:
        """Return a boolean, or `default` if absent."""
        value = self.at(path)
        if value is None:
            return default
        return value if isinstance(value, bool) else None

    def texts(self, path: str) -> tuple[str | None, ...] | None:
        """Return a list of texts, which can each be unknown. () if absent."""
        value = self.at(path)
        if value is None:
            return ()
        listed = as_list(value)
        return (
            None
            if listed is None
            else tuple(item if isinstance(item, str) else None for item in listed)
        )

    def mapping(self, path: str) -> dict[str, str | None] | None:
        """Return a mapping of texts, whose values can each be unknown. {} if absent."""
        value = self.at(path)
        if value is None:
            return {}
        mapping = as_mapping(value)
        if mapping is None:
            return None
        return {key: item if isinstance(item, str) else None for key, item in mapping.items()}

    def items(self, path: str) -> tuple[Properties, ...] | None:
        """Return a list of structures. () if absent."""
        value = self.at(path)
        if value is None:
            return ()
        listed = as_list(value)
        return None if listed is None else tuple(Properties(item) for item in listed)

    def below(self, path: str) -> Properties:
        """Return the structure at a path. Empty if absent."""
        value = self.at(path)
        return Properties({} if value is None else value)

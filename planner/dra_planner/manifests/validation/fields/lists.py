"""Lists and mappings with a size limit, as in DRA's validation.

Source: kubernetes/kubernetes:pkg/apis/resource/validation/validation.go@v1.36.3 (validateSlice,
validateSet, validateMap). 1.34 also checks the items of a list that is too long, and reports
duplicates and keys at other paths.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

from dra_planner.manifests.validation.declarative_validation import declared
from dra_planner.manifests.validation.fields.formats import length_of
from dra_planner.manifests.validation.violations import Violations, duplicate, too_many
from dra_planner.releases import Features

Check = Callable[[Any, str], Violations]


def check_list(
    items: Sequence[Any],
    maximum: int,
    check: Check,
    path: str,
    features: Features,
    *,
    size_declared: bool = True,
) -> Violations:
    """Check a list. With `size_declared`, as in 1.37, the items of a list above the limit aren't
    checked.
    """
    found: Violations = chain.from_iterable(
        check(item, f"{path}[{index}]") for index, item in enumerate(items)
    )
    if 0 <= maximum < len(items):
        yield too_many(path, len(items), maximum)
        if features.declared_validation and not size_declared:
            found = declared(found)
        elif features.stops_at_whole_faults:
            return
    yield from found


def check_set(
    items: Sequence[Any],
    maximum: int,
    check: Check,
    key: Callable[[Any], Hashable],
    path: str,
    features: Features,
    *,
    key_field: str = "",
    size_declared: bool = True,
) -> Violations:
    """Check a list in which every key must be unique.

    `key_field` is the field that 1.34 names in errors.
    """
    yield from check_list(items, maximum, check, path, features, size_declared=size_declared)
    if 0 <= maximum < len(items) and features.stops_at_whole_faults:
        return
    seen: set[Hashable] = set()
    for index, item in enumerate(items):
        value = key(item)
        if value in seen:
            where = f"{path}[{index}]"
            yield duplicate(
                f"{where}.{key_field}"
                if key_field and not features.blames_duplicate_items
                else where,
                value,
            )
        seen.add(value)


def check_map(
    items: Mapping[str, Any],
    maximum: int,
    check_key: Check,
    check: Check,
    path: str,
    features: Features,
    *,
    shown_length: int = 96,
) -> Violations:
    if 0 <= maximum < len(items):
        yield too_many(path, len(items), maximum)
        if features.declared_validation:
            yield from chain.from_iterable(check_key(key, path) for key in items)
        return
    for key, item in items.items():
        where = f"{path}[{_shorten(key, shown_length)}]"
        yield from check_key(key, path if features.blames_maps_for_keys else where)
        yield from check(item, where)


def _shorten(text: str, maximum: int) -> str:
    maximum = max(maximum, 16)
    if length_of(text) <= maximum:
        return text
    left = maximum - 3
    return f"{text[: (left + 1) // 2]}...{text[len(text) - left // 2 :]}"


def name_of(item: Any) -> str:
    return str((item or {}).get("name") or "")


def identity(item: Any) -> Hashable:
    return item if isinstance(item, Hashable) else str(item)

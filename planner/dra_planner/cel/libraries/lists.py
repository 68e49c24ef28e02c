"""Functions on lists, sets, and maps (for the two-variable macros).

Source of the behavior: kubernetes/apiserver:pkg/cel/library/lists.go@v0.37.2;
google/cel-go:ext/{lists,sets}.go @v0.26.0 and v0.29.2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import accumulate
from operator import le
from typing import Any, Final

from dra_planner.cel.cost.effort import spend
from dra_planner.cel.libraries.operators import (
    MAX_ITEMS,
    add,
    compare,
    contains,
    equal,
    has_order,
    is_plain,
    known,
)
from dra_planner.cel.values import (
    INT_MAX,
    INT_MIN,
    CelError,
    CostExceeded,
    Duration,
    MapValue,
    Uint,
    no_overload,
    type_name,
)

_MAX_INCLUDES: Final = 48


def _is_sorted(items: list[Any]) -> bool:
    if is_plain(items):
        return all(map(le, items, items[1:]))
    spend(5 * len(items))
    previous: Any = None
    for index, item in enumerate(map(known, items)):
        if not has_order(item):
            raise no_overload()
        if index and _is_above(previous, item):
            return False
        previous = item
    return True


def _is_above(a: Any, b: Any) -> bool:
    """Return True if a comes after b. Returns False for values that can't be compared."""
    try:
        return compare(a, b) > 0
    except CelError:
        return False


def _sum(zero: Any) -> Callable[[list[Any]], Any]:
    def total(items: list[Any]) -> Any:
        if zero == 0 and zero.__class__ is int and is_plain(items):
            return _sum_of_ints(items)
        spend(5 * len(items))
        result = zero
        for item in items:
            result = add(result, known(item))
        return result

    return total


def _sum_of_ints(items: list[Any]) -> int:
    if items[0].__class__ is not int:
        raise no_overload()
    sums = list(accumulate(items))
    if max(sums) > INT_MAX or min(sums) < INT_MIN:
        raise CelError("integer overflow")
    return int(sums[-1])


def _best(name: str, wanted: int) -> Callable[[list[Any]], Any]:
    def pick(items: list[Any]) -> Any:
        if not items:
            raise CelError(f"{name} called on empty list")
        if is_plain(items):
            return max(items) if wanted < 0 else min(items)
        spend(6 * len(items))
        best = known(items[0])
        for item in map(known, items):
            if not has_order(item):
                raise no_overload()
            try:
                if compare(best, item) == wanted:
                    best = item
            except CelError:
                continue
        return best

    return pick


def _index_of(items: list[Any], value: Any) -> int:
    if is_plain(items) and value.__class__ is items[0].__class__:
        return items.index(value) if value in items else -1
    spend(5 * len(items))
    return next((i for i, item in enumerate(items) if _equals(known(item), value)), -1)


def _last_index_of(items: list[Any], value: Any) -> int:
    spend(5 * len(items))
    return next((i for i in reversed(range(len(items))) if _equals(known(items[i]), value)), -1)


def _equals(a: Any, b: Any) -> bool:
    try:
        return equal(a, b)
    except CelError:
        return False


def _includes(target: Any, value: Any) -> bool:
    if target.__class__ is list:
        spend(5 * len(target))
        return any(_equals(known(item), value) for item in target)
    return _equals(target, value)


def _includes_some(target: Any, value: Any) -> bool:
    """Do the same as `_includes`, but with the limit of 1.36."""
    if target.__class__ is list:
        for index, item in enumerate(target):
            if index >= _MAX_INCLUDES:
                raise CelError(
                    f"'includes' function cannot be applied to lists longer than {_MAX_INCLUDES} "
                    "values"
                )
            if _equals(known(item), value):
                return True
        return False
    return _equals(target, value)


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    where = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise CelError(f"{where}, negative indexes not supported")
    if start > end:
        raise CelError(f"{where}, start index must be less than or equal to end index")
    if end > len(items):
        raise CelError(f"{where}, list is length {len(items)}")
    return items[start:end]


def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    for _ in range(depth):
        spend(3 * len(items))
        if not any(item.__class__ is list for item in items):
            break
        if sum(len(item) if item.__class__ is list else 1 for item in items) > MAX_ITEMS:
            raise CostExceeded
        items = [inner for item in items for inner in (item if item.__class__ is list else (item,))]
    return list(items)


def _sort(items: list[Any]) -> list[Any]:
    return _sort_by(items, items)


def _sort_by(items: list[Any], keys: list[Any]) -> list[Any]:
    if len(items) != len(keys):
        raise CelError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            "but got "
            f"{len(items)} and {len(keys)} elements respectively"
        )
    if not items:
        return items
    if items is keys and is_plain(items):
        return sorted(items)
    spend(4 * len(items) * len(items).bit_length())
    known_keys = [known(key) for key in keys]
    if not has_order(known_keys[0]):
        raise CelError("list elements must be comparable")
    if len(items) > 1 and any(type_name(key) != type_name(known_keys[0]) for key in known_keys):
        raise CelError("list elements must have the same type")
    order = sorted(zip(known_keys, items, strict=True), key=cmp_to_key(_order_pairs))
    return [item for _, item in order]


def _order_pairs(a: tuple[Any, Any], b: tuple[Any, Any]) -> int:
    try:
        return compare(a[0], b[0])
    except CelError:
        return 0


def _range(count: int) -> list[int]:
    if count > MAX_ITEMS:
        raise CostExceeded
    return list(range(count))


def _bounded_range(count: int) -> list[int]:
    """Do the same as `_range`, but with the limits of later versions."""
    if count < 0:
        raise CelError(f"lists.range: size must be non-negative, got {count}")
    if count > 1_000_000:
        raise CelError(f"lists.range: size {count} exceeds maximum allowed (1000000)")
    return list(range(count))


def _distinct(items: list[Any]) -> list[Any]:
    if is_plain(items):
        return list(dict.fromkeys(items))
    unique: list[Any] = []
    for item in map(known, items):
        spend(5 * len(unique))
        if not any(_equals(item, other) for other in unique):
            unique.append(item)
    return unique


def _set_contains(items: list[Any], wanted: list[Any]) -> bool:
    spend(4 * len(wanted))
    return all(contains(items, known(item)) for item in wanted)


def _set_intersects(items: list[Any], others: list[Any]) -> bool:
    spend(4 * len(items))
    return any(contains(others, known(item)) for item in items)


def _insert(entries: MapValue, key: Any, value: Any) -> MapValue:
    """Add an entry to the map that a macro builds."""
    entries.insert(key, value)
    return entries


def _insert_all(entries: MapValue, more: MapValue) -> MapValue:
    for key, value in more.entries.values():
        entries.insert(key, value)
    return entries


_ORDERED: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_LONG: Final = {"duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp"}

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{f"list_{t}_is_sorted_bool": _is_sorted for t in _ORDERED},
    **{f"list_{t}_max_{t}": _best("max", -1) for t in _ORDERED},
    **{f"list_{t}_min_{t}": _best("min", 1) for t in _ORDERED},
    "list_int_sum_int": _sum(0),
    "list_uint_sum_uint": _sum(Uint(0)),
    "list_double_sum_double": _sum(0.0),
    "list_duration_sum_duration": _sum(Duration(0)),
    "list_a_index_of_int": _index_of,
    "list_a_last_index_of_int": _last_index_of,
    "dra_includes_dyn_dyn": _includes_some,
    "list_includes_dyn_dyn": _includes,
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    **{f"list_{_LONG.get(t, t)}_sort": _sort for t in _ORDERED},
    **{f"list_{_LONG.get(t, t)}_sortByAssociatedKeys": _sort_by for t in _ORDERED},
    "lists_range": _range,
    "list_reverse": lambda items: items[::-1],
    "list_distinct": _distinct,
    "list_sets_contains_list": _set_contains,
    "list_sets_intersects_list": _set_intersects,
    "list_sets_equivalent_list": lambda a, b: _set_contains(a, b) and _set_contains(b, a),
    "@mapInsert_map_key_value": _insert,
    "@mapInsert_map_map": _insert_all,
}

BOUNDED_RANGES: Final[dict[str, Callable[..., Any]]] = {"lists_range": _bounded_range}
"""`lists.range` with limits for its argument."""

"""The cost of each call at run time.

Source of the behavior: google/cel-go:interpreter/runtimecost.go, ext/{lists,sets}.go @v0.26.0 and
v0.29.2; kubernetes/apiserver:pkg/cel/library/cost.go@v0.36.3 and v0.37.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any, Final

from dra_planner.cel.cost.effort import spend
from dra_planner.cel.dialect import CelLibrary
from dra_planner.cel.libraries.operators import is_plain
from dra_planner.cel.values import (
    AddressValue,
    FormatValue,
    MapValue,
    NetworkValue,
    Optional,
    Panic,
    QuantityValue,
    SemverValue,
    UrlValue,
)

Cost = Callable[[Sequence[Any], Any], int]

ERROR: Final = object()
"""Stands for an argument or result that is an error."""

_UNIT_EQUALITY: Final = frozenset(
    {QuantityValue, AddressValue, NetworkValue, FormatValue, UrlValue, SemverValue}
)
FORMAT_PATTERN_SIZES: Final = {
    "dns1123Label": 30,
    "dns1123Subdomain": 60,
    "dns1035Label": 30,
    "qualifiedName": 60,
    "dns1123LabelPrefix": 30,
    "dns1123SubdomainPrefix": 60,
    "dns1035LabelPrefix": 30,
    "labelValue": 40,
    "uri": 1103,
    "uuid": 70,
    "byte": 84,
    "date": 71,
    "datetime": 71,
}


def size_of(value: Any) -> int:
    """Return the size that determines costs, or 1 for a value without a size."""
    kind = value.__class__
    if kind in (str, bytes, list, MapValue):
        return len(value)
    if kind is AddressValue:
        return 4 if value.family == 4 else 16
    if kind is NetworkValue:
        bits: int = value.bits
        return ceil(bits / 8)
    return 1


def _inner_size(value: Any) -> int:
    while value.__class__ is Optional and value.present:
        value = value.value
    return size_of(value)


def _traversal(value: Any) -> int:
    kind = value.__class__
    if kind is str:
        return int(len(value.encode("utf-8", "surrogatepass")) * 0.1)
    if kind is bytes:
        return int(len(value) * 0.1)
    if kind is list:
        if value and value[0].__class__ is int and is_plain(value):
            return len(value)
        spend(5 + 3 * len(value))
        # a list, because a generator would use C stack
        return sum([_traversal(item) for item in value])
    if kind is MapValue:
        spend(5 + 6 * len(value))
        return sum([_traversal(k) + _traversal(v) for k, v in value.entries.values()])
    return 1


def _per_character(factor: float) -> Cost:
    return lambda args, _: ceil(size_of(args[0]) * factor)


def _twice(args: Sequence[Any], _: Any) -> int:
    return ceil(size_of(args[0]) * 2 * 0.1)


def _join(_: Sequence[Any], result: Any) -> int:
    return ceil(size_of(result) * 2 * 0.1)


def _regex(args: Sequence[Any], _: Any) -> int:
    return ceil((1.0 + size_of(args[0])) * 0.1) * ceil(size_of(args[1]) * 0.25)


def _matches(args: Sequence[Any], _: Any) -> int:
    return ceil((1.0 + _inner_size(args[0])) * 0.1) * ceil(_inner_size(args[1]) * 0.25)


def _contains_ip(args: Sequence[Any], _: Any) -> int:
    network = size_of(args[0])
    return ceil((network + network) * 0.1)


def _contains_ip_text(args: Sequence[Any], result: Any) -> int:
    return _contains_ip(args, result) + ceil(size_of(args[1]) * 0.1)


def _contains_cidr(args: Sequence[Any], result: Any) -> int:
    return _contains_ip(args, result) + ceil(size_of(args[0]) * 0.1) + 1


def _contains_cidr_text(args: Sequence[Any], result: Any) -> int:
    return _contains_cidr(args, result) + ceil(size_of(args[1]) * 0.1)


def _validate(args: Sequence[Any], _: Any) -> int:
    if args[0].__class__ is not FormatValue:
        return 1
    pattern = FORMAT_PATTERN_SIZES[args[0].key]
    return ceil((1.0 + size_of(args[1])) * 0.1) * ceil(pattern * 0.25)


def _equality(args: Sequence[Any], _: Any) -> int:
    if args[0].__class__ in _UNIT_EQUALITY:
        return 1
    return _smaller(args, _)


def _smaller(args: Sequence[Any], _: Any) -> int:
    return ceil(min(_inner_size(args[0]), _inner_size(args[1])) * 0.1)


def _both(args: Sequence[Any], _: Any) -> int:
    return ceil((_inner_size(args[0]) + _inner_size(args[1])) * 0.1)


def _product(args: Sequence[Any], _: Any) -> int:
    return ceil(_inner_size(args[0]) * 0.1) * ceil(_inner_size(args[1]) * 0.1)


def _allocated(size: int, factor: float = 1.0) -> int:
    return (_as_uint64(size * factor) + 1 + 10) % 2**64


def _as_uint64(number: float) -> int:
    """Convert a float to uint64 as Go does on amd64, which also has a result for values out of
    range.
    """
    if number < 0:
        return int(number) % 2**64 if number >= -(2**63) else 2**63
    return int(number) if number < 2**64 else 2**63


def _compared(items: Any) -> int:
    if items.__class__ is not list:
        raise Panic("interface conversion: not a list")
    factor = 2.1 if items and items[0].__class__ in (str, bytes) else 2.0
    return _allocated(len(items) * len(items), factor)


def _flatten_checked(args: Sequence[Any], result: Any) -> int:
    if len(args) == 2 and args[1].__class__ is int and args[1] < 0:
        return _allocated(size_of(args[0]))
    return _flatten(args, result)


def _flatten(args: Sequence[Any], _: Any) -> int:
    depth = 1.0
    if len(args) == 2:
        if args[1].__class__ is not int:
            raise Panic("interface conversion: not an int")
        depth = float(args[1])
    return _allocated(size_of(args[0]), depth)


def _labels(args: Sequence[Any], _: Any) -> int:
    length = size_of(args[1])
    return 10 + ceil(length * 0.1) + ceil(ceil(length * 0.5) * 50.0)


def _sets(factor: float) -> Cost:
    return lambda args, _: 1 + int(size_of(args[0]) * size_of(args[1]) * factor)


_BY_OVERLOAD_FIRST: Final[dict[str, Cost]] = {
    "list_slice": lambda _, result: _allocated(size_of(result)),
    "lists_range": lambda _, result: _allocated(size_of(result)),
    "list_reverse": lambda _, result: _allocated(size_of(result)),
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": lambda args, _: _compared(args[0]),
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}
_BY_FUNCTION: Final[dict[str, Cost]] = {
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"),
        lambda args, _: _traversal(args[0]),
    ),
    **dict.fromkeys(
        (
            "url",
            "lowerAscii",
            "upperAscii",
            "substring",
            "trim",
            "cidr",
            "isIP",
            "isCIDR",
            "ip",
            "quantity",
            "isQuantity",
            "semver",
            "isSemver",
        ),
        _per_character(0.1),
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _twice),
    "join": _join,
    "find": _regex,
    "findAll": _regex,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "check": lambda _args, _: 350_000,
    "fieldSelector": _labels,
    "labelSelector": _labels,
    "_==_": _equality,
}
_BY_OVERLOAD: Final[dict[str, Cost]] = {
    **dict.fromkeys(
        ("string_to_bytes", "bytes_to_string", "strings_quote", "string_format"),
        lambda args, _: ceil(_inner_size(args[0]) * 0.1),
    ),
    "in_list": lambda args, _: _inner_size(args[1]),
    **{
        f"{order}_{kind}": _smaller
        for order in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
    "not_equals": _smaller,
    "add_string": _both,
    "add_bytes": _both,
    "matches_string": _matches,
    "contains_string": _product,
}


def call_cost(function: str, overload: str, library: CelLibrary) -> Cost | int:
    """Return the cost of a call: a number, or a function of its arguments and result.

    `overload` is empty if it's known only at run time.
    """
    if overload == "list_flatten_int" and library.flatten_checks_depth:
        return _flatten_checked
    first = _BY_OVERLOAD_FIRST.get(overload)
    if first is not None:
        return first
    if overload.endswith("_sort"):
        return lambda args, _: _compared(args[0])
    if overload.endswith("_sortByAssociatedKeys"):
        return lambda args, _: _compared(args[1])
    if overload == "cidr_ip":
        return 1
    if overload == "cidr_contains_ip_string":
        return _contains_ip_text
    if overload == "cidr_contains_cidr_string":
        return _contains_cidr_text
    by_function = _BY_FUNCTION.get(function)
    if by_function is not None:
        return by_function
    if function == "includes" and library.includes_costs:
        return lambda args, _: _traversal(args[0])
    if overload == "matches" and library.global_matches_costs:
        return _matches
    if overload in ("starts_with_string", "ends_with_string"):
        which = 1 if library.affixes_cost_by_argument else 0
        return lambda args, _: ceil(_inner_size(args[which]) * 0.1)
    return _BY_OVERLOAD.get(overload, 1)

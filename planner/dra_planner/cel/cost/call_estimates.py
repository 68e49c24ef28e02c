"""The estimated costs of function calls.

Source of the behavior: kubernetes/apiserver:pkg/cel/library/cost.go@v0.36.3 and v0.37.2;
kubernetes/dynamic-resource-allocation:cel/compile.go@v0.36.3; google/cel-go:checker/cost.go,
ext/{lists,sets}.go.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Final

from msgspec import Struct

from dra_planner.cel import types
from dra_planner.cel.cost.device_sizes import Path, declared_size
from dra_planner.cel.cost.ranges import ONE, UNBOUNDED, UNKNOWN, Range, add, fixed, multiply, scale
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.tree import Constant, SyntaxNode
from dra_planner.cel.types import CelType

_MAX_INCLUDES: Final = 48
_REGEX: Final = 0.25
_CHARACTER: Final = 0.1


class Operand(Struct, frozen=True):
    """The estimator's knowledge of a target or argument. `size` is None if it's unknown."""

    node: SyntaxNode
    type: CelType
    path: Path
    size: Range | None


Estimated = tuple[Range, Range | None]
"""The cost of the call without its arguments, and the size of its result."""

_Estimate = Callable[[Operand | None, list[Operand]], Estimated | None]


def call(
    function: str, overload: str, target: Operand | None, args: list[Operand], dialect: Dialect
) -> Estimated:
    """Return the estimate for one overload of a call."""
    for table, key in ((_EXTENSIONS, overload), (_FUNCTIONS, function)):
        estimate = table.get(key)
        if (
            estimate is None
            and table is _EXTENSIONS
            and overload.endswith(("_sort", "_sortByAssociatedKeys"))
        ):
            estimate = _sorting(overload)
        found = estimate(target, args) if estimate is not None else None
        if found is not None:
            return found
    if function == "ip":
        return (ONE, None) if overload == "cidr_ip" else _scan(target, args) or (ONE, None)
    if function in ("containsIP", "containsCIDR"):
        return _within_network(function, overload, args), None
    if function == "includes":
        return _includes(overload, target), None
    if function == "_==_":
        equality = _equality(args)
        if equality is not None:
            return equality, None
    if overload == "matches" and dialect.library.global_matches_costs:
        return _regex_cost(_size(args[0]), _size(args[1])), None
    return _language(overload, target, args)


def traversal(size: Range) -> Range:
    """Return the cost of reading this number of characters."""
    return scale(size, _CHARACTER)


def _size(operand: Operand) -> Range:
    """Return the size as in the language's estimator."""
    return UNKNOWN if operand.size is None else operand.size


def _library_size(operand: Operand) -> Range:
    """Return the size as in the libraries' estimator, which also looks up declared sizes."""
    if operand.size is not None:
        return operand.size
    return declared_size(operand.path.steps()) or UNKNOWN


# -- the language


def _language(overload: str, target: Operand | None, args: list[Operand]) -> Estimated:
    if overload == "string_format" and target is not None:
        return traversal(_size(target)), None
    if overload in ("string_to_bytes", "bytes_to_string", "strings_quote"):
        low, high = _size(args[0])
        sizes = {
            "string_to_bytes": (low, high * 4 % 2**64),
            "bytes_to_string": (low // 4, high),
            "strings_quote": (low + 2, (high * 2 + 2) % 2**64),
        }
        return traversal((low, high)), sizes[overload]
    if overload in ("starts_with_string", "ends_with_string"):
        return traversal(_size(args[0])), None
    if overload == "in_list":
        return scale(_size(args[1]), 1), None
    if overload == "matches_string" and target is not None:
        return _regex_cost(_size(target), _size(args[0])), None
    if overload == "contains_string" and target is not None:
        return multiply(traversal(_size(target)), traversal(_size(args[0]))), None
    if overload in _COMPARED:
        most = min(_size(args[0])[1], _size(args[1])[1])
        return traversal((1 if most > 0 else 0, most)), None
    return ONE, None


_COMPARED: Final = frozenset(
    ["equals", "not_equals"]
    + [
        f"{o}_{t}"
        for o in ("less", "less_equals", "greater", "greater_equals")
        for t in ("string", "bytes")
    ]
)


def _regex_cost(text: Range, pattern: Range) -> Range:
    return multiply(traversal(add(text, ONE)), scale(pattern, _REGEX))


# -- Kubernetes libraries


def _nominal(_target: Operand | None, _args: list[Operand]) -> Estimated:
    return ONE, None


def _over_list(target: Operand | None, _args: list[Operand]) -> Estimated | None:
    if target is None:
        return None
    if not target.type.parameters:
        return traversal(_library_size(target)), None
    element = target.type.parameters[0]
    each = ONE
    if element.kind in ("string", "bytes"):
        declared = declared_size([*target.path.steps(), "@items"]) if target.path else None
        each = add(each, traversal(declared or UNKNOWN))
    return multiply(_library_size(target), each), None


def _includes(overload: str, target: Operand | None) -> Range:
    if target is None:
        return ONE
    if overload == "dra_includes_dyn_dyn":
        return 0, _MAX_INCLUDES
    if target.type.parameters:
        found = _over_list(target, [])
        assert found is not None
        return found[0]
    return _library_size(target)


def _scan(_target: Operand | None, args: list[Operand]) -> Estimated | None:
    return (traversal(_library_size(args[0])), None) if args else None


def _scan_twice(_target: Operand | None, args: list[Operand]) -> Estimated | None:
    return (scale(_library_size(args[0]), 2 * _CHARACTER), None) if args else None


def _url(_target: Operand | None, args: list[Operand]) -> Estimated | None:
    size = _library_size(args[0])
    return traversal(size), size


def _case(target: Operand | None, _args: list[Operand]) -> Estimated | None:
    if target is None:
        return None
    size = _library_size(target)
    return traversal(size), size


def _replace(target: Operand | None, args: list[Operand]) -> Estimated | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = _library_size(target), _library_size(args[0]), _library_size(args[1])
    kept_low = kept_high = count_low = count_high = 0
    if old[0] == 0:
        count_high, kept_high = min(size[1] + 1, UNBOUNDED), size[1]
    elif new[1] <= old[0]:
        kept_high = size[1]
    else:
        count_high = _quotient(size[1], old[0])
    if old[1] == 0:
        count_low, kept_low = min(size[0] + 1, UNBOUNDED), size[0]
    elif old[1] <= new[0]:
        kept_low = size[0]
    else:
        count_low = _quotient(size[0], old[1])
    result = add(multiply((count_low, count_high), new), (kept_low, kept_high))
    return scale(size, 2 * _CHARACTER), result


def _quotient(a: int, b: int) -> int:
    number = ceil(float(a) / float(b))
    return number if number < 2**64 else 2**63


def _split(target: Operand | None, args: list[Operand]) -> Estimated | None:
    if target is None:
        return None
    size = _library_size(target)
    most = size[1]
    if len(args) > 1 and isinstance(args[1].node, Constant) and args[1].node.value.__class__ is int:
        most = args[1].node.value % 2**64
    return scale(size, 2 * _CHARACTER), (0, most)


def _join(target: Operand | None, args: list[Operand]) -> Estimated | None:
    if target is None:
        return None
    items = _library_size(target)
    size: Range = (0, 0)
    if target.type.parameters:
        declared = declared_size([*target.path.steps(), "@items"]) if target.path else None
        size = multiply(items, declared or UNKNOWN)
    if args:
        between = max(items[0] - 1, 0), max(items[1] - 1, 0)
        size = add(size, multiply(_library_size(args[0]), between))
    return traversal(size), size


def _find(target: Operand | None, args: list[Operand]) -> Estimated | None:
    if target is None or not args:
        return None
    size = _library_size(target)
    return _regex_cost(size, _library_size(args[0])), (0, size[1])


def _validate(_target: Operand | None, args: list[Operand]) -> Estimated | None:
    return scale(traversal(_library_size(args[0])), 128 * _REGEX), None


def _authorized(_target: Operand | None, _args: list[Operand]) -> Estimated:
    return fixed(350_000), None


def _labels(_target: Operand | None, args: list[Operand]) -> Estimated | None:
    if len(args) != 1:
        return None
    size = _library_size(args[0])
    return add(fixed(10), traversal(size), scale(scale(size, 0.5), 50.0)), None


def _within_network(function: str, overload: str, args: list[Operand]) -> Range:
    bytes_read = (4, 16)
    cost = traversal(add(bytes_read, bytes_read))
    if function == "containsCIDR":
        cost = add(cost, traversal(bytes_read), ONE)
    if overload in ("cidr_contains_ip_string", "cidr_contains_cidr_string"):
        cost = add(cost, traversal(_library_size(args[0])))
    return cost


def _equality(args: list[Operand]) -> Range | None:
    left, right = args[0].type, args[1].type
    if left != right:
        return None
    if left in (types.IP, types.CIDR, types.QUANTITY, types.SEMVER) or left.name.startswith(
        "kubernetes.authorization."
    ):
        return ONE
    if left == types.FORMAT:
        return traversal((1, 64))
    if left == types.URL:
        size = args[1].size
        return traversal((1, size[1] if size is not None else 1))
    return None


# -- cel-go extensions


def _number(operand: Operand, otherwise: int) -> int:
    if isinstance(operand.node, Constant) and operand.node.value.__class__ is int:
        value: int = operand.node.value
        return max(value, 0)
    return otherwise


def _allocated(factor: float, size: Range) -> Estimated:
    return add(scale(size, factor), ONE, fixed(10)), size


def _slice(target: Operand | None, args: list[Operand]) -> Estimated | None:
    if target is None or len(args) != 2:
        return None
    start, end = _number(args[0], 0), _number(args[1], _library_size(target)[1])
    return _allocated(1, fixed((end - start) % 2**64))


def _flatten(target: Operand | None, args: list[Operand]) -> Estimated | None:
    if target is None or len(args) > 1:
        return None
    depth = _number(args[0], UNBOUNDED) if args else 1
    return _allocated(float(depth), _library_size(target))


def _reverse(target: Operand | None, _args: list[Operand]) -> Estimated | None:
    return None if target is None else _allocated(1, _library_size(target))


def _distinct(target: Operand | None, _args: list[Operand]) -> Estimated | None:
    if target is None:
        return None
    size = _library_size(target)
    return _allocated(2.0, multiply(size, size))


def _sorting(overload: str) -> _Estimate:
    by_keys = overload.endswith("_sortByAssociatedKeys")
    factor = 2.1 if overload.startswith(("list_string_", "list_bytes_")) else 2.0

    def estimate(target: Operand | None, args: list[Operand]) -> Estimated | None:
        if target is None:
            return None
        size = _library_size(args[0] if by_keys else target)
        return _allocated(factor, multiply(size, size))

    return estimate


def _sets(factor: float) -> _Estimate:
    def estimate(_target: Operand | None, args: list[Operand]) -> Estimated | None:
        product = multiply(_library_size(args[0]), _library_size(args[1]))
        return add(scale(product, factor), ONE), None

    return estimate


_EXTENSIONS: Final[dict[str, _Estimate]] = {
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": lambda _, args: _allocated(1, fixed(_number(args[0], UNBOUNDED))),
    "list_reverse": _reverse,
    "list_distinct": _distinct,
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}
_FUNCTIONS: Final[dict[str, _Estimate]] = {
    "check": _authorized,
    **dict.fromkeys(("fieldSelector", "labelSelector"), _labels),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _over_list),
    "url": _url,
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _case),
    "replace": _replace,
    "split": _split,
    "join": _join,
    "find": _find,
    "findAll": _find,
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _scan
    ),
    "ip.isCanonical": _scan_twice,
    "validate": _validate,
    **dict.fromkeys(
        (
            "masked",
            "prefixLength",
            "family",
            "isUnspecified",
            "isLoopback",
            "isLinkLocalMulticast",
            "isLinkLocalUnicast",
            "isGlobalUnicast",
            "format.named",
            "sign",
            "asInteger",
            "isInteger",
            "asApproximateFloat",
            "isGreaterThan",
            "isLessThan",
            "compareTo",
            "add",
            "sub",
            "major",
            "minor",
            "patch",
            "getScheme",
            "getHostname",
            "getHost",
            "getPort",
            "getEscapedPath",
            "getQuery",
        ),
        _nominal,
    ),
}

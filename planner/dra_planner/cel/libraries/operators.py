"""Equality, order, and arithmetic of values.

Source of the behavior: google/cel-go:common/types/*.go@v0.26.0 and
kubernetes/apiserver:pkg/cel/*.go@v0.36.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from dra_planner.cel.cost.effort import spend
from dra_planner.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    AddressValue,
    CelError,
    CostExceeded,
    Duration,
    FormatValue,
    MapValue,
    NetworkValue,
    Optional,
    QuantityValue,
    SemverValue,
    Timestamp,
    TypeValue,
    Uint,
    UnknownError,
    UnknownValue,
    UrlValue,
    no_overload,
)

MAX_SIZE: Final = 10_000_000
"""Maximum number of characters, which is more than any budget allows. The evaluation ends before a
longer string is built.
"""
MAX_ITEMS: Final = 2_000_000
"""Maximum number of items in a list. Upstream has no such limit, but ordinary selectors stay far
below it.
"""

_NUMBERS: Final = frozenset({int, Uint, float})
_OPAQUE: Final = frozenset({QuantityValue, SemverValue, AddressValue, NetworkValue, UrlValue})
_PLAIN: Final = frozenset({int, str})
_LONG: Final = 16
_EXACT: Final = frozenset({str, bytes, bool, Duration, Timestamp, TypeValue})
_MIN_SECONDS: Final = -62135596800
_MAX_SECONDS: Final = 253402300799
_NANOS: Final = 10**9


def known(value: Any) -> Any:
    """Return the value.

    Raises `UnknownError` if it's known only at run time, or the error inside an optional.
    """
    kind = value.__class__
    if kind is UnknownValue:
        raise UnknownError(frozenset({value.path}), value.like)
    if kind is CelError:
        raise value.with_traceback(None)
    return value


def resolved(value: Any) -> Any:
    """Return a value as it leaves a variable or branch, up to 1.36. There, upstream unwraps and
    rewraps an optional, which fails for values other than basic types, lists, and maps.
    """
    if value.__class__ is not Optional or not value.present:
        return value
    inner = value.value
    while inner.__class__ is Optional:
        inner = inner.value if inner.present else None
    if inner.__class__ in _OPAQUE:
        return Optional(
            True, CelError(f"unsupported conversion to ref.Val: ({inner.__class__.__name__})")
        )
    return Optional(True, inner.name if inner.__class__ is TypeValue else inner)


def equal(a: Any, b: Any) -> bool:
    """Return True if two values are equal. Raises `CelError` if upstream can't compare them."""
    if a is None or b is None:
        return a is b
    kind = a.__class__
    if kind in _EXACT:
        return _same(kind, a, b)
    if kind in _NUMBERS:
        return b.__class__ in _NUMBERS and compare_numbers(a, b) == 0
    if kind is list:
        return b.__class__ is list and len(a) == len(b) and _equal_lists(a, b)
    if kind is MapValue:
        return b.__class__ is MapValue and _equal_maps(a, b)
    if kind is Optional:
        return b.__class__ is Optional and _equal_optionals(a, b)
    return _equal_opaque(a, b)


def _same(kind: Any, a: Any, b: Any) -> bool:
    if b.__class__ is not kind:
        return False
    if kind is Timestamp:
        left, right = a.nanos, b.nanos
        return bool(left == right)
    return bool(a == b)


def _equal_opaque(a: Any, b: Any) -> bool:
    kind = a.__class__
    if b.__class__ is not kind:
        raise no_overload()
    if kind is QuantityValue:
        if b.derived:
            raise no_overload()
        return bool(a.quantity.compare(b.quantity) == 0)
    if kind is SemverValue:
        return compare_versions(a, b) == 0
    if kind is UrlValue:
        return bool(a.text == b.text)
    if kind is FormatValue:
        return bool(a.name == b.name)
    if kind in (AddressValue, NetworkValue):
        return bool(a == b)
    raise no_overload()


def compare_quantities(a: QuantityValue, b: QuantityValue) -> int:
    """Return -1, 0, or 1.

    As in upstream, a comparison with a big-decimal quantity converts the first quantity to that
    format.
    """
    result = a.quantity.compare(b.quantity)
    if a.quantity.small and not b.quantity.small:
        a.quantity = a.quantity.as_big()
    return result


def _not_unequal(a: Any, b: Any) -> bool:
    """Return True if upstream treats two elements of lists or maps as equal, which
    includes errors.
    """
    try:
        return equal(known(a), known(b))
    except CelError:
        return True


def _equal_lists(a: list[Any], b: list[Any]) -> bool:
    if is_plain(a) and is_plain(b):
        return a == b if a[0].__class__ is b[0].__class__ else _are_equal(a, b)
    return _are_equal(a, b)


def _are_equal(a: list[Any], b: list[Any]) -> bool:
    spend(5 + 3 * len(a))
    for x, y in zip(a, b, strict=True):  # noqa: SIM110  (all() would take C stack at every level of lists)
        if not _not_unequal(x, y):
            return False
    return True


def is_plain(items: list[Any]) -> bool:
    """Return True if a long list contains only ints or only strings.

    Python compares such lists with the same result as CEL, but faster.
    """
    if len(items) < _LONG or items[0].__class__ not in _PLAIN:
        return False
    spend(len(items) // 8)
    return len(set(map(type, items))) == 1


def _equal_maps(a: MapValue, b: MapValue) -> bool:
    if len(a) != len(b):
        return False
    spend(5 + 6 * len(a))
    for key, value in a.entries.values():
        found = b.find(key)
        if found is not None:
            other = found[1]
        elif b.default is not None:
            other = b.default
        else:
            return False
        if not _not_unequal(value, other):
            return False
    return True


def _equal_optionals(a: Optional, b: Optional) -> bool:
    if a.present != b.present:
        return False
    if not a.present:
        return True
    value = known(a.value)
    if b.value.__class__ is CelError and value.__class__ not in _OPAQUE:
        return False
    return equal(value, known(b.value))


def contains(items: list[Any], value: Any) -> bool:
    """Return True if an element of the list equals the value. Values that can't be compared aren't
    equal.
    """
    if value.__class__ in _PLAIN and is_plain(items):
        return value.__class__ is items[0].__class__ and value in items
    spend(5 + 3 * len(items))
    for item in items:
        try:
            if equal(value, known(item)):
                return True
        except CelError:
            continue
    return False


def compare_numbers(a: Any, b: Any) -> int:
    """Return -1, 0, or 1 for two numbers of any types, or 2 if one is NaN."""
    if a.__class__ is float or b.__class__ is float:
        if a != a or b != b:
            return 2
        if a.__class__ is not b.__class__:
            return _compare_mixed(a, b)
    return int(a > b) - int(a < b)


def _compare_mixed(a: Any, b: Any) -> int:
    """Compare a double with an integer, as doubles unless the double is out of the integer type's
    range.
    """
    if a.__class__ is not float:
        return -_compare_mixed(b, a)
    low, high = (0, UINT_MAX) if b.__class__ is Uint else (INT_MIN, INT_MAX)
    if a < low:
        return -1
    if a > float(high):
        return 1
    other = float(b)
    return (a > other) - (a < other)


def compare(a: Any, b: Any) -> int:
    """Return -1, 0, or 1 for two values that have an order.

    Raises `CelError` if they don't have an order.
    """
    kind, other = a.__class__, b.__class__
    if kind in _NUMBERS and other in _NUMBERS:
        result = compare_numbers(a, b)
        if result == 2:
            raise CelError("NaN values cannot be ordered")
        return result
    if kind is not other or kind not in (str, bytes, bool, Duration, Timestamp):
        raise no_overload()
    if kind is Duration or kind is Timestamp:
        a, b = a.nanos, b.nanos
    return int(a > b) - int(a < b)


def has_order(value: Any) -> bool:
    """Return True if values of this type have an order."""
    return value.__class__ in (int, Uint, float, str, bytes, bool, Duration, Timestamp)


def compare_versions(a: SemverValue, b: SemverValue) -> int:
    """Return -1, 0, or 1 by semantic versioning. Build metadata is ignored."""
    left, right = (a.major, a.minor, a.patch), (b.major, b.minor, b.patch)
    if left != right:
        return 1 if left > right else -1
    if not a.prerelease or not b.prerelease:
        return bool(b.prerelease) - bool(a.prerelease)
    for x, y in zip(a.prerelease, b.prerelease, strict=False):
        if x == y:
            continue
        if isinstance(x, int) and isinstance(y, int):
            return 1 if x > y else -1
        if isinstance(x, str) and isinstance(y, str):
            return 1 if x > y else -1
        return -1 if isinstance(x, int) else 1
    return (len(a.prerelease) > len(b.prerelease)) - (len(a.prerelease) < len(b.prerelease))


def _int(number: int) -> int:
    if not INT_MIN <= number <= INT_MAX:
        raise CelError("integer overflow")
    return number


def _uint(number: int) -> Uint:
    if not 0 <= number <= UINT_MAX:
        raise CelError("unsigned integer overflow")
    return Uint(number)


def _duration(nanos: int) -> Duration:
    if not INT_MIN <= nanos <= INT_MAX:
        raise CelError("duration overflow")
    return Duration(nanos)


def _moment(nanos: int, offset: int) -> Timestamp:
    if not _MIN_SECONDS <= nanos // _NANOS <= _MAX_SECONDS:
        raise CelError("timestamp overflow")
    return Timestamp(nanos, offset)


def add(a: Any, b: Any) -> Any:
    """Return `a + b`."""
    kind, other = a.__class__, b.__class__
    if kind is other:
        if kind is int:
            return _int(a + b)
        if kind is Uint:
            return _uint(int(a) + int(b))
        if kind is float:
            return a + b
        if kind is str or kind is bytes or kind is list:
            if len(a) + len(b) > (MAX_ITEMS if kind is list else MAX_SIZE):
                raise CostExceeded
            if kind is list:
                spend((len(a) + len(b)) // 16)
            return a + b
        if kind is Duration:
            return _duration(a.nanos + b.nanos)
    elif kind is Timestamp and other is Duration:
        return _moment(a.nanos + b.nanos, a.offset)
    elif kind is Duration and other is Timestamp:
        return _moment(a.nanos + b.nanos, b.offset)
    raise no_overload()


def subtract(a: Any, b: Any) -> Any:
    """Return `a - b`."""
    kind, other = a.__class__, b.__class__
    if kind is other:
        if kind is int:
            return _int(a - b)
        if kind is Uint:
            return _uint(int(a) - int(b))
        if kind is float:
            return a - b
        if kind is Duration or kind is Timestamp:
            return _duration(a.nanos - b.nanos)
    elif kind is Timestamp and other is Duration:
        return _moment(a.nanos - b.nanos, a.offset)
    raise no_overload()


def multiply(a: Any, b: Any) -> Any:
    """Return `a * b`."""
    kind = a.__class__
    if kind is b.__class__:
        if kind is int:
            return _int(a * b)
        if kind is Uint:
            return _uint(int(a) * int(b))
        if kind is float:
            return a * b
    raise no_overload()


def divide(a: Any, b: Any) -> Any:
    """Return `a / b`. Integers are rounded toward zero."""
    kind = a.__class__
    if kind is not b.__class__ or kind not in _NUMBERS:
        raise no_overload()
    if kind is float:
        return _divide_floats(a, b)
    if b == 0:
        raise CelError("division by zero")
    quotient = abs(int(a)) // abs(int(b))
    if kind is Uint:
        return Uint(quotient)
    return _int(quotient if (a < 0) == (b < 0) else -quotient)


def _divide_floats(a: float, b: float) -> float:
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)


def modulo(a: Any, b: Any) -> Any:
    """Return `a % b` with the sign of `a`."""
    kind = a.__class__
    if kind is not b.__class__ or kind not in (int, Uint):
        raise no_overload()
    if b == 0:
        raise CelError("modulus by zero")
    if a == INT_MIN and b == -1 and kind is int:
        raise CelError("integer overflow")
    rest = abs(int(a)) % abs(int(b))
    return Uint(rest) if kind is Uint else (-rest if a < 0 else rest)


def negate(a: Any) -> Any:
    """Return `-a`."""
    kind = a.__class__
    if kind is int:
        return _int(-a)
    if kind is float:
        return -a
    if kind is Duration:
        return _duration(-a.nanos)
    raise no_overload()


ORDERINGS: Final[dict[str, Callable[[int], bool]]] = {
    "_<_": lambda c: c < 0,
    "_<=_": lambda c: c <= 0,
    "_>_": lambda c: c > 0,
    "_>=_": lambda c: c >= 0,
}


def size(value: Any) -> int:
    """Return the size of a string (in characters), of bytes, a list, or a map."""
    if value.__class__ in (str, bytes, list, MapValue):
        return len(value)
    raise no_overload()


def membership(value: Any, container: Any) -> bool:
    """Return `value in container`."""
    if container.__class__ is list:
        return contains(container, value)
    if container.__class__ is MapValue:
        return container.find(value) is not None
    raise no_overload()

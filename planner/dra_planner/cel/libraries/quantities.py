"""Quantities in expressions.

Source of the behaviour: kubernetes/apiserver:pkg/cel/library/quantity.go@v0.36.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dra_planner.cel.operators import compare_quantities
from dra_planner.cel.values import CelError, QuantityValue
from dra_planner.quantity import DECIMAL_EXPONENT, Quantity, QuantityError


def _quantity(text: str) -> QuantityValue:
    try:
        return QuantityValue(Quantity.parse(text))
    except QuantityError as error:
        raise CelError(error.reason) from None


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _integer(value: QuantityValue) -> int:
    number = value.quantity.as_int64()
    if number is None:
        raise CelError("cannot convert value to integer")
    return number


def _add(value: QuantityValue, other: Quantity) -> QuantityValue:
    try:
        return QuantityValue(value.quantity + other, derived=True)
    except QuantityError as error:
        raise CelError(error.reason) from None


def _of(number: int) -> Quantity:
    return Quantity(number, suffixes=DECIMAL_EXPONENT)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_quantity": _quantity,
    "is_quantity_string": _is_quantity,
    "quantity_sign": lambda q: q.quantity.sign,
    "quantity_is_greater_than": lambda a, b: compare_quantities(a, b) > 0,
    "quantity_is_less_than": lambda a, b: compare_quantities(a, b) < 0,
    "quantity_compare_to": compare_quantities,
    "quantity_get_float": lambda q: q.quantity.as_float(),
    "quantity_get_int": _integer,
    "quantity_is_integer": lambda q: q.quantity.as_int64() is not None,
    "quantity_add": lambda a, b: _add(a, b.quantity),
    "quantity_add_int": lambda a, n: _add(a, _of(n)),
    "quantity_sub": lambda a, b: _add(a, -b.quantity),
    "quantity_sub_int": lambda a, n: _add(a, -_of(n)),
}

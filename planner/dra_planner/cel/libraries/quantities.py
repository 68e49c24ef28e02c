"""Quantities in expressions.

Source of the behavior: kubernetes/apiserver:pkg/cel/library/quantity.go@v0.36.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dra_planner.cel.cost.effort import spend
from dra_planner.cel.libraries.operators import compare_quantities
from dra_planner.cel.values import CelError, QuantityValue
from dra_planner.quantity import DECIMAL_EXPONENT, Quantity, QuantityError


def _quantity(text: str) -> QuantityValue:
    try:
        return QuantityValue(_priced(Quantity.parse(text)))
    except QuantityError as error:
        raise CelError(error.reason) from None


def _priced(quantity: Quantity) -> Quantity:
    """Return the quantity, and charge the work that its digits cause in this and each further
    operation.
    """
    if not quantity.small:
        spend(quantity.unscaled.bit_length() + abs(quantity.scale))
    return quantity


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


def _combine(
    value: QuantityValue, other: Quantity, subtract: bool, in_place: bool
) -> QuantityValue:
    try:
        result = _priced(value.quantity - other if subtract else value.quantity + other)
    except QuantityError as error:
        raise CelError(error.reason) from None
    if in_place and not value.quantity.small:
        value.quantity = result
        return value.sharing()
    return QuantityValue(result, derived=True)


def _of(number: int) -> Quantity:
    return Quantity(number, suffixes=DECIMAL_EXPONENT)


def _arithmetic(in_place: bool) -> dict[str, Callable[..., Any]]:
    """Return addition and subtraction. With `in_place`, they change a first operand in the
    big-decimal format.
    """
    return {
        "quantity_add": lambda a, b: _combine(a, b.quantity, False, in_place),
        "quantity_add_int": lambda a, n: _combine(a, _of(n), False, in_place),
        "quantity_sub": lambda a, b: _combine(a, b.quantity, True, in_place),
        "quantity_sub_int": lambda a, n: _combine(a, _of(n), True, in_place),
    }


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
    **_arithmetic(in_place=True),
}
PURE_ARITHMETIC: Final = _arithmetic(in_place=False)
"""Arithmetic that doesn't change an operand."""

"""Quantities as integers in billionths, the finest unit of a quantity, so that sums and comparisons
are exact.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.quantity import Quantity

_NANO_SCALE = 9


def nano(quantity: Quantity) -> int:
    """Return the quantity in billionths."""
    power: int = 10 ** (quantity.scale + _NANO_SCALE)
    return quantity.unscaled * power


def from_nano(amount: int, like: Quantity) -> Quantity:
    """Return a number of billionths as a quantity with the suffix style of another quantity."""
    power = 10**_NANO_SCALE
    if amount % power == 0:
        return Quantity(amount // power, suffixes=like.suffixes)
    return Quantity(amount, -_NANO_SCALE, suffixes=like.suffixes)


def nanos(quantities: Mapping[str, Quantity]) -> tuple[tuple[str, int], ...]:
    """Return named quantities in units of a billionth, sorted by name."""
    return tuple(sorted((name, nano(q)) for name, q in quantities.items()))

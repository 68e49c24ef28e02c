"""Ranges of sizes and costs, as 64-bit numbers that saturate instead of overflowing.

Source of the behavior: google/cel-go:checker/cost.go@v0.26.0.
"""

from __future__ import annotations

from math import ceil
from typing import Final

UNBOUNDED: Final = 2**64 - 1

Range = tuple[int, int]
"""The minimum and maximum of a value."""

UNKNOWN: Final[Range] = (0, UNBOUNDED)
NOTHING: Final[Range] = (0, 0)
ONE: Final[Range] = (1, 1)


def add(*ranges: Range) -> Range:
    """Return the sum of two ranges."""
    least = most = 0
    for low, high in ranges:
        least += low
        most += high
    return min(least, UNBOUNDED), min(most, UNBOUNDED)


def multiply(a: Range, b: Range) -> Range:
    """Return the product of two ranges."""
    return min(a[0] * b[0], UNBOUNDED), min(a[1] * b[1], UNBOUNDED)


def union(a: Range, b: Range) -> Range:
    """Return the range from the lower minimum to the higher maximum."""
    return min(a[0], b[0]), max(a[1], b[1])


def scale(a: Range, factor: float) -> Range:
    """Return the range multiplied by a factor, rounded up."""
    return _scale(a[0], factor), _scale(a[1], factor)


def _scale(number: int, factor: float) -> int:
    as_float = float(number)
    if as_float > 0 and factor > 0 and as_float > UNBOUNDED / factor:
        return UNBOUNDED
    return min(ceil(as_float * factor), UNBOUNDED)


def fixed(number: int) -> Range:
    """Return a range that contains exactly one number."""
    return number, number

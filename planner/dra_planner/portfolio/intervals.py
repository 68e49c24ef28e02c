"""Confidence intervals of a share or a mean over a number of runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from msgspec import Struct

Z95 = 1.959963984540054
"""Quantile of the normal distribution for 95 %."""


class Interval(Struct, frozen=True):
    """An estimate with its 95% confidence interval."""

    estimate: float
    low: float
    high: float


def share_interval(hits: int, runs: int) -> Interval:
    """Return the share of runs with a hit and its Wilson score interval, which is also valid for
    few runs and rare hits.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference"
    (1927).
    """
    share, z2 = hits / runs, Z95 * Z95
    middle = (share + z2 / (2 * runs)) / (1 + z2 / runs)
    half = Z95 / (1 + z2 / runs) * sqrt(share * (1 - share) / runs + z2 / (4 * runs * runs))
    low = 0.0 if not hits else max(0.0, middle - half)
    return Interval(share, low, 1.0 if hits == runs else min(1.0, middle + half))


def mean_interval(values: Sequence[int]) -> Interval:
    """Return the mean of the runs and its interval by the normal approximation."""
    runs = len(values)
    mean = sum(values) / runs
    variance = sum((value - mean) ** 2 for value in values) / (runs - 1) if runs > 1 else 0.0
    half = Z95 * sqrt(variance / runs)
    return Interval(mean, max(0.0, mean - half), mean + half)

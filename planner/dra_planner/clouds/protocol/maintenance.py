"""Limits of a cloud for maintenance windows and maintenance exclusions."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class MaintenanceLimits(Struct, frozen=True, kw_only=True):
    """Times during which maintenance must be possible.

    `window` is the recurring window of a cluster. It must be open for a number of `hours` in a
    number of `days`, in blocks of at least `block` hours. `exclusions` is the list of periods
    without maintenance, each with a `scope`. `longest` are the most days of an exclusion, by scope,
    starting with the default scope.
    """

    window: str
    hours: int
    days: int
    block: int
    exclusions: str
    scope: str
    longest: Mapping[str, int]

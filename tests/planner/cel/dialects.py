"""The dialects that the tests speak, by minor and gates."""

from __future__ import annotations

from dra_planner.cel import Dialect
from dra_planner.releases import features_of


def stored(minor: int = 36, **gates: bool) -> Dialect:
    """Return the dialect of stored selectors, which the scheduler evaluates."""
    return Dialect.of(features_of(minor).with_gates(**gates), "stored")


def new(minor: int = 36, **gates: bool) -> Dialect:
    """Return the dialect of new selectors, which the API server admits."""
    return Dialect.of(features_of(minor).with_gates(**gates), "new")

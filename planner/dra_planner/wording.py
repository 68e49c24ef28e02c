"""Wording for numbers, and words that agree with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal

_SINGULAR = {"are": "is", "do": "does", "have": "has"}


def noun(number: int, singular: str) -> str:
    """Return the noun for this number, for example `node`, `nodes`, or `addresses`."""
    if number == 1:
        return singular
    head, of, rest = singular.partition(" of ")
    return head + ("es" if head.endswith("ss") else "s") + of + rest


def counted(number: int, singular: str) -> str:
    """Return a number with its noun, for example `1 node` or `2 nodes`."""
    return f"{number} {noun(number, singular)}"


def named(singular: str, names: Collection[str], joint: str = ", ") -> str:
    """Return names after their noun, for example `pool l4` or `pools l4, h100`."""
    return f"{noun(len(names), singular)} {joint.join(names)}"


def use_one_of(singular: str, names: Collection[str]) -> str:
    """Return the fix "use pool l4", or "use one of these pools: l4, h100"."""
    if len(names) == 1:
        return f"use {singular} {next(iter(names))}"
    return f"use one of these {noun(2, singular)}: {', '.join(names)}"


def either(choices: Iterable[str]) -> str:
    """Return the choices joined by "or"."""
    *most, last = choices
    comma = "," if len(most) > 1 else ""
    return f"{', '.join(most)}{comma} or {last}" if most else last


def listed(parts: Iterable[str]) -> str:
    """Return the parts joined by "and", or "" without parts."""
    found = list(parts)
    if len(found) < 2:
        return "".join(found)
    comma = "," if len(found) > 2 else ""
    return f"{', '.join(found[:-1])}{comma} and {found[-1]}"


def one_or_more(singular: str, names: Collection[str]) -> str:
    """Return names to choose from, for example `zone a`, or `one or more of these zones: a, b`."""
    if len(names) == 1:
        return f"{singular} {next(iter(names))}"
    return f"one or more of these {noun(2, singular)}: {', '.join(names)}"


def verb(number: int, plural: str) -> str:
    """Return the verb for this number: "is", "has", or "passes" for one, and "are", "have", or
    "pass" for several.
    """
    if number != 1:
        return plural
    return _SINGULAR.get(plural) or plural + ("es" if plural.endswith(("s", "ch", "sh")) else "s")


def pending_text(pending: int, wanted: int) -> str:
    """Return how many of a workload's pods stay pending: "1 of 3 pods stays pending"."""
    if wanted == 1:
        return "the pod stays pending"
    if pending == wanted:
        return "both pods stay pending" if wanted == 2 else f"all {wanted} pods stay pending"
    return f"{pending} of {wanted} pods {verb(pending, 'stay')} pending"


def price_change(more: Decimal | None) -> str:
    """Return a change of the price, for example "USD 4.60 more per hour", or a text that says it's
    unknown.
    """
    if more is None:
        return "price unknown"
    return f"USD {abs(more):,.2f} {'less' if more < 0 else 'more'} per hour"

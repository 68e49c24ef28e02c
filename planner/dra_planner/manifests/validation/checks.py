"""Checks of single fields that many structs use: required values, choices, ranges, and formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.manifests.validation.fields.formats import (
    dns_label,
    label_value,
    percentage,
    port_name,
    qualified_name,
)
from dra_planner.manifests.validation.rules import Check, Scope
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    invalid,
    not_supported,
    required,
)

Format = Callable[[str], Iterable[str]]
MOST: int = 2**31 - 1
NOT_NEGATIVE = "must be greater than or equal to 0"


def needed(detail: str = "") -> Check:
    """Return a check for a value that isn't empty."""

    def check(value: Any, path: str, scope: Scope) -> Violations:
        if not value:
            yield required(path, detail)

    return check


def choice(*values: str, since: dict[str, int] | None = None) -> Check:
    """Return a check for one of several texts.

    An empty text is valid, because the API server replaces it with a default. `since` is the minor
    version that added a value.
    """
    return _choice(values, lambda value: not value, since)


def pointed_choice(*values: str) -> Check:
    """Return a check for one of several texts, or nothing. An empty text isn't valid."""
    return _choice(values, lambda value: value is None, None)


def strict_choice(*values: str) -> Check:
    """Return a check for one of several texts, without a default."""
    return _choice(values, lambda value: False, None)


def needed_choice(*values: str) -> Check:
    """Return a check for one of several texts, which is required."""
    choose = _choice(values, lambda value: not value, None)

    def check(value: Any, path: str, scope: Scope) -> Violations:
        if not value:
            yield required(path)
        yield from choose(value, path, scope)

    return check


def pointed_needed_choice(*values: str) -> Check:
    """Return a check for one of several texts, or nothing. An empty text counts as missing."""
    choose = needed_choice(*values)

    def check(value: Any, path: str, scope: Scope) -> Violations:
        if value is not None:
            yield from choose(value, path, scope)

    return check


def _choice(
    values: tuple[str, ...], is_fine: Callable[[Any], bool], since: dict[str, int] | None
) -> Check:
    def check(value: Any, path: str, scope: Scope) -> Violations:
        known = [each for each in values if scope.minor >= (since or {}).get(each, 0)]
        if not is_fine(value) and (value or "") not in known:
            yield not_supported(path, value or "", known)

    return check


def between(least: int, most: int) -> Check:
    """Return a check for a number in a range. The field can be omitted."""

    def check(value: Any, path: str, scope: Scope) -> Violations:
        if value is not None and not least <= value <= most:
            yield invalid(path, int(value), f"must be between {least} and {most}, inclusive")

    return check


def not_negative(value: Any, path: str, scope: Scope) -> Violations:
    """Yield a violation if a number is below 0."""
    if value is not None and value < 0:
        yield invalid(path, int(value), NOT_NEGATIVE)


def positive(value: Any, path: str, scope: Scope) -> Violations:
    """Yield a violation unless a number is above 0."""
    if (value or 0) <= 0:
        yield invalid(path, int(value or 0), "must be greater than 0")


def positive_if_set(value: Any, path: str, scope: Scope) -> Violations:
    """Yield a violation if a number is set and not above 0."""
    if value is not None:
        yield from positive(value, path, scope)


user_id = between(0, MOST)
group_id = between(0, MOST)


def formatted(wrong: Format) -> Check:
    """Return a check for an optional text in a format. An empty text is valid."""

    def check(value: Any, path: str, scope: Scope) -> Violations:
        if value:
            yield from each_invalid(path, value, wrong(value))

    return check


def always_formatted(wrong: Format) -> Check:
    """Return a check for a text in a format. An empty text isn't valid."""

    def check(value: Any, path: str, scope: Scope) -> Violations:
        yield from each_invalid(path, value or "", wrong(value or ""))

    return check


def pointed_format(wrong: Format) -> Check:
    """Return a check for a text in a format, or nothing. An empty text isn't valid."""

    def check(value: Any, path: str, scope: Scope) -> Violations:
        if value is not None:
            yield from each_invalid(path, value, wrong(value))

    return check


def named(wrong: Format) -> Check:
    """Return a check for a required text in a format."""

    def check(value: Any, path: str, scope: Scope) -> Violations:
        if not value:
            yield required(path)
        else:
            yield from each_invalid(path, value, wrong(value))

    return check


label = formatted(dns_label)
qualified = always_formatted(qualified_name)


def labels(value: Any, path: str, scope: Scope) -> Violations:
    """Yield the errors in the keys and values of a mapping of labels."""
    for key, text in (value or {}).items():
        yield from each_invalid(path, key, qualified_name(key))
        yield from each_invalid(path, text, label_value(text or ""))


def port_or_name(value: Any, path: str, scope: Scope) -> Violations:
    """Yield the errors in a port, which is a number or a name."""
    if isinstance(value, str):
        yield from each_invalid(path, value, port_name(value))
    elif not 1 <= (value or 0) <= 65535:
        yield invalid(path, int(value or 0), "must be between 1 and 65535, inclusive")


def count_or_percentage(value: Any, path: str, scope: Scope) -> Violations:
    """Yield the errors in a limit that is a number or a percentage."""
    if isinstance(value, str):
        yield from each_invalid(path, value, percentage(value))
    elif value is not None:
        yield from not_negative(value, path, scope)


def at_most_all(value: Any, path: str, scope: Scope) -> Violations:
    """Yield a violation if a percentage is above 100%."""
    if isinstance(value, str) and not percentage(value) and percent_of(value) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def percent_of(text: str) -> int:
    """Return the number in a percentage. If it overflows, return the largest number."""
    digits = text[:-1].lstrip("0")
    return min(int(digits or 0), 2**63 - 1) if len(digits) < 20 else 2**63 - 1


def amount_of(value: Any) -> int:
    """Return a count or percentage as a number, as Go's IntValue does for texts that aren't
    percentages.
    """
    if isinstance(value, str):
        if not percentage(value):
            return percent_of(value)
        digits = value[1:] if value[:1] in "+-" else value
        return int(value) if digits.isdigit() and digits.isascii() and len(digits) < 20 else 0
    return int(value or 0)


def quantity_not_negative(value: Any, path: str, scope: Scope) -> Violations:
    """Yield a violation if an amount is below 0."""
    if value is not None and parse_quantity(value).sign < 0:
        yield invalid(path, str(value), NOT_NEGATIVE)

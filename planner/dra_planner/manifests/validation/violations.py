"""Violations. Each has a field, and the API server's reason and text.

Source of the wording: kubernetes/apimachinery:pkg/util/validation/field/errors.go@v0.36.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from dra_planner.records import equality

TEMPLATED: Final = ("argoproj.io", "tekton.dev")
"""Groups whose controllers replace {{…}} in pods."""


@equality(ignored=("fix",))
class Violation(Struct, frozen=True):
    """One field that the API server rejects.

    `reason` is the reason in `Status.details.causes`. `fix` explains how to correct it, if a fix is
    known.
    """

    field: str
    reason: str
    text: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.text}" if self.field else self.text


Violations = Iterator[Violation]


def required(field: str, detail: str = "") -> Violation:
    return Violation(
        field, "FieldValueRequired", "Required value" + (f": {detail}" if detail else "")
    )


def invalid(field: str, value: Any, detail: str) -> Violation:
    return Violation(field, "FieldValueInvalid", f"Invalid value: {show(value)}: {detail}")


def not_supported(field: str, value: str, supported: Iterable[str]) -> Violation:
    values = ", ".join(show(item) for item in sorted(supported))
    return Violation(
        field,
        "FieldValueNotSupported",
        f"Unsupported value: {show(value)}: supported values: {values}",
    )


def duplicate(field: str, value: Any) -> Violation:
    return Violation(field, "FieldValueDuplicate", f"Duplicate value: {show(value)}")


def too_many(field: str, count: int, maximum: int) -> Violation:
    return Violation(
        field, "FieldValueTooMany", f"Too many: {count}: must have at most {maximum} items"
    )


def too_long(field: str, maximum: int) -> Violation:
    return Violation(field, "FieldValueTooLong", f"Too long: may not be more than {maximum} bytes")


def forbidden(field: str, detail: str) -> Violation:
    return Violation(field, "FieldValueForbidden", f"Forbidden: {detail}")


def not_found(field: str, value: Any, detail: str = "") -> Violation:
    return Violation(
        field, "FieldValueNotFound", f"Not found: {show(value)}" + (f": {detail}" if detail else "")
    )


def show(value: Any) -> str:
    """Return a value as the API server quotes it in messages."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)
    return text if len(text) <= 400 else f"{text[:397]}..."


def each_invalid(field: str, value: Any, details: Iterable[str]) -> Violations:
    for detail in details:
        yield invalid(field, value, detail)

"""Objects and amounts in the form in which expressions read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from dra_planner.cel.values import MapValue, UnknownValue
from dra_policies.configuration.custom.object_types import OBJECT_TYPES


def object_value(kind: str, values: Mapping[str, Any], owner: str) -> MapValue:
    """Return an object of that type. A field without a value is unknown, and messages about it name
    the field and its object.
    """
    found = {name: values.get(name) for name in OBJECT_TYPES[kind]}
    return MapValue.of_strings(
        {
            name: UnknownValue(f'the field "{name}" of {owner}') if value is None else value
            for name, value in found.items()
        }
    )


def multiply(usd: Decimal | None, factor: int) -> Decimal | None:
    return Decimal(0) if factor == 0 else None if usd is None else usd * factor


def add_up(amounts: Iterable[Decimal | None]) -> Decimal | None:
    found = tuple(amounts)
    return None if None in found else sum((each for each in found if each is not None), Decimal(0))


def in_dollars(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)

"""A fleet with some changed values, for `--what-if` and `--matrix`.

    change_fleet(fleet, [read_change("pools.l4.count.max=8"), read_change("kubernetes=1.36")])

A path consists of keys of the fleet's document, with pools and classes identified by their names.
`driver` stands for the version of the NVIDIA DRA driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final

from msgspec import Struct

from dra_planner.errors import FleetError
from dra_planner.fleet.reading import read_document, read_fleet
from dra_planner.fleet.schema import Fleet
from dra_planner.wording import use_one_of

_SHORT: Final = {"driver": ("drivers", "nvidia", "version")}
_OPENING: Final = {"[": "]", "{": "}", '"': '"', "'": "'"}
_EXAMPLE: Final = "use PATH=VALUE, for example pools.l4.count.max=8 or kubernetes=1.36"


class FleetEdit(Struct, frozen=True):
    """One value of a fleet's document: `path` as written, and `value` as YAML text."""

    path: str
    value: str

    def __str__(self) -> str:
        return f"{self.path}={self.value}"


def read_change(text: str) -> FleetEdit:
    """Return the change in PATH=VALUE. Raises FleetError for other text."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip() or not value.strip():
        raise FleetError(f'"{text}" doesn\'t set a value', fix=_EXAMPLE)
    return FleetEdit(path.strip(), value.strip())


def read_values(text: str) -> tuple[FleetEdit, ...]:
    """Return the changes in PATH=VALUE,VALUE,…, one for each value. Commas in brackets and quotes
    don't separate values.
    """
    whole = read_change(text)
    values = tuple(value for value in _split(whole.value) if value)
    return tuple(FleetEdit(whole.path, value) for value in dict.fromkeys(values))


def change_fleet(fleet: Fleet, changes: Sequence[FleetEdit]) -> Fleet:
    """Return the fleet with these values changed. Raises FleetError for an unknown path, or if the
    fleet would be invalid.
    """
    document = fleet.document()
    for change in changes:
        keys = _SHORT.get(change.path) or tuple(change.path.split("."))
        _set(document, keys, change)
    try:
        return read_fleet(document)
    except FleetError as error:
        listed = ", ".join(map(str, changes))
        raise FleetError(
            f"{error.message} (with {listed})",
            place=error.place,
            fix=error.fix,
            others=error.others,
        ) from None


def _set(document: dict[str, Any], keys: tuple[str, ...], change: FleetEdit) -> None:
    here: Any = document
    for depth, key in enumerate(keys[:-1]):
        here = _inside(here, key, keys[: depth + 1], change)
    last = keys[-1]
    if isinstance(here, list):
        value = read_document(change.value)
        if not isinstance(value, dict):
            raise FleetError(
                f"{change.path} must be a mapping",
                fix=f"set one of its keys, for example {change.path}.KEY=VALUE",
            )
        row = {**value, "name": last}
        names = [each.get("name") for each in here]
        here[:] = [row if each.get("name") == last else each for each in here] + (
            [] if last in names else [row]
        )
        return
    if not isinstance(here, dict):
        raise FleetError(f"in this fleet, {'.'.join(keys[:-1])} doesn't have keys", fix=_EXAMPLE)
    value = read_document(change.value)
    is_text = isinstance(here.get(last), str) and not isinstance(value, dict | list | str)
    # a version is text, although YAML reads 1.36 as a number
    here[last] = change.value if is_text else value
    if last == "machine" and "pricePerHour" in here:
        here["pricePerHour"] = None  # this key described the previous machine type


def _inside(here: Any, key: str, path: tuple[str, ...], change: FleetEdit) -> Any:
    """Return the value of a mapping's key, or the list item with that name."""
    if isinstance(here, list):
        names = [str(row.get("name")) for row in here if isinstance(row, dict)]
        for row in here:
            if isinstance(row, dict) and row.get("name") == key:
                return row
        raise FleetError(
            f'{change.path}: "{key}" isn\'t in the fleet',
            fix=use_one_of("name", names) if names else _EXAMPLE,
        )
    if isinstance(here, dict) and isinstance(here.get(key), dict | list):
        return here[key]
    if isinstance(here, dict) and key not in here:
        near = get_close_matches(key, list(here), 1)
        fix = (
            f'did you mean "{near[0]}"?' if near else (f"use one of these keys: {', '.join(here)}")
        )
        raise FleetError(f'{change.path}: the fleet doesn\'t have "{".".join(path)}"', fix=fix)
    raise FleetError(f"in this fleet, {'.'.join(path)} doesn't have keys", fix=_EXAMPLE)


def _split(text: str) -> Iterator[str]:
    """Yield the texts between commas, ignoring commas in brackets and quotes."""
    closing: list[str] = []
    start = 0
    for index, sign in enumerate(text):
        if closing and sign == closing[-1]:
            closing.pop()
        elif sign in _OPENING and not (closing and closing[-1] in "\"'"):
            closing.append(_OPENING[sign])
        elif sign == "," and not closing:
            yield text[start:index].strip()
            start = index + 1
    yield text[start:].strip()

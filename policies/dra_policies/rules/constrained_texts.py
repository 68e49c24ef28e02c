"""Texts, keys, and lengths that break a constraint of the table `api_constraints`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from dra_planner.catalog.api_constraints import ApiConstraint, value_forms
from dra_policies.rules.constrained_parts import BrokenConstraint, Part
from dra_policies.unknown_values import as_list, as_mapping

_ALIKE: Final = 0.75


def _keys(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    for key in as_mapping(part.value) or {}:
        if row.kind == "keys" and key not in row.members:
            near = get_close_matches(key, row.members, n=1, cutoff=_ALIKE)
            yield BrokenConstraint(
                f'{part.shown} contains the unknown key "{key}"',
                f'rename "{key}" in {part.shown} to "{near[0]}"'
                if near
                else f'remove "{key}" from {part.shown}',
                (part.shown,),
            )
        elif row.kind == "other keys" and re.search(row.value, key):
            yield BrokenConstraint(
                f'{part.shown} contains the key "{key}", which the API rejects',
                f'remove "{key}" from {part.shown}',
                (part.shown,),
            )


def _domain(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    """Yield names in a reserved domain that the API doesn't define: a text, or keys."""
    domain, _, listed = row.value.partition(": ")
    known = listed.split("|")
    names = [part.value] if isinstance(part.value, str) else list(as_mapping(part.value) or {})
    for name in names:
        if "/" in name and name.partition("/")[0].endswith(domain) and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=_ALIKE)
            yield BrokenConstraint(
                f'"{name}" in {part.shown} isn\'t a known name in the reserved domain {domain}',
                f'use "{near[0]}" in {part.shown}'
                if near
                else f'remove "{name}" from {part.shown}',
                (part.shown,),
            )


def _text(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    listed = as_list(part.value)
    for text in [part.value] if listed is None else listed:
        if not isinstance(text, str):
            continue
        state = f'is "{text}"' if text else "is empty"
        form = value_forms().get(row.value, "")
        if row.kind == "other" and re.search(row.value, text):
            yield BrokenConstraint(
                f"{part.shown} {state}, but {f'it must be {form}' if form else 'the API rejects it'}",
                f"set {part.shown} to {form}" if form else f'remove "{text}" from {part.shown}',
                (part.shown,),
            )
        elif row.kind == "pattern" and not re.search(row.value, text):
            yield BrokenConstraint(
                f"{part.shown} {state}, "
                + (f"but it must be {form}" if form else "which isn't in the required format"),
                f"set {part.shown} to {form or f'a value that matches `{row.value}`'}",
                (part.shown,),
            )


def _size(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    low, high = (each.strip() for each in row.value.split("to"))
    one, more = ("character", "characters") if row.kind == "length" else ("entry", "entries")
    text = part.value if isinstance(part.value, str) else None
    listed = as_list(part.value)
    entries = as_mapping(part.value) if listed is None else listed
    sized = text if row.kind == "length" else entries
    if sized is None:
        return
    length = len(sized)
    is_long = bool(high) and length > int(high)
    if is_long or length < int(low or 0):
        bound = high if is_long else low
        limit = f"at most {bound}" if is_long else f"at least {bound}"
        yield BrokenConstraint(
            f"{part.shown} has {length} {one if length == 1 else more}, "
            f"but the API requires {limit}",
            f"use {limit} {one if bound == '1' else more} in {part.shown}",
            (part.shown,),
        )


TEXT_FAULTS: Final[Mapping[str, Callable[[Part, ApiConstraint], Iterator[BrokenConstraint]]]] = {
    "keys": _keys,
    "other keys": _keys,
    "domain": _domain,
    "keys of domain": _domain,
    "pattern": _text,
    "other": _text,
    "length": _size,
    "count": _size,
}

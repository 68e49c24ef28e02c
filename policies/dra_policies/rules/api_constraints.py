"""Properties that break a constraint of their API or provider, from the table `api_constraints`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Final

from dra_planner.catalog.api_constraints import ApiConstraint, api_constraints
from dra_policies.rules.constrained_parts import (
    BrokenConstraint,
    Part,
    listed_words,
    named_members,
    parts,
    phrase,
    steps_against,
)
from dra_policies.rules.constrained_texts import TEXT_FAULTS
from dra_policies.unknown_values import UNKNOWN, Properties, as_list, as_mapping

Faults = Callable[[Part, ApiConstraint], Iterator[BrokenConstraint]]
_ALIKE: Final = 0.85
_IS_TYPE: Final[Mapping[str, Callable[[object], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "any": lambda _: True,
}


def broken_constraints(
    token: str,
    props: Properties,
    of_outputs: frozenset[str] = frozenset(),
    *,
    has_all_members: bool = False,
) -> Iterator[BrokenConstraint]:
    """Yield the constraints that a resource certainly breaks. `of_outputs` are its properties that
    the program doesn't set. `has_all_members` states that the table has every member of the
    stack's version of the API.
    """
    found = api_constraints().get(token, ())
    own = as_mapping(props.values)
    if not found or own is None:
        return
    declared = {key: value for key, value in own.items() if key not in of_outputs}
    for row in found:
        values = declared if row.of_provider else own
        if row.of_provider and row.kind == "required" and not row.path:
            continue  # the SDK's types require it
        for part in parts(Properties(values), row.path, skips_empty=row.of_provider):
            if row.kind == "types":
                yield from _types(part, row, token, has_all_members=has_all_members)
            else:
                yield from _FAULTS[row.kind](part, row)


@cache
def _places(token: str) -> Mapping[str, str]:
    """Return the paths of all members by name, for each name that occurs once in a type."""
    paths: dict[str, list[str]] = {}
    for row in api_constraints()[token]:
        for each in row.members if row.kind == "types" else ():
            name = each.partition(":")[0]
            paths.setdefault(name, []).append(f"{row.path}.{name}".replace("[]", ""))
    return {name: found[0] for name, found in paths.items() if len(found) == 1}


def _types(
    part: Part, row: ApiConstraint, token: str, *, has_all_members: bool
) -> Iterator[BrokenConstraint]:
    """Yield members with the wrong type, and unknown members. If a newer version of the API can
    have other members, yield only unknown members that look misspelled or misplaced.
    """
    known = dict(each.split(":") for each in row.members)
    for name, value in (as_mapping(part.value) or {}).items():
        if value is None or value is UNKNOWN or name.startswith("__"):
            continue
        shown = part.shown_member(name)
        near = get_close_matches(name, known, n=1, cutoff=_ALIKE)
        elsewhere = _places(token).get(name)
        if name not in known and (near or elsewhere or has_all_members):
            fix = f"rename {shown} to {near[0]}" if near else f"move {shown} to {elsewhere}"
            if not near and not elsewhere:
                fix = f"remove {shown}"
            yield BrokenConstraint(f"the API doesn't have the field {shown}", fix, (shown,))
        elif name in known and not _IS_TYPE[known[name]](value):
            wanted = f"{'an' if known[name][0] in 'aeiou' else 'a'} {known[name]}"
            is_text = not isinstance(value, dict | list)
            given = json.dumps(value) if is_text else "a structure"
            yield BrokenConstraint(
                f"{shown} is {given}, but the API requires {wanted}",
                f"write {shown} as {wanted}",
                (shown,),
            )


def _required(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    for name in row.members if as_mapping(part.value) is not None else ():
        shown = part.shown_member(name)
        if part.at(name) is None:
            yield BrokenConstraint(
                f"{shown} isn't set, but the API requires it", f"set {shown}", (shown,)
            )


def _combination(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    if as_mapping(part.value) is None:
        return
    states = {part.shown_member(name): part.has(name) for name in row.members}
    shown = list(states)
    given = [name for name, state in states.items() if state]
    missing = [name for name in shown[1:] if states[name] is False]
    has_none = all(state is False for state in states.values())
    excludes = row.kind in ("one of", "at most one") or (
        row.kind == "excludes" and states[shown[0]]
    )
    if excludes and len(given) > 1:
        parent, names = _shared_parent(given[:2])
        yield BrokenConstraint(
            f"it sets both {listed_words(names)}{f' in {parent}' if parent else ''}, but the API "
            "accepts only one of them",
            f"remove either {listed_words(names, 'or')}{f' from {parent}' if parent else ''}",
            tuple(given),
        )
    elif row.kind in ("one of", "at least one") and has_none:
        wanted = "one of them" if len(shown) > 1 else "it"
        yield BrokenConstraint(
            f"it doesn't set {listed_words(shown, 'or')}, but the API requires {wanted}",
            f"set {listed_words(shown, 'or')}",
            tuple(shown),
        )
    needed = row.kind == "needs" or len(missing) == len(shown) - 1
    if row.kind in ("needs", "needs any") and states[shown[0]] and missing and needed:
        listed = listed_words(missing, "and" if row.kind == "needs" else "or")
        yield BrokenConstraint(
            f"it sets {shown[0]} without {listed}",
            f"set {listed}, or remove {shown[0]}",
            (shown[0], *missing),
        )


def _shared_parent(paths: list[str]) -> tuple[str, list[str]]:
    """Return the path of the part that contains all these members, and their names in it. If their
    parents differ or the paths are short, return "" and the whole paths.
    """
    parents = {path.rpartition(".")[0] for path in paths}
    parent = parents.pop()
    if parents or "." not in parent:
        return "", paths
    return parent, [path.rpartition(".")[2] for path in paths]


def _all_exclude(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    """Yield a list if each of its entries combines the first member with another one. The API
    accepts the list if one entry doesn't.
    """
    first, *others = row.members
    listed = as_list(part.around[-1].get(part.shown.rpartition(".")[2])) or []
    entries = [as_mapping(each) or {} for each in listed]
    if part.value is listed[0] and all(
        each.get(first) and any(each.get(other) for other in others) for each in entries
    ):
        yield from _combination(part, ApiConstraint(path="", kind="excludes", value=row.value))


def _order(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    high, low = (part.at(name) for name in row.members)
    shown, other = (part.shown_member(name) for name in row.members)
    wanted = "more than" if row.kind == "above" else "at least"
    if (
        isinstance(high, int)
        and isinstance(low, int)
        and (high < low or (row.kind == "above" and high == low))
    ):
        yield BrokenConstraint(
            f"{shown} is {high}, but it must be {wanted} {other} ({low})",
            f"set {shown} to {wanted} {other}",
            (shown, other),
        )


def _only_with(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    name, condition = row.value.split("|", 1)
    path, wanted = condition.split("=", 1)
    value = part.at(path)
    if part.has(name) and value is not UNKNOWN and value not in wanted.split("|"):
        shown, other = part.shown_member(name), part.shown_member(path)
        accepted = listed_words([f'"{each}"' for each in wanted.split("|")], "or")
        yield BrokenConstraint(
            f"it sets {shown}, which the API accepts only if {other} is {accepted}",
            f"remove {shown}, or set {other} to {accepted}",
            (shown, other),
        )


def _never(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    if as_mapping(part.value) is not None and part.holds(row.value):
        names = named_members(part, row.value)
        within = f"{part.shown}."
        is_inside = "." in part.shown and all(name.startswith(within) for name in names)
        start, prefix = (f"in {part.shown}, ", within) if is_inside else ("", "")
        what = "this combination" if len(names) > 1 else "this value"
        yield BrokenConstraint(
            f"{start}{phrase(part, row.value).replace(prefix, '')}, but the API rejects {what}",
            f"{start}{steps_against(part, row.value).replace(prefix, '')}",
            tuple(names),
        )


def _entries(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    """Yield a list whose entries together don't satisfy a condition."""
    listed = as_list(part.value) or []
    entries = [Part(value=each, shown="", around=part.around) for each in listed]
    mappings = [as_mapping(each) for each in listed]
    if not listed or any(each is None or UNKNOWN in each.values() for each in mappings):
        return
    matching = [each for each in entries if each.holds(row.value)]
    condition = row.value.replace("=", " ").replace(" and ", ", ")
    names = listed_words(list(row.members))
    problem = fix = ""
    if row.kind == "some item" and not matching:
        problem, fix = (
            f"{part.shown} doesn't have an entry with {condition}",
            f"add an entry with {condition} to {part.shown}",
        )
    elif row.kind == "only item" and matching and len(listed) > 1:
        problem, fix = (
            (f"an entry of {part.shown} sets {row.value}, so the API doesn't accept other entries"),
            f"remove the other entries of {part.shown}",
        )
    elif row.kind == "one item" and len(matching) > 1:
        problem, fix = (
            (
                f"{len(matching)} entries of {part.shown} have {condition}, but the API accepts "
                "only one"
            ),
            f"remove {condition} from the other entries of {part.shown}",
        )
    elif row.kind == "different items":
        keys = [tuple(each.at(name) for name in row.members) for each in entries]
        if any(key in keys[:at] for at, key in enumerate(keys)):
            problem, fix = (
                f"two entries of {part.shown} have the same {names}",
                f"use different values of {names} in {part.shown}",
            )
    if problem:
        yield BrokenConstraint(problem, fix, (part.shown,))


def _same_keys(part: Part, row: ApiConstraint) -> Iterator[BrokenConstraint]:
    one, other = row.members
    for name, against in ((one, other), (other, one)):
        there = as_mapping(part.at(against)) or {}
        shown, lacks = part.shown_member(name), part.shown_member(against)
        for key in as_mapping(part.at(name)) or {} if part.at(against) is not UNKNOWN else ():
            if key not in there:
                yield BrokenConstraint(
                    f'{shown} has "{key}", but {lacks} doesn\'t',
                    f'add "{key}" to {lacks}',
                    (shown, lacks),
                )


_FAULTS: Final[Mapping[str, Faults]] = {
    **TEXT_FAULTS,
    "required": _required,
    **dict.fromkeys(
        ("one of", "at least one", "at most one", "excludes", "needs", "needs any"), _combination
    ),
    "all exclude": _all_exclude,
    "above": _order,
    "not below": _order,
    "only with": _only_with,
    "never": _never,
    **dict.fromkeys(("some item", "only item", "one item", "different items"), _entries),
    "same keys": _same_keys,
}

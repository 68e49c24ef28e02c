"""Values that a cloud's API doesn't define, from the table `api_values`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from difflib import get_close_matches

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.catalog.api_values import ApiValues, api_values
from dra_planner.clouds import cloud
from dra_planner.wording import either
from dra_policies.rules.api_constraints import broken_constraints
from dra_policies.rules.definition_versions import TableAge, table_age
from dra_policies.rules.resource_rows import resource_kinds
from dra_policies.rules.rule import Finding, sentence
from dra_policies.unknown_values import Properties, as_mapping
from dra_policies.view.stack_view import StackView

_SHOWN = 6
_ALIKE = 0.85
# Lists that are open, or that the models know only in part.
_OPEN = ("addonName", "acceleratorNames[]", "resourceType")
_ACRONYMS = re.compile(r"\b(?:nat|vpc)\b")


def rejected_values(
    view: StackView, reported: Container[tuple[str, str]] = ()
) -> Iterator[Finding]:
    """Yield the values of resources, and of pools inside clusters, that their API doesn't define.

    If the API's list of values can grow, only values that look like a misspelled known value are
    included. `reported` are properties, by URN, that have another finding.
    """
    for each in _subjects(view):
        age = table_age(each.type, view.installed_charts)
        for broken in broken_constraints(
            each.type, each.props, each.of_outputs, has_all_members=age == "current"
        ):
            if not any((each.urn, member) in reported for member in broken.members):
                problem = broken.problem
                if each.type.startswith("chart:"):
                    problem = problem.replace("the API", "the chart")
                yield Finding(message=sentence(each.title, problem), fix=broken.fix, urn=each.urn)
        for row in _rows(each, age):
            for fault in _faults(row, each.props, row.property):
                if fault.is_certain:
                    yield fault.finding(each)


def unknown_values(view: StackView) -> Iterator[Finding]:
    """Yield values that are unlike every known value of a list that can grow."""
    for each in _subjects(view):
        for row in _rows(each, table_age(each.type, view.installed_charts)):
            if row.grows and not row.property.endswith(_OPEN):
                for fault in _faults(row, each.props, row.property):
                    if not fault.is_certain:
                        yield fault.finding(each)


class _Subject(Struct, frozen=True, kw_only=True):
    """A resource, or a pool inside a cluster, with its title for messages."""

    type: str
    title: str
    urn: str
    props: Properties
    of_outputs: frozenset[str] = frozenset()


def _rows(subject: _Subject, age: TableAge) -> Iterator[ApiValues]:
    """Yield the values of a type. If its chart is newer than the tables, every list can grow."""
    for row in api_values().get(subject.type, ()):
        yield replace(row, grows=True) if age == "older" else row


class _Fault(Struct, frozen=True):
    """A value that an API doesn't define. It isn't certain if newer versions can define it."""

    problem: str
    fix: str
    is_certain: bool = True

    def finding(self, subject: _Subject) -> Finding:
        return Finding(message=sentence(subject.title, self.problem), fix=self.fix, urn=subject.urn)


def _subjects(view: StackView) -> Iterator[_Subject]:
    for each in (*view.declared, *view.objects, *view.installed_charts):
        yield _Subject(
            type=each.type,
            title=f'{_kind(each.type)} "{each.name}"',
            urn=each.urn,
            props=each.props,
            of_outputs=each.of_outputs,
        )
    for pool in view.inner_pools:
        token = cloud(pool.cloud).pool.token
        yield _Subject(type=token, title=pool.title, urn=pool.urn, props=pool.own)


def _kind(token: str) -> str:
    """Return the name of a type for messages: the name that other rules use, or for example
    "capacity reservation" for CapacityReservation.
    """
    if token.startswith(("kubernetes:", "chart:")):
        return token.rpartition(":")[2] if token.startswith("kubernetes:") else "chart"
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", token.rpartition(":")[2]).lower()
    return resource_kinds().get(token) or _ACRONYMS.sub(lambda found: found[0].upper(), words)


def _faults(row: ApiValues, props: Properties, path: str) -> Iterator[_Fault]:
    head, items, rest = path.partition("[]")
    if items and rest:
        for item in props.items(head) or ():
            yield from _faults(row, item, rest.removeprefix("."))
        return
    if path.endswith("{}"):
        for value in (as_mapping(props.at(path.removesuffix("{}"))) or {}).values():
            yield from _faults(row, Properties({"value": value}), "value")
        return
    name = re.sub(r"\.([^.]*%2E[^.]*)", _in_brackets, row.property.replace("[]", ""))
    value = props.at(head)
    if row.keys:
        unknown = [key for key in as_mapping(value) or {} if key not in row.keys]
        for key in unknown:
            yield _Fault(f"the API doesn't accept {key} in {name}", f"remove {key} from {name}")
    elif row.range:
        low, high = row.range
        count = None if value is None else props.count(head, low or 0)
        # Providers that are built on Terraform return 0 for a number that isn't set.
        if count and high is not None and not (low or 0) <= count <= high:
            yield _Fault(
                f"{name} is {count}, but the API accepts only values from {low or 0} to {high}",
                f"set {name} to a value from {low or 0} to {high}",
            )
        elif count and high is None and count < (low or 0):
            yield _Fault(
                f"{name} is {count}, but the API accepts only values of at least {low}",
                f"set {name} to a value of at least {low}",
            )
    else:
        for text in (props.texts(head) or ()) if items else (_text(value),):
            if text and not row.has(text):
                yield from _unknown_value(row, name, text)


def _may_be_newer(text: str, known: str) -> bool:
    """Return whether a value differs from a known one only in its version, or extends it."""
    without_digits = (re.sub(r"V?[0-9]+", "", each) for each in (text, known))
    rest = text.removeprefix(known)
    return len(set(without_digits)) == 1 or (rest != text and not rest[:1].isalpha())


def _in_brackets(key: re.Match[str]) -> str:
    return f'["{key[1].replace("%2E", ".")}"]'


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _unknown_value(row: ApiValues, name: str, text: str) -> Iterator[_Fault]:
    """Yield a value that isn't in a list. If the list can grow, the fault is certain only if the
    value looks like a misspelled known value.
    """
    known = [value for value in row.values if not value.endswith("UNSPECIFIED")]
    same = [value for value in known if value.casefold() == text.casefold()]
    near = same or get_close_matches(text, known, n=1, cutoff=_ALIKE)
    if row.grows and near and not same and _may_be_newer(text, near[0]):
        return
    start = "a valid value, for example " if len(known) > _SHOWN else ""
    only = near or (known if len(known) == 1 else [])
    fix = f'set {name} to "{only[0]}"' if only else f"set {name} to {start}{either(known[:_SHOWN])}"
    if near or not row.grows:
        yield _Fault(f'"{text}" isn\'t a valid value for {name}', fix)
    else:
        problem = f'"{text}" isn\'t a known value for {name}'
        yield _Fault(problem, fix, is_certain=False)

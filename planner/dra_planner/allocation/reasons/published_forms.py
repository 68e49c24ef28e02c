"""Conditions of selectors in the form in which drivers publish their devices: values of another
type, versions that are text, renamed attributes, and attributes that replace unreliable ones.

This module doesn't test the conditions. The caller applies them and searches again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from dra_planner.allocation.search.constraints import lookup_attribute
from dra_planner.allocation.search.devices import Candidate
from dra_planner.cel import SelectorTerm
from dra_planner.cel.libraries.semvers import SemverError, parse_semver
from dra_planner.cel.results import ValuesAt
from dra_planner.drivers.protocol.notes import DriverNote, driver_notes
from dra_planner.model import Unknown

_PATH: Final = 3  # attributes, domain, name
_TEXT_AS_VERSION: Final = re.compile(r"no such overload: \w+\(string, kubernetes\.Semver\)")
_LAST_OPERAND: Final = re.compile(
    r"""(?<=[=!]=)\s*(?:"(?P<text>[^"]*)"|'(?P<quoted>[^']*)'|(?P<bare>\d+|true|false))\s*$"""
)
_MODELS: Final = (
    "model",
    "productName",
    "accelerator",
    "instanceType",
    "boardName",
    "pciDevice",
    "pciId",
)
"""Attributes with the model of a device, the most specific first."""


class PublishedForm(Struct, frozen=True):
    """A condition that devices can satisfy. `meaning` is the published value that it then requires
    in place of another fact, or "" if it requires the same fact.
    """

    condition: str
    meaning: str = ""


def published_forms(term: SelectorTerm, devices: Sequence[Candidate]) -> Iterator[PublishedForm]:
    """Yield other forms of a condition that no device satisfies, the closest form first."""
    for at in term.reads:
        if len(at.path) != _PATH:
            continue
        kind, domain, name = at.path
        own = [each for each in devices if each.driver == domain]
        if kind == "attributes":
            for better in _other_type(term.text, domain, name, own), _as_version(term, at, own):
                if better:
                    yield PublishedForm(better)
        notes = [
            each for each in driver_notes(domain) if each.when == "reads" and each.name == name
        ]
        for note in notes:
            if note.renamed_to and at.absent:
                yield PublishedForm(_with_name(term.text, domain, name, note.renamed_to))
        instead = [other for note in notes if _is_unreliable(at, note) for other in note.instead]
        if not notes and kind == "capacity" and at.absent:
            instead = list(_MODELS)
        if notes and name in _MODELS and not at.absent:  # the driver's own name of the model
            instead.append(name)
        yield from _by_value(domain, instead, own)


def advice_on_absent_names(term: SelectorTerm) -> Iterator[str]:
    """Yield what to do about attributes that a condition reads, but that the driver publishes only
    with other settings or for other devices.
    """
    for at in term.reads:
        if at.absent and len(at.path) == _PATH:
            _, domain, name = at.path
            for note in driver_notes(domain):
                if note.when == "reads" and note.name == name and note.fix:
                    yield note.fix


def _other_type(condition: str, domain: str, name: str, own: Iterable[Candidate]) -> str:
    """Return an equality whose last operand has the type of the published values: `true` instead of
    "true", and the reverse. Returns "" if the type is correct.
    """
    kinds = {type(lookup_attribute(each, f"{domain}/{name}")) for each in own}
    found = _LAST_OPERAND.search(condition)
    if found is None or len(kinds) != 1:
        return ""
    kind = kinds.pop()
    text = found["text"] or found["quoted"] or ""
    if kind is str and found["bare"]:
        operand = f'"{found["bare"]}"'
    elif (kind is bool and text in ("true", "false")) or (kind is int and text.isdigit()):
        operand = text
    else:
        return ""
    return f"{condition[: found.start()]} {operand}"


def _as_version(term: SelectorTerm, at: ValuesAt, own: Sequence[Candidate]) -> str:
    """Return a condition that reads a text as a version, without the fourth number, which versions
    don't have. Returns "" if the text isn't compared with a version.
    """
    _, domain, name = at.path
    read = _read(domain, name).search(term.text)
    values = {_example(each, f"{domain}/{name}") for each in own}
    if not _TEXT_AS_VERSION.search(term.error) or read is None or not all(values):
        return ""
    if all(map(_is_version, values)):
        version = f"semver({read[0]})"
    elif all(_is_version(value.rpartition(".")[0]) for value in values):
        version = f"semver({read[0]}.substring(0, {read[0]}.lastIndexOf('.')))"
    else:
        return ""
    return term.text.replace(read[0], version)


def _example(candidate: Candidate, name: str) -> str:
    """Return a text attribute, or an example of it if the value isn't known yet, or ""."""
    value = lookup_attribute(candidate, name)
    value = value.like if isinstance(value, Unknown) else value
    return value if isinstance(value, str) else ""


def _is_version(text: str) -> bool:
    try:
        parse_semver(text)
    except SemverError:
        return False
    return True


def _is_unreliable(at: ValuesAt, note: DriverNote) -> bool:
    """Return whether devices don't publish the value, or publish a value without meaning."""
    published = {value for value, _ in at.values}
    is_known = not at.unknown and published <= {note.placeholder}
    return is_known or not note.placeholder


def _by_value(
    domain: str, names: Iterable[str], own: Sequence[Candidate]
) -> Iterator[PublishedForm]:
    """Yield a condition on the first attribute for which all devices publish the same text."""
    for name in names:
        values = {lookup_attribute(each, f"{domain}/{name}") for each in own}
        value = values.pop() if len(values) == 1 else None
        if isinstance(value, str) and value not in ("", "Unknown"):
            yield PublishedForm(f'device.attributes["{domain}"].{name} == "{value}"', value)
            return


def _with_name(condition: str, domain: str, name: str, full_name: str) -> str:
    other, _, new = full_name.rpartition("/")
    return _read(domain, name).sub(f'device.attributes["{other}"].{new}', condition)


def _read(domain: str, name: str) -> re.Pattern[str]:
    """Return the pattern of an expression that reads an attribute."""
    return re.compile(
        rf"""device\.attributes\[(["']){re.escape(domain)}\1\](?:\.{name}\b|\[(["']){name}\2\])"""
    )

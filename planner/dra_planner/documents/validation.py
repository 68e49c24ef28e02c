"""Errors from pydantic about an invalid document, as sentences with their locations."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from dra_planner.documents.tree import Location
from dra_planner.wording import either

_SIMILARITY = 0.75  # minimum similarity of a suggested key
_MOST_PATHS = 3  # maximum number of paths in a suggestion


def kind_of(value: object) -> str:
    """Return the kind of a value, in YAML's terms."""
    if value is None:
        return "nothing"
    names = {
        str: "text",
        bool: "true or false",
        list: "a list",
        dict: "a mapping",
        int: "a number",
        float: "a number",
    }
    return next(
        (name for kind, name in names.items() if isinstance(value, kind)), type(value).__name__
    )


def sentences(
    error: ValidationError,
    data: object,
    *,
    document: str,
    keys: Collection[str],
    what_to_write: Callable[[Location], str] = lambda at: "",
    paths_of: Callable[[str], Sequence[str]] = lambda key: (),
) -> Iterator[tuple[Location, str]]:
    """Yield one fault for each location, as a sentence.

    If several alternatives of a union fail at the same location, yield only one fault. `document`
    is the document's name in messages. `keys` are all keys that such documents can have. For an
    unknown key, the most similar key is suggested, or the paths that `paths_of` returns, where the
    document can have this key. `what_to_write` returns an example for a missing key, or nothing.
    """
    by_location: dict[Location, list[str]] = {}
    for problem in error.errors(include_url=False):
        at = _document_location(problem["loc"], data)
        sentence = _sentence(problem, document, keys, paths_of)
        if problem["type"] == "missing" and (example := what_to_write(at)):
            sentence += f"; use, for example, {example}"
        if sentence not in by_location.setdefault(at, []):
            by_location[at].append(sentence)
    for at, texts in by_location.items():
        inside = any(len(other) > len(at) and other[: len(at)] == at for other in by_location)
        # the error of another alternative of a union, which expects something other than a mapping
        if not inside:
            yield at, _joined(texts)


_OR = re.compile(r",? or |, ")


def _joined(texts: list[str]) -> str:
    """Return the sentences of several alternatives as one sentence with one wrong value."""
    parts = [re.fullmatch("must be (.*), not (.*)", each, re.DOTALL) for each in texts]
    found = [(part[1], part[2]) for part in parts if part]
    if len(found) == len(texts) and len({value for _, value in found}) == 1:
        if len(found) == 1:
            return texts[0]
        wanted = (choice for each, _ in found for choice in _OR.split(each))
        return f"must be {either(wanted)}, not {found[0][1]}"
    return " or ".join(texts)


def _document_location(loc: Location, data: object) -> Location:
    """Drop the names that pydantic puts between fields for the alternatives of a union."""
    at: list[str | int] = []
    here: object = data
    for index, part in enumerate(loc):
        last = index == len(loc) - 1
        if (
            isinstance(here, Mapping)
            and isinstance(part, str)
            and (part in here or (last and _is_key(part)))
        ):
            at.append(part)
            here = here.get(part)
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            at.append(part)
            here = here[part]
    return tuple(at)


_ALTERNATIVES = ("literal[", "list[", "constrained", "function-", "int", "str", "bool")


def _is_key(part: str) -> bool:
    return part[:1].islower() and not part.startswith(_ALTERNATIVES)


_WORDS = {
    "string": "a string",
    "int": "an integer",
    "bool": "true or false",
    "list": "a list",
    "model": "a mapping",
    "dict": "a mapping",
}


def _sentence(
    problem: Any, document: str, keys: Collection[str], paths_of: Callable[[str], Sequence[str]]
) -> str:
    context = problem.get("ctx") or {}
    match problem["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            key = str(problem["loc"][-1])
            return f"isn't a key of {document}{_intended_key(key, document, keys, paths_of(key))}"
        case "value_error":
            return str(context["error"])
        case "literal_error":
            choices = either(_OR.split(str(context["expected"]).replace("'", "")))
            choices = re.sub(
                r"\b(True|False)\b", lambda found: found[0].lower(), choices
            )  # as in YAML
            return f"must be {choices}, not {_shown(problem['input'])}"
        case kind if kind.endswith("_type"):
            wanted = kind.removesuffix("_type")
            return f"must be {_WORDS.get(wanted, wanted)}, not {_shown(problem['input'])}"
        case "string_pattern_mismatch":
            return (
                f"{_shown(problem['input'])} isn't a valid name: only lowercase letters, digits, "
                "and dashes are allowed"
            )
        case _:
            message = str(problem["msg"])
            return f"{message[:1].lower()}{message[1:]}, not {_shown(problem['input'])}"


def _intended_key(key: str, document: str, keys: Collection[str], paths: Sequence[str]) -> str:
    """Return the suggestion for an unknown key: its paths, a similar key, or ""."""
    if 0 < len(paths) <= _MOST_PATHS:
        return f"; set {either(paths)} in {document} instead"
    nearest = get_close_matches(key, sorted(set(keys) - {key}), 1, _SIMILARITY)
    return f'; did you mean "{nearest[0]}"?' if nearest else ""


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    return kind_of(value) if isinstance(value, dict | list | type(None)) else str(value)

"""Objects with an older API version: further faults in them, and whether they can be converted to
v1.

A finding that only reports a removed version leads to the next error: users write the new version,
and the API server rejects the object again. So the object's form in v1 is checked, too. Findings
have the place of the original object. A fix names `check --rewrite` only if that command rewrites
the object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Final

from msgspec.structs import replace

from dra_command.inputs.yaml_repair import is_readable
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.rewriting import KeptObject, Rewriting, rewrite
from dra_planner.manifests.validation.served_versions import MOVES_PARAMETERS, PRINTS_V1_FORM
from dra_planner.plan import check_selector
from dra_planner.releases import Features
from dra_planner.sources import Source, has_embedded
from dra_tutorials.rewriting import rewrite_with_pages

_At = tuple[str, int]
"""File and first line of an object."""
OLDER: Final = "version-not-served"
_DIGITS: Final = re.compile(r"\d+")
_OF_THE_SET: Final = frozenset(
    {"duplicate-object", "block-not-read", "fragment-not-judged", "output-not-judged"}
)
"""Findings that don't refer to the rewritten objects."""


def add_findings_of_v1(
    sources: Sequence[Source],
    found: Sequence[Diagnostic],
    features: Features,
    check: Callable[[tuple[Source, ...]], Iterable[Diagnostic]],
) -> tuple[Diagnostic, ...]:
    """Return the findings, including those in the v1 forms of older objects. Each finding about an
    older version has a fix that works.

    `sources` are the original inputs, including pages and scripts. `check` returns the findings in
    other sources.
    """
    readable = [each for each in sources if has_embedded(each.name) or is_readable(each)]
    files = {each.place.file for each in found if each.code == OLDER}
    older = [each for each in readable if each.name in files]
    rewriting = partial(rewrite, features=features, check_selector=check_selector)
    done = rewrite_with_pages(older, partial(rewriting, needs_acceptance=False))
    changes = [change for each in done for change in each.changes if change.now]
    refused = {_at(each.place): each for row in done for each in row.refusals}
    removed = {_at(change.place) for row in done for change in row.changes if not change.now}
    new = tuple(_new_findings(readable, done, found, check)) if changes else ()
    accepted = {
        _at(change.place) for row in rewrite_with_pages(older, rewriting) for change in row.changes
    }
    faulty = {_at(change.place) for change in changes} - accepted
    corrected = (
        _truthful(each, refused, removed, faulty) if each.code == OLDER else each for each in found
    )
    return (*corrected, *new)


def _truthful(
    finding: Diagnostic,
    refused: Mapping[_At, KeptObject],
    removed: Collection[_At],
    faulty: Collection[_At],
) -> Diagnostic:
    """Return a finding about an older version, with the fix for its object."""
    at = _at(finding.place)
    bare = finding.fix.removesuffix(PRINTS_V1_FORM).removesuffix(MOVES_PARAMETERS)
    if at in refused:
        reason, has_example = refused[at].reason, bool(refused[at].example)
        if has_example:
            reason = (
                f"rewrite the object by hand, because {reason}; run `pulumi-dra check --rewrite` "
                "to print an example"
            )
        if finding.message.startswith("DeviceTaintRule "):
            return finding  # only another Kubernetes version helps
        return replace(finding, fix=f"{bare}; {reason}")
    if at in faulty and bare != finding.fix:
        return replace(
            finding, fix=f"{bare}. Then fix the problems that `check` reports in the v1 object"
        )
    if finding.fix.endswith(MOVES_PARAMETERS) and at not in removed:
        return replace(finding, fix=bare)
    return finding


def _at(place: Place) -> _At:
    return place.file, place.line


def _new_findings(
    sources: Sequence[Source],
    done: Sequence[Rewriting],
    found: Sequence[Diagnostic],
    check: Callable[[tuple[Source, ...]], Iterable[Diagnostic]],
) -> Iterator[Diagnostic]:
    """Yield the findings in the new forms that the old forms don't have, at the lines of the old
    forms.
    """
    before = {(each.code, _DIGITS.sub("", each.message)) for each in found}
    changed = {each.source.name: each for each in done if each.is_changed}
    lines = {name: _lines(each) for name, each in changed.items()}
    after = check(
        tuple(
            replace(each, text=changed[each.name].text) if each.name in changed else each
            for each in sources
        )
    )
    seen: set[tuple[str, str, Place]] = set()
    for each in after:
        where = lines.get(each.place.file)
        if (
            where is None
            or each.code in _OF_THE_SET
            or (each.code, _DIGITS.sub("", each.message)) in before
        ):
            continue
        place = replace(each.place, line=where(each.place.line))
        if (each.code, each.message, place) not in seen:
            seen.add((each.code, each.message, place))
            yield replace(each, message=f"in v1: {each.message}", place=place)


def _lines(rewriting: Rewriting) -> Callable[[int], int]:
    """Return a function that maps a line number (from 1) in the new text to a line number in the
    old text.
    """
    old, new = rewriting.source.text.splitlines(), rewriting.text.splitlines()
    origin: list[int] = []
    for what, begin, end, first, last in SequenceMatcher(
        None, _bare(old), _bare(new), autojunk=False
    ).get_opcodes():
        same = what == "equal"
        origin += [
            begin + at - first if same else min(begin, max(end - 1, 0)) for at in range(first, last)
        ]
    return lambda line: origin[min(line, len(origin)) - 1] + 1 if origin and line else line


def _bare(lines: Iterable[str]) -> list[str]:
    """Return lines without their indentation. A line below `exactly` is the same line with more
    indentation.
    """
    return [line.strip() for line in lines]

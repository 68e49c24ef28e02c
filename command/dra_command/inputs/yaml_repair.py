"""Repairs of texts with lost indentation or typographic characters, if the intent is
unambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from dra_planner.errors import Diagnostic, Place, PlannerError
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.repairing import repair
from dra_planner.plan import read_checked
from dra_planner.releases import MAXIMUM_MINOR, Features, features_of
from dra_planner.sources import STDIN_NAME, Source, has_embedded, read_file

if TYPE_CHECKING:
    from dra_planner.manifests.repairing import TextRepair

_LARGEST: Final = 100_000  # characters
_NOT_OF_FORM: Final = frozenset({"version-not-served", "namespace-not-found", "admission-refused"})
"""Errors that don't concern the syntax of a text."""


def repair_source(source: Source, features: Features) -> TextRepair | None:
    """Return the repaired text of a source. None if the text is correct, or if its meaning isn't
    clear.
    """
    if len(source.text) > _LARGEST:
        return None
    return repair(
        source.text,
        features.minor,
        lambda text: _is_well_formed(Source(source.name, text), features),
    )


def repair_sources(
    sources: Iterable[Source], features: Features
) -> tuple[tuple[Source, ...], dict[str, tuple[str, ...]]]:
    """Return the sources, with repairs for those whose meaning is clear, and the changes in each
    source by its name.
    """
    found: list[Source] = []
    changes: dict[str, tuple[str, ...]] = {}
    for source in sources:
        repaired = None if _is_well_formed(source, features) else repair_source(source, features)
        found.append(source if repaired is None else replace(source, text=repaired.text))
        if repaired is not None:
            changes[source.name] = repaired.changes
    return tuple(found), changes


def repair_findings(
    sources: Iterable[Source], findings: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """Yield, for each source with syntax errors, that it can be repaired, and how."""
    files = {
        each.place.file
        for each in findings
        if each.code == "unknown-field" and "." not in each.place.path
    }
    for source in sources:
        is_text = source.name in files and not has_embedded(source.name)
        repaired = repair_source(source, features_of(MAXIMUM_MINOR)) if is_text else None
        if repaired is not None:
            message = f"`check --rewrite` can repair the text: {', '.join(repaired.changes)}"
            yield Diagnostic(
                "note", "text-can-be-repaired", message, Place(source.name), _command(source.name)
            )


def repair_fix(error: PlannerError) -> str:
    """Return the command that prints the repaired text of an unreadable file, or "" if there is no
    repair.
    """
    name = error.place.file
    if not name or has_embedded(name) or not Path(name).is_file():
        return ""
    try:
        source = read_file(Path(name))
    except PlannerError:  # the source isn't text
        return ""
    return _command(name) if repair_source(source, features_of(MAXIMUM_MINOR)) is not None else ""


def _command(name: str) -> str:
    path = "-" if name == STDIN_NAME else name
    return f"run `pulumi-dra check --rewrite {path}` to print the repaired text"


def _is_well_formed(source: Source, features: Features) -> bool:
    try:
        manifests = read_checked([source], features)
    except PlannerError:
        return False
    faults = {
        each.code for each in manifests.diagnostics if each.severity == "error"
    } - _NOT_OF_FORM
    return not faults and not any(each.code == "duplicate-key" for each in manifests.diagnostics)


def is_readable(source: Source) -> bool:
    """Return whether a source can be read as a stream of documents."""
    try:
        read_documents([source])
    except PlannerError:
        return False
    return True

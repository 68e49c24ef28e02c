"""Selection of the given files that can be checked. Unreadable files become findings, and files
without manifests become a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from dra_command.inputs.command_inputs import CommandInputs
from dra_command.inputs.delivery import NOT_RENDERED
from dra_command.inputs.kustomizations import NOT_BUILT
from dra_command.inputs.manifest_filter import (
    absent_files,
    absent_note,
    kustomization_notes,
    no_manifests_error,
    skipped_file_notes,
    split_manifests,
)
from dra_command.inputs.skipped_files import SkippedFile, missing_object_reason
from dra_command.inputs.yaml_repair import repair_fix
from dra_planner.errors import FILE_NOT_READ, Diagnostic, ManifestError, PlannerError
from dra_planner.sources import Source

Answer = TypeVar("Answer")


class ReadableAnswer(Struct, Generic[Answer], frozen=True):
    """The result of an evaluation, and notes about skipped files."""

    answer: Answer
    inputs: CommandInputs
    findings: tuple[Diagnostic, ...]


def evaluate_readable(
    inputs: CommandInputs, judge: Callable[[CommandInputs], Answer], command: str = "check"
) -> ReadableAnswer[Answer]:
    """Evaluate the files that are manifests. An unreadable file next to readable ones becomes one
    finding. Raises PlannerError if no file can be evaluated or if something else is wrong.
    """
    kept, left = split_manifests(inputs.sources)
    if kept:
        kept += absent_files(left, inputs.sources)
    findings = [_unreadable(error) for error in inputs.unreadable]
    not_rendered = [each for each in inputs.left_alone if each.code in (NOT_RENDERED, NOT_BUILT)]
    while True:
        if inputs.sources and not kept and not inputs.observed:
            raise no_manifests_error(left, findings, command)
        try:
            answer = judge(replace(inputs, sources=tuple(kept)))
        except ManifestError as error:
            faults = _by_file(error, kept)
            if not faults or (len(faults) == len(kept) and not _excused(faults, kept)):
                raise
            for source in kept:
                if source.name in faults:
                    excuse = missing_object_reason(source)
                    if excuse is None:
                        findings.append(_unreadable(faults[source.name]))
                    else:
                        left.append(excuse)
            kept = [source for source in kept if source.name not in faults]
            continue
        return ReadableAnswer(
            answer,
            replace(inputs, sources=tuple(kept)),
            (*findings, *not_rendered, *skipped_file_notes(left), *_unbuilt(inputs, kept, left)),
        )


def require_objects(inputs: CommandInputs, command: str) -> None:
    """Raise SourceError if all of the given files are empty or contain only comments."""
    if inputs.sources and not inputs.observed and all(map(_is_empty, inputs.sources)):
        first, *others = (SkippedFile("no manifest", "", source.name) for source in inputs.sources)
        raise no_manifests_error([first, *others], [], command)


def _is_empty(source: Source) -> bool:
    lines = (line.strip() for line in source.text.splitlines())
    return source.absent is None and all(
        not line or line.startswith("#") or line in ("---", "...") for line in lines
    )


def _by_file(error: PlannerError, sources: Iterable[Source]) -> dict[str, PlannerError]:
    """Return the first fault in each file. Return nothing if a fault doesn't belong to these
    files.
    """
    names = {source.name for source in sources}
    faults: dict[str, PlannerError] = {}
    for each in (error, *error.others):
        if each.place.file not in names:
            return {}
        faults.setdefault(each.place.file, each)
    return faults


def _unbuilt(
    inputs: CommandInputs, kept: Sequence[Source], left: Iterable[SkippedFile]
) -> Iterable[Diagnostic]:
    """Yield a note for each kustomization that isn't built, unless another result reports it. If
    there are pools, the verdict reports it.
    """
    reported = {each.place.file for each in inputs.left_alone} | {each.root for each in left}
    absent = [source for source in kept if source.absent is not None]
    if inputs.fleet is None and not inputs.observed:
        yield from map(absent_note, absent)
    reported |= {source.name for source in absent}
    yield from (each for each in kustomization_notes(kept) if each.place.file not in reported)


def _excused(faults: dict[str, PlannerError], sources: Iterable[Source]) -> bool:
    return all(
        missing_object_reason(source) is not None for source in sources if source.name in faults
    )


def _unreadable(error: PlannerError) -> Diagnostic:
    fix = "; ".join(filter(None, (error.fix, repair_fix(error))))
    return Diagnostic("error", FILE_NOT_READ, error.message, error.place, fix)

"""What of the given files is judged: those that cannot be read are findings, and those that are no manifests a note."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from dra_command.inputs import Inputs
from dra_command.left_alone import LeftAlone, why_left_alone, why_unreadable
from dra_planner.errors import Diagnostic, ManifestError, Place, PlannerError, SourceError
from dra_planner.sources import Source, has_embedded
from dra_planner.wording import counted, verb

UNREADABLE = "file-not-read"
LEFT_ALONE = "file-not-judged"
MOST_NAMES = 3  # of files in one sentence
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Judged(Generic[Answer]):
    """What judging gave, and what is to be said of the files that were left out."""

    answer: Answer
    inputs: Inputs
    findings: tuple[Diagnostic, ...]


def judge_readable(inputs: Inputs, judge: Callable[[Inputs], Answer]) -> Judged[Answer]:
    """Judge the files that are manifests; raises PlannerError where none is, or where something else is wrong.

    A file that cannot be read beside others that can is one finding, and the others are judged.
    """
    kept, left = _sort(inputs.sources)
    findings = [_unreadable(error) for error in inputs.unreadable]
    while True:
        if inputs.sources and not kept and not inputs.observed:
            raise _nothing(left, findings)
        try:
            answer = judge(replace(inputs, sources=tuple(kept)))
        except ManifestError as error:
            faults = _by_file(error, kept)
            if not faults or (len(faults) == len(kept) and not _excused(faults, kept)):
                raise
            for source in kept:
                if source.name in faults:
                    excuse = why_unreadable(source)
                    if excuse is None:
                        findings.append(_unreadable(faults[source.name]))
                    else:
                        left.append(excuse)
            kept = [source for source in kept if source.name not in faults]
            continue
        return Judged(answer, replace(inputs, sources=tuple(kept)), (*findings, *_told(left)))


def _sort(sources: Iterable[Source]) -> tuple[list[Source], list[LeftAlone]]:
    kept: list[Source] = []
    left: list[LeftAlone] = []
    for source in sources:
        found = None if has_embedded(source.name) else why_left_alone(source)
        if found is None:
            kept.append(source)
        else:
            left.append(found if found.file else replace(found, file=source.name))
    return kept, left


def _by_file(error: PlannerError, sources: Iterable[Source]) -> dict[str, PlannerError]:
    """Return the first fault of each file; nothing where a fault is of something else than these files."""
    names = {source.name for source in sources}
    faults: dict[str, PlannerError] = {}
    for each in (error, *error.others):
        if each.place.file not in names:
            return {}
        faults.setdefault(each.place.file, each)
    return faults


def _excused(faults: dict[str, PlannerError], sources: Iterable[Source]) -> bool:
    return all(why_unreadable(source) is not None for source in sources if source.name in faults)


def _unreadable(error: PlannerError) -> Diagnostic:
    from dra_command.repaired import repair_fix  # reads the file again

    fix = "; ".join(filter(None, (error.fix, repair_fix(error))))
    return Diagnostic("error", UNREADABLE, error.message, error.place, fix)


def _nothing(left: list[LeftAlone], findings: list[Diagnostic]) -> SourceError:
    if findings:
        first = findings[0]
        return SourceError(first.message, place=first.place, fix=first.fix)
    first_left = left[0]
    what = f"{first_left.what} {first_left.root}".rstrip()
    said = "holds no manifest" if what == "no manifest" else f"is {what}, and holds no manifest"
    others = tuple(
        SourceError(f"is {each.what} {each.root}".rstrip(), place=Place(each.file), fix=each.fix) for each in left[1:]
    )
    fix = first_left.fix or "name a file or folder that holds Kubernetes manifests"
    return SourceError(said, place=Place(first_left.file), fix=fix, others=others[:MOST_NAMES])


def _told(left: list[LeftAlone]) -> Iterable[Diagnostic]:
    """Yield one note for each chart, each kustomization, and each kind of other files."""
    groups: dict[tuple[str, str], list[LeftAlone]] = {}
    for each in sorted(left):
        groups.setdefault((each.what, each.root), []).append(each)
    for (what, root), files in groups.items():
        names = [each.file for each in files[:MOST_NAMES]]
        more = len(files) - len(names)
        listed = ", ".join(names) + (f" and {more} more" if more else "")
        is_what = f"{what} {root}".rstrip()
        said = f"{counted(len(files), 'file')} {verb(len(files), 'are')} left alone ({is_what}): {listed}"
        yield Diagnostic("note", LEFT_ALONE, said, Place(files[0].file), files[0].fix)

"""What of the given files is judged: those that cannot be read are findings, and those that are no manifests a note."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from dra_command.inputs import Inputs
from dra_command.left_alone import why_unreadable
from dra_command.repaired import repair_fix
from dra_command.sorting_out import not_built, nothing_left, sort_out, told_of
from dra_planner.errors import Diagnostic, ManifestError, PlannerError
from dra_planner.sources import Source

UNREADABLE = "file-not-read"
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
    kept, left = sort_out(inputs.sources)
    findings = [_unreadable(error) for error in inputs.unreadable]
    while True:
        if inputs.sources and not kept and not inputs.observed:
            raise nothing_left(left, findings)
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
        return Judged(answer, replace(inputs, sources=tuple(kept)), (*findings, *told_of(left), *not_built(kept)))


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
    fix = "; ".join(filter(None, (error.fix, repair_fix(error))))
    return Diagnostic("error", UNREADABLE, error.message, error.place, fix)

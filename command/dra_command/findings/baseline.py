"""Earlier findings, from a baseline file or from another commit of the repository."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct
from pydantic import ValidationError

from dra_command.command_line.file_writer import write_whole
from dra_command.findings.baseline_file import BaselineFile, KnownFinding
from dra_command.findings.fingerprints import fingerprint, numbered
from dra_planner.errors import Diagnostic, Place, SourceError
from dra_planner.sources import read_file
from dra_planner.wording import counted, verb

_FIX = "to create a baseline file, run `pulumi-dra check --write-baseline FILE`"


class KnownFindings(Struct, frozen=True):
    """The number of times that each fingerprint occurred, remarks about how these numbers were
    determined, and the rows of a file.
    """

    prints: Counter[str]
    remarks: tuple[Diagnostic, ...] = ()
    rows: tuple[KnownFinding, ...] = ()
    file: str = ""


class SplitFindings(Struct, frozen=True):
    """New findings, and findings that the baseline already contains."""

    new: tuple[Diagnostic, ...]
    old: tuple[Diagnostic, ...] = ()


def split_known(found: Iterable[Diagnostic], known: KnownFindings) -> SplitFindings:
    """Separate new findings from known ones. If the baseline contains N equal findings, N of them
    are known.
    """
    left = known.prints.copy()
    new: list[Diagnostic] = []
    old: list[Diagnostic] = []
    for each in found:
        digest = fingerprint(each)
        if left[digest] > 0:
            left[digest] -= 1
            old.append(each)
        else:
            new.append(each)
    return SplitFindings((*new, *known.remarks), tuple(old))


def fixed_notes(
    known: KnownFindings, old: Iterable[Diagnostic], checked_files: Iterable[str]
) -> tuple[Diagnostic, ...]:
    """Return a note if the checked files no longer contain some findings of a baseline."""
    here, files = Counter(map(fingerprint, old)), set(checked_files)
    number = 0
    for row in known.rows:
        if here[row.fingerprint]:
            here[row.fingerprint] -= 1
        else:
            number += row.file in files
    if not number:
        return ()
    message = f"{counted(number, 'finding')} in the baseline {verb(number, 'are')} resolved"
    fix = f"to update the baseline, use --write-baseline {known.file}"
    return (Diagnostic("note", "baseline-outdated", message, Place(known.file), fix),)


def read_baseline(path: str, stack: str) -> KnownFindings:
    """Return the findings in a baseline file that apply to a stack ("" for none).

    Raises SourceError if the file isn't a baseline.
    """
    rows = tuple(row for row in _read(path).findings if row.stack in ("", stack))
    return KnownFindings(Counter(row.fingerprint for row in rows), rows=rows, file=path)


def _read(path: str) -> BaselineFile:
    try:
        return BaselineFile.model_validate_json(read_file(path).text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = ".".join(map(str, first["loc"]))
        where = f" ({at})" if at else ""
        raise SourceError(f"isn't a baseline file{where}", place=Place(path), fix=_FIX) from None


def write_baseline(path: Path, findings: Sequence[Diagnostic], stack: str) -> None:
    """Write a baseline file with the findings of a stack ("" for none), sorted. Findings of other
    stacks stay in the file. Raises SourceError if the file can't be written, or isn't a baseline.
    """
    before = _read(str(path)).findings if path.is_file() else ()
    rows = [row for row in before if row.stack != stack]
    rows += [
        KnownFinding(
            fingerprint=digest.partition(":")[0],
            code=each.code,
            file=each.place.file,
            message=each.message,
            stack=stack,
        )
        for each, digest in numbered(findings)
    ]
    rows.sort(key=lambda row: (row.stack, row.file, row.code, row.message, row.fingerprint))
    document = BaselineFile(findings=rows).model_dump(mode="json")
    write_whole(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n", SourceError)

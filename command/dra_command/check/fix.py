"""`pulumi-dra check --fix`: repair files if no decision is needed, and print the repairs that
aren't written, with reasons.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final, TextIO

from msgspec import Struct
from msgspec.structs import replace

from dra_command.check.rewrite import change_lines
from dra_command.command_line.arguments import UsageError
from dra_command.command_line.file_writer import write_whole
from dra_command.findings.check_result import CheckResult
from dra_command.inputs.command_inputs import CommandInputs
from dra_command.inputs.skipped_files import skip_reason
from dra_command.inputs.yaml_repair import is_readable, repair_sources
from dra_command.pens.visible_text import visible
from dra_planner.documents.yaml_reader import read_yaml
from dra_planner.errors import Diagnostic, PlannerError, SourceError
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.fixing import Fixed, add_tolerations, fix_values
from dra_planner.manifests.rewriting import rewrite
from dra_planner.plan import check_selector
from dra_planner.releases import Features
from dra_planner.sources import Source, has_embedded
from dra_planner.wording import counted

_TOLERATION: Final = re.compile(r"add to the pod's tolerations: (\{[^{}]*\})")
Check = Callable[[CommandInputs], CheckResult]


class _File(Struct):
    """A file, its text with the repairs so far, their descriptions, and repairs that aren't
    written.
    """

    source: Source
    text: str
    descriptions: list[str] = []
    unwritten: list[str] = []

    @property
    def now(self) -> Source:
        return replace(self.source, text=self.text)

    def take(self, text: str, descriptions: Iterable[str]) -> None:
        """Accept a repaired text, unless the repaired text can't be read."""
        if text == self.text:
            return
        try:
            read_documents([replace(self.source, text=text)])
        except PlannerError as error:
            reason = f"the changed file can't be read: {error.message}"
            self.unwritten += (f"{each}: {reason}" for each in descriptions)
            return
        self.text = text
        self.descriptions += descriptions

    def take_lines(self, fixed: Fixed) -> None:
        """Apply repairs of lines, and record the repairs that can't be written."""
        name = self.source.name
        self.take(fixed.text, [f"{name}:{each.line}: {each.what}" for each in fixed.repairs])
        self.unwritten += (f"{name}:{each.line}: {each.what}" for each in fixed.unwritten)

    def copy(self) -> _File:
        """Return a copy of the file in its current state."""
        return _File(self.source, self.text, [*self.descriptions], [*self.unwritten])

    def undo(self, earlier: _File, unhelped: Iterable[_MissingToleration]) -> None:
        """Return to an earlier state, and record the tolerations that didn't help."""
        self.text, self.descriptions = earlier.text, earlier.descriptions
        self.unwritten = [
            *earlier.unwritten,
            *(
                f"{self.source.name}:{one.line}: toleration {toleration} wasn't added, because the "
                "pod wouldn't fit even with this toleration"
                for one in unhelped
                for toleration in one.tolerations
            ),
        ]


def check_fix_options(values: argparse.Namespace) -> None:
    """Raise UsageError if other options conflict with --fix."""
    if "-" in values.paths:
        raise UsageError(
            "--fix can't change standard input",
            fix="to print the changed manifests, use `pulumi-dra check --rewrite -`",
        )
    if values.driver_upgrade or values.write_baseline:
        raise UsageError(
            "--fix, --driver-upgrade, and --write-baseline can't be combined",
            fix="use only one of them",
        )


def fix_files(
    inputs: CommandInputs, features: Features, check: Check, out: TextIO
) -> CommandInputs:
    """Repair the files of these inputs, report the changes on `out`, and return the repaired
    inputs. Raises PlannerError if the inputs can't be evaluated or a file can't be written. In that
    case, no file is changed.
    """
    files = [_File(source, source.text) for source in inputs.sources]
    open_files = [
        each
        for each in files
        if not has_embedded(each.source.name) and not skip_reason(each.source)
    ]
    _repair_texts(open_files, features)
    _fix_values(open_files, features)
    _rewrite(open_files, features)
    _add_tolerations(inputs, files, open_files, check)
    changed = [each for each in files if each.text != each.source.text]
    for each in changed:
        path = Path(each.source.name)
        write_whole(path, each.text, SourceError, mode=path.stat().st_mode & 0o777)
    for line in (line for each in changed for line in each.descriptions):
        print(line, file=out)
    for line in (line for each in files for line in dict.fromkeys(each.unwritten)):
        print(visible(f"not fixed: {line}"), file=out)
    if changed:
        print(f"{counted(len(changed), 'file')} changed", file=out)
    return replace(inputs, sources=tuple(each.now for each in files))


def _repair_texts(files: Sequence[_File], features: Features) -> None:
    sources, repaired = repair_sources((each.now for each in files), features)
    for each, source in zip(files, sources, strict=True):
        if source.name in repaired:
            each.take(source.text, [f"{source.name}: repaired: {', '.join(repaired[source.name])}"])


def _fix_values(files: Iterable[_File], features: Features) -> None:
    for each in files:
        each.take_lines(
            fix_values(each.now, lambda text: check_selector(text, features) is not None)
        )


def _rewrite(files: Sequence[_File], features: Features) -> None:
    """Convert older objects to v1, even if they contain other errors. `check` then reports these
    errors in v1 form.
    """
    readable = [each for each in files if is_readable(each.now)]
    rewritings = rewrite(
        [each.now for each in readable],
        features,
        check_selector=check_selector,
        needs_acceptance=False,
    )
    for each, rewriting in zip(readable, rewritings, strict=True):
        each.take(rewriting.text, list(change_lines(rewriting.changes)))
        each.unwritten += map(str, rewriting.refusals)


def _add_tolerations(
    inputs: CommandInputs, files: Sequence[_File], open_files: Iterable[_File], check: Check
) -> None:
    """Add the tolerations that findings ask for. If an object no longer has such a finding, keep
    the tolerations that were already added.
    """

    def found() -> tuple[Diagnostic, ...]:
        return check(replace(inputs, sources=tuple(each.now for each in files))).diagnostics

    wanted = _wanted(found())
    touched = [each for each in open_files if each.source.name in wanted]
    while touched:  # the loop ends, because each round removes objects
        before = [each.copy() for each in touched]
        for each in touched:
            each.take_lines(
                add_tolerations(each.now, _tolerations_by_line(wanted[each.source.name]))
            )
        findings = found()
        again = []
        for each, earlier in zip(touched, before, strict=True):
            tolerations = wanted[each.source.name]
            if unhelped := _unhelped(tolerations, earlier, each, findings):
                each.undo(earlier, unhelped)
                wanted[each.source.name] = [one for one in tolerations if one not in unhelped]
                again.append(each)
        touched = [each for each in again if wanted[each.source.name]]


def _wanted(findings: Iterable[Diagnostic]) -> dict[str, list[_MissingToleration]]:
    """Return the tolerations that findings ask for, by file."""
    wanted: dict[str, list[_MissingToleration]] = {}
    for finding in findings:
        if tolerations := tuple(_tolerations_of(finding.fix)):
            wanted.setdefault(finding.place.file, []).append(
                _MissingToleration(finding.place.line, finding.code, tolerations)
            )
    return wanted


def _unhelped(
    tolerations: Iterable[_MissingToleration],
    before: _File,
    after: _File,
    findings: Iterable[Diagnostic],
) -> list[_MissingToleration]:
    """Return the wanted tolerations for a changed file whose finding still exists."""
    if before.text == after.text:
        return []
    lines = _lines_before(before.text, after.text)
    remaining = {
        (lines.get(finding.place.line, 0), finding.code)
        for finding in findings
        if finding.place.file == after.source.name
    }
    return [one for one in tolerations if (one.line, one.code) in remaining]


class _MissingToleration(Struct, frozen=True):
    """Tolerations that a finding at an object's first line asks for."""

    line: int
    code: str
    tolerations: tuple[str, ...]


def _tolerations_by_line(
    missing: Iterable[_MissingToleration],
) -> list[tuple[int, Mapping[str, str]]]:
    """Return each toleration of each object once."""
    pairs = dict.fromkeys((each.line, text) for each in missing for text in each.tolerations)
    return [(line, read_yaml(text)[0]) for line, text in pairs]


def _lines_before(before: str, after: str) -> dict[int, int]:
    """Return the line that each unchanged line (1-based) had before a change."""
    blocks = SequenceMatcher(
        None, before.splitlines(), after.splitlines(), autojunk=False
    ).get_matching_blocks()
    return {b + i + 1: a + i + 1 for a, b, size in blocks for i in range(size)}


def _tolerations_of(fix: str) -> Iterator[str]:
    """Yield the tolerations of the first alternative that consists of tolerations only."""
    for way in fix.split("; or "):
        steps = [_TOLERATION.fullmatch(step) for step in way.split(" and ")]
        if all(steps):
            yield from (step[1] for step in steps if step is not None)
            return


def output_of_changes(values: argparse.Namespace) -> TextIO:
    """Return the stream for the list of changes: standard output if people read the findings there,
    otherwise standard error.
    """
    return sys.stdout if values.format == "text" else sys.stderr

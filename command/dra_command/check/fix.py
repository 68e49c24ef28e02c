"""`pulumi-dra check --fix`: repairs files automatically where no decision is needed, and reports
the rest.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TextIO

from dra_command.check.rewrite import change_lines
from dra_command.command_line.arguments import UsageError
from dra_command.command_line.file_writer import write_whole
from dra_command.findings.check_result import CheckResult
from dra_command.inputs.command_inputs import CommandInputs
from dra_command.inputs.skipped_files import skip_reason
from dra_command.inputs.yaml_repair import is_readable, repair_sources
from dra_planner.documents.yaml_reader import read_yaml
from dra_planner.errors import Diagnostic, PlannerError, SourceError
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.fixing import add_tolerations, fix_values
from dra_planner.manifests.rewriting import rewrite
from dra_planner.plan import check_selector
from dra_planner.releases import Features
from dra_planner.sources import Source, has_embedded
from dra_planner.wording import counted

_TOLERATION: Final = re.compile(r"add to the pod's tolerations: (\{[^{}]*\})")
Check = Callable[[CommandInputs], CheckResult]


@dataclass(slots=True)
class _File:
    """A file, its text with the repairs so far, and their descriptions."""

    source: Source
    text: str
    told: list[str] = field(default_factory=list)

    @property
    def now(self) -> Source:
        return replace(self.source, text=self.text)

    def take(self, text: str, told: Iterable[str]) -> None:
        """Take a text with a repair, unless it cannot be read any more."""
        try:
            read_documents([replace(self.source, text=text)])
        except PlannerError:
            return
        if text != self.text:
            self.text = text
            self.told += told


def check_fix_options(values: argparse.Namespace) -> None:
    """Raise UsageError for options that conflict with --fix."""
    if "-" in values.paths:
        raise UsageError(
            "--fix can't change standard input",
            fix="use check --rewrite - to print the changed text",
        )
    if values.driver_upgrade or values.write_baseline:
        raise UsageError(
            "--fix, --driver-upgrade, and --write-baseline can't be combined",
            fix="use one of them",
        )


def fix_files(
    inputs: CommandInputs, features: Features, check: Check, out: TextIO
) -> CommandInputs:
    """Repair the files of these inputs, say on `out` what changed, and return the inputs as they
    are now.

    Raises PlannerError where nothing can be judged, or a file cannot be written; then none is
    changed.
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
    for line in (line for each in changed for line in each.told):
        print(line, file=out)
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
        fixed = fix_values(each.now, lambda text: check_selector(text, features) is not None)
        each.take(
            fixed.text,
            (f"{each.source.name}:{repair.line}: {repair.what}" for repair in fixed.repairs),
        )


def _rewrite(files: Sequence[_File], features: Features) -> None:
    readable = [each for each in files if is_readable(each.now)]
    rewritings = rewrite([each.now for each in readable], features, check_selector=check_selector)
    for each, rewriting in zip(readable, rewritings, strict=True):
        each.take(rewriting.text, change_lines(rewriting.changes))


def _add_tolerations(
    inputs: CommandInputs, files: Sequence[_File], open_files: Iterable[_File], check: Check
) -> None:
    """Add the tolerations that findings ask for, and keep those with which the finding goes."""

    def found() -> tuple[Diagnostic, ...]:
        return check(replace(inputs, sources=tuple(each.now for each in files))).diagnostics

    before = found()
    wanted: dict[str, dict[tuple[int, str], None]] = {}
    asked_by: dict[str, list[Diagnostic]] = {}
    for finding in before:
        if tolerations := list(_tolerations_of(finding.fix)):
            asked_by.setdefault(finding.place.file, []).append(finding)
            lines = dict.fromkeys((finding.place.line, each) for each in tolerations)
            wanted.setdefault(finding.place.file, {}).update(lines)
    if not wanted:
        return
    earlier = {each.source.name: (each.text, len(each.told)) for each in files}
    for each in open_files:
        asked = [(line, read_yaml(text)[0]) for line, text in wanted.get(each.source.name, {})]
        if asked:
            fixed = add_tolerations(each.now, asked)
            each.take(
                fixed.text,
                (f"{each.source.name}:{repair.line}: {repair.what}" for repair in fixed.repairs),
            )
    now, then = _counted(found()), _counted(before)
    for each in files:
        name = each.source.name
        if any(
            now[name, finding.code] >= then[name, finding.code]
            for finding in asked_by.get(name, ())
        ):
            each.text, kept = earlier[name]
            del each.told[kept:]


def _counted(findings: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((each.place.file, each.code) for each in findings)


def _tolerations_of(fix: str) -> Iterator[str]:
    """Yield the tolerations of the first alternative that is made of tolerations alone."""
    for way in fix.split("; or "):
        steps = [_TOLERATION.fullmatch(step) for step in way.split(" and ")]
        if all(steps):
            yield from (step[1] for step in steps if step is not None)
            return


def output_of_changes(values: argparse.Namespace) -> TextIO:
    """Return where changes are told: beside findings for people, apart from a text that machines
    read.
    """
    return sys.stdout if values.format == "text" else sys.stderr

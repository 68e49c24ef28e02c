"""The findings of all stacks in one file: SARIF, JUnit, or GitLab Code Quality."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from msgspec import Struct

from dra_command.command_line.exit_status import Status
from dra_command.command_line.file_writer import write_whole
from dra_command.findings.sarif_log import SCHEMA, category_id
from dra_command.pens.visible_text import xml_text
from dra_planner.errors import SourceError

_TOTALS: Final = ("tests", "failures", "errors", "skipped")
_REASONS: Final[Mapping[int, str]] = {
    Status.BROKEN: "A finding has a severity that fails the run.",
    Status.CANNOT_TELL: 'The verdict is "cannot tell".',
}
"""Why a subcommand failed without a failed test case or an error."""


def write_sarif(path: Path, parts: Mapping[str, Path], name: str) -> None:
    """Write one SARIF file with a run for each stack. `parts` are the files of the stacks, which
    are missing if a check ended unexpectedly, and `name` is the name of this run of `ci`.

    Raises SourceError if the file can't be written.
    """
    runs: list[dict[str, Any]] = []
    for stack, part in parts.items():
        if not part.is_file():
            continue
        (run,) = json.loads(part.read_text(encoding="utf-8"))["runs"]
        if stack or name:
            run["automationDetails"] = {"id": category_id(name, stack)}
        runs.append(run)
    if runs:
        log = {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}
        write_whole(path, json.dumps(log, indent=2, ensure_ascii=False) + "\n", SourceError)


def write_code_quality(path: Path, parts: Iterable[Path]) -> None:
    """Write one GitLab Code Quality report with the findings of all stacks. `parts` are the files
    of the stacks, which are missing if a check ended unexpectedly.

    Raises SourceError if the file can't be written.
    """
    rows = [
        row
        for part in parts
        if part.is_file()
        for row in json.loads(part.read_text(encoding="utf-8"))
    ]
    write_whole(path, json.dumps(rows, indent=2, ensure_ascii=False) + "\n", SourceError)


class SuitePart(Struct, frozen=True):
    """A subcommand with its arguments, its exit status, its errors, and its JUnit file, if it wrote
    one.
    """

    title: str
    status: int
    errors: str = ""
    file: Path | None = None


def write_junit(path: Path, parts: Iterable[SuitePart]) -> None:
    """Write one JUnit file with a test suite for each subcommand. If a subcommand failed without a
    failed test case, its suite gets one, so that the file never passes when the run fails.

    Raises SourceError if the file can't be written.
    """
    suites = [_suite(part) for part in parts]
    sums = {key: str(sum(int(each.get(key, 0)) for each in suites)) for key in _TOTALS}
    root = ElementTree.Element("testsuites", {"name": "pulumi-dra", **sums})
    root.extend(suites)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    write_whole(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', SourceError)


def _suite(part: SuitePart) -> ElementTree.Element:
    if part.file is not None and part.file.is_file():
        (suite,) = ElementTree.parse(part.file).getroot()
    else:
        suite = ElementTree.Element("testsuite", dict.fromkeys(_TOTALS, "0"))
    suite.set("name", f"pulumi-dra {part.title}")
    if int(suite.get("failures", 0)):
        return suite
    case = ElementTree.SubElement(
        suite, "testcase", {"classname": "pulumi-dra", "name": "exit status"}
    )
    suite.set("tests", str(int(suite.get("tests", 0)) + 1))
    if part.status != Status.FITS:
        suite.set("failures", "1")
        message = f"the exit status of pulumi-dra {part.title} is {part.status}"
        reason = xml_text(part.errors) or _REASONS.get(part.status, "")
        ElementTree.SubElement(
            case, "failure", {"message": message, "type": "exit-status"}
        ).text = reason
    return suite

"""The findings of all stacks in one SARIF file and one JUnit file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from dra_command.command_line.file_writer import write_whole
from dra_command.findings.sarif_log import SCHEMA, category_id
from dra_planner.errors import SourceError

_TOTALS: Final = ("tests", "failures", "errors", "skipped")


def write_sarif(path: Path, parts: Mapping[str, Path], name: str) -> None:
    """Write one SARIF file with a run for each stack. `parts` are the files of the stacks, which
    are missing for stacks that weren't checked, and `name` is the name of this run of `ci`.

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


def write_junit(path: Path, parts: Mapping[str, Path]) -> None:
    """Write one JUnit file with a test suite for each stack, as `write_sarif` does."""
    suites: list[ElementTree.Element] = []
    for stack, part in parts.items():
        if not part.is_file():
            continue
        (suite,) = ElementTree.parse(part).getroot()
        if stack:
            suite.set("name", f"{suite.get('name')} --stack {stack}")
        suites.append(suite)
    if suites:
        sums = {key: str(sum(int(each.get(key, 0)) for each in suites)) for key in _TOTALS}
        root = ElementTree.Element("testsuites", {"name": "pulumi-dra check", **sums})
        root.extend(suites)
        ElementTree.indent(root)
        text = ElementTree.tostring(root, encoding="unicode")
        write_whole(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', SourceError)

"""For every fix text in the code, a test follows the fix, and the finding disappears.

A case creates the finding, follows its fix, and runs the command again.
`test_fix_coverage.py` lists the texts without a case.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from command_project import Done, Project
from fix_cases import CASES, FLEET, Case, changed, edited
from fix_texts import pattern_of

from dra_command.command_line.exit_status import Status

JSON_COMMANDS = {"plan", "check", "explain", "verify", "catalog", "slices"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.fix[:60])
def test_applying_a_fix_removes_the_finding(
    project: Project, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in case.limits.items():
        monkeypatch.setattr(name, limit)
    write(project, case)
    first = run(project, case.words, case.stdin, case.environment)
    before, known = list(messages_and_fixes(first)), errors(first)
    messages = [message for message, fix in before if pattern_of(case.fix).search(fix)]
    assert messages, before
    follow(project, case)
    if case.then_first:
        assert run(project, case.then_first, "").status in (Status.FITS, Status.BROKEN)
    done = run(project, case.then or case.words, case.then_stdin or case.stdin)
    after = [(message, fix) for message, fix in messages_and_fixes(done) if message in messages]
    assert not after
    if case.then_fault:
        assert any(case.then_fault in message for message, _ in messages_and_fixes(done))
    else:
        assert done.status in (Status.FITS, Status.BROKEN, Status.CANNOT_TELL), done.err + done.out
        assert errors(done) <= known


def write(project: Project, case: Case) -> None:
    project.write("m.yaml", edited(case.m, case.edit))
    project.write("fleet.json", json.dumps(changed(FLEET, case.put)))
    for name, content in case.files.items():
        project.write(name, content)


def follow(project: Project, case: Case) -> None:
    text = (project.root / "m.yaml").read_text(encoding="utf-8")
    project.write("m.yaml", edited(text, case.then_edit))
    fleet = json.loads((project.root / "fleet.json").read_text(encoding="utf-8"))
    project.write("fleet.json", json.dumps(changed(fleet, case.then_put)))
    for name, content in case.then_files.items():
        if content is None:
            (project.root / name).unlink()
        else:
            project.write(name, content)


def run(
    project: Project, words: str, stdin: str, environment: Mapping[str, str] = MappingProxyType({})
) -> Done:
    parts = shlex.split(words)
    with_json = parts[0] in JSON_COMMANDS and "--format" not in parts and "--rewrite" not in parts
    return project.run(
        *parts, *(["--format", "json"] if with_json else []), stdin=stdin, **environment
    )


def messages_and_fixes(done: Done) -> Iterator[tuple[str, str]]:
    """Yield every message with its fix: of the JSON, or of the sentences on standard error."""
    try:
        yield from pairs(json.loads(done.out))
    except ValueError:
        for line in (done.err + done.out).splitlines():
            message, _, fix = line.partition("; ")
            yield message, fix


def errors(done: Done) -> set[str]:
    """Return the codes of the findings that the JSON output reports as errors."""
    try:
        return set(codes(json.loads(done.out)))
    except ValueError:
        return set()


def codes(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        if data.get("severity") == "error":
            yield str(data.get("code"))
        for value in data.values():
            yield from codes(value)
    elif isinstance(data, list):
        for value in data:
            yield from codes(value)


def pairs(data: Any) -> Iterator[tuple[str, str]]:
    if isinstance(data, dict):
        if isinstance(data.get("message"), str) and isinstance(data.get("fix"), str):
            yield data["message"], data["fix"]
        for value in data.values():
            yield from pairs(value)
    elif isinstance(data, list):
        for value in data:
            yield from pairs(value)

"""Every fix text of the code is followed by a test, and what it was said of is not said again.

A case makes the finding, follows its fix, and asks again. `test_every_text_is_followed.py` names the texts without one.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from command_project import Done, Project
from fix_texts import pattern_of

from dra_command.command_line.exit_status import Status

HERE = Path(__file__).parent
JSON_COMMANDS = {"plan", "check", "explain", "verify", "catalog", "slices"}
FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"max": 4}}],
}
MANIFEST = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
  containers: [{name: main, image: registry.example/cuda:1, resources: {claims: [{name: gpu}]}}]
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """`fix` is the text as it stands in the code. `words` are run, by default `plan m.yaml --fleet fleet.json`.

    `put` sets values of the fleet (PATH: value, items of lists by number), `m` is the manifest, `edit` replaces texts
    of it, `files` are further files. `limits` makes constants of modules small, `environment` is that of the first run
    alone. `then…` is what the fix says, done; None removes a key or a file; `then_first` is a command of the fix that
    is run before; `then_fault` is what is wrong beyond that, in a word.
    """

    fix: str
    words: str = "plan m.yaml --fleet fleet.json"
    m: str = MANIFEST
    edit: list[list[str]] = field(default_factory=list)
    put: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    stdin: str = ""
    limits: dict[str, int] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    then: str = ""
    then_first: str = ""
    then_edit: list[list[str]] = field(default_factory=list)
    then_put: dict[str, Any] = field(default_factory=dict)
    then_files: dict[str, str | None] = field(default_factory=dict)
    then_stdin: str = ""
    then_fault: str = ""


def read_cases() -> Iterator[Case]:
    for path in sorted((HERE / "cases").glob("*.yaml")):
        for row in yaml.safe_load(path.read_text(encoding="utf-8")):
            yield Case(**row)


CASES = list(read_cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.fix[:60])
def test_following_a_fix_makes_what_it_was_said_of_go(
    project: Project, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in case.limits.items():
        monkeypatch.setattr(name, limit)
    write(project, case)
    first = run(project, case.words, case.stdin, case.environment)
    before, known = list(told(first)), errors(first)
    said = [message for message, fix in before if pattern_of(case.fix).search(fix)]
    assert said, before
    follow(project, case)
    if case.then_first:
        assert run(project, case.then_first, "").status in (Status.FITS, Status.BROKEN)
    done = run(project, case.then or case.words, case.then_stdin or case.stdin)
    after = [(message, fix) for message, fix in told(done) if message in said]
    assert not after
    if case.then_fault:
        assert any(case.then_fault in message for message, _ in told(done))
    else:
        assert done.status in (Status.FITS, Status.BROKEN, Status.CANNOT_TELL), done.err + done.out
        assert errors(done) <= known


def write(project: Project, case: Case) -> None:
    text = case.m
    for old, new in case.edit:
        assert old in text, old
        text = text.replace(old, new)
    project.write("m.yaml", text)
    project.write("fleet.json", json.dumps(changed(FLEET, case.put)))
    for name, content in case.files.items():
        project.write(name, content)


def follow(project: Project, case: Case) -> None:
    file = project.root / "m.yaml"
    text = file.read_text(encoding="utf-8")
    for old, new in case.then_edit:
        assert old in text, old
        text = text.replace(old, new)
    project.write("m.yaml", text)
    fleet = json.loads((project.root / "fleet.json").read_text(encoding="utf-8"))
    project.write("fleet.json", json.dumps(changed(fleet, case.then_put)))
    for name, content in case.then_files.items():
        if content is None:
            (project.root / name).unlink()
        else:
            project.write(name, content)


def changed(fleet: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return the document with values put in, valid or not."""
    whole = json.loads(json.dumps(fleet))
    for path, value in values.items():
        *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
        here = whole
        for part in parents:
            here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
        if value is None:
            del here[last]
        elif isinstance(here, list) and last == len(here):
            here.append(value)
        else:
            here[last] = value
    return whole


def run(project: Project, words: str, stdin: str, environment: Mapping[str, str] = MappingProxyType({})) -> Done:
    parts = shlex.split(words)
    with_json = parts[0] in JSON_COMMANDS and "--format" not in parts and "--rewrite" not in parts
    return project.run(*parts, *(["--format", "json"] if with_json else []), stdin=stdin, **environment)


def told(done: Done) -> Iterator[tuple[str, str]]:
    """Yield every message with its fix: of the JSON, or of the sentences on standard error."""
    try:
        yield from pairs(json.loads(done.out))
    except ValueError:
        for line in (done.err + done.out).splitlines():
            message, _, fix = line.partition("; ")
            yield message, fix


def errors(done: Done) -> set[str]:
    """Return the codes of what is told as an error, in JSON."""
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

"""GitLab Code Quality reports, compared with the properties that GitLab documents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_project import Project

NO_L4 = "{for: pool, expression: pool.machine != 'g6.2xlarge', message: no L4, level: mandatory}"


@pytest.fixture
def failing(project: Project) -> Project:
    """A project with a rule that its pool violates, and a claim with an unknown field."""
    project.write("pulumi-dra.yaml", f"rules: {{no-l4: {NO_L4}}}\n")
    text = (project.root / "workloads" / "two-pods.yaml").read_text(encoding="utf-8")
    project.write("workloads/two-pods.yaml", text.replace("deviceClassName", "deviceClas"))
    return project


def reported(text: str) -> list[dict[str, Any]]:
    """Return the rows of a report that GitLab accepts."""
    assert not text.startswith("\ufeff")
    rows: list[dict[str, Any]] = json.loads(text)
    for row in rows:
        assert row.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert row["description"]
        assert re.fullmatch("[a-z0-9-]+", row["check_name"])
        assert row["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert not Path(row["location"]["path"]).is_absolute()
        assert not row["location"]["path"].startswith("./")
        assert row["location"]["lines"]["begin"] >= 1
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    return rows


def test_each_finding_has_its_severity_and_place(failing: Project) -> None:
    words = ("check", "--stack", "dev", "--format")
    rows = reported(failing.run(*words, "code-quality").out)

    found = failing.run(*words, "json").json["diagnostics"]
    levels = {"error": "major", "warning": "minor", "note": "info"}
    assert [(each["check_name"], each["severity"]) for each in rows] == [
        (each["code"], levels[each["severity"]]) for each in found
    ]
    (pool,) = (each for each in rows if each["check_name"] == "no-l4")
    assert pool["location"] == {"path": "stacks/Pulumi.dev.yaml", "lines": {"begin": 15}}


def test_paths_are_relative_to_the_checkout(
    failing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_PROJECT_DIR", str(failing.root.parent))
    rows = reported(failing.run("check", "workloads", "--format", "code-quality").out)
    folder = failing.root.name
    assert {each["location"]["path"] for each in rows} == {f"{folder}/workloads/two-pods.yaml"}


def test_fingerprint_does_not_depend_on_the_line(failing: Project) -> None:
    def prints() -> set[str]:
        words = ("check", "workloads", "--format", "code-quality")
        return {each["fingerprint"] for each in reported(failing.run(*words).out)}

    before = prints()
    file = failing.root / "workloads/two-pods.yaml"
    file.write_text(f"# moved\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    assert prints() == before


def test_stacks_of_a_run_share_a_report(failing: Project) -> None:
    failing.stack(name="west")
    failing.run("ci", "--stack", "dev,west", "--code-quality", "found.json")
    rows = reported((failing.root / "found.json").read_text(encoding="utf-8"))
    places = [each["location"]["path"] for each in rows if each["check_name"] == "no-l4"]
    assert places == ["stacks/Pulumi.dev.yaml", "stacks/Pulumi.west.yaml"]


def test_run_without_findings_writes_an_empty_report(project: Project) -> None:
    assert project.run("ci", "--stack", "dev", "--code-quality", "found.json").status == 0
    assert json.loads((project.root / "found.json").read_text(encoding="utf-8")) == []

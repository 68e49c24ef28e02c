"""`ci` with several stacks, exemptions, and shallow clones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_project import Project

from dra_command.ci import run as ci

TOO_SMALL = ("max: 4", "max: 1")
"""A change of the stack with which the workloads need more nodes than the pool may have."""

SHALLOW = (
    "fetch the whole history, because this is a shallow clone: fetch-depth: 0 of "
    'actions/checkout, GIT_DEPTH: "0" in GitLab CI, or git fetch --unshallow'
)


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *identity, "-C", str(folder), *words], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--stack", "dev"), ["pulumi-dra/dev/"]),
        (("--stack", "dev", "--name", "nightly"), ["pulumi-dra/nightly/dev/"]),
        (("workloads", "--name", "nightly"), ["pulumi-dra/nightly/"]),
        (("workloads",), [None]),
    ],
    ids=["stack", "named stack", "named", "only manifests"],
)
def test_code_scanning_keeps_runs_apart(
    options: tuple[str, ...], ids: list[str | None], project: Project
) -> None:
    assert project.run("ci", *options, "--sarif", "found.sarif").status == 0
    runs = json.loads((project.root / "found.sarif").read_text(encoding="utf-8"))["runs"]
    assert [each.get("automationDetails", {}).get("id") for each in runs] == ids


def test_a_check_names_its_stack_in_sarif(project: Project) -> None:
    (run,) = project.run("check", "--stack", "dev", "--format", "sarif").json["runs"]
    assert run["automationDetails"] == {"id": "pulumi-dra/dev/"}


class TestAWorkloadThatDoesNotFit:
    def test_it_fails_the_run(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        assert project.run("ci", "--stack", "dev").status == 1

    def test_a_baseline_covers_it(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        project.run("check", "--stack", "dev", "--write-baseline", "known.json")
        done = project.run("ci", "--stack", "dev", "--baseline", "known.json")
        assert (done.status, "Does not fit" in done.out) == (0, True)

    def test_a_disabled_rule_covers_it(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        assert project.run("ci", "--stack", "dev").status == 1
        rules = "{claim-fits-no-pool: disabled, pool-maximum-too-small: disabled}"
        project.write("pulumi-dra.yaml", f"rules: {rules}\n")
        assert project.run("ci", "--stack", "dev").status == 0

    def test_the_branch_to_merge_into_covers_it(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        git(project.root, "init", "-q", "-b", "main")
        git(project.root, "add", "-A")
        git(project.root, "commit", "-q", "-m", "one")
        assert project.run("ci", "--stack", "dev", "--diff", "main").status == 0

    def test_a_stale_plan_still_fails(self, project: Project) -> None:
        assert project.run("plan", "--stack", "dev", "--write").status == 0
        project.stack(*TOO_SMALL)
        project.run("check", "--stack", "dev", "--write-baseline", "known.json")
        assert project.run("ci", "--stack", "dev", "--baseline", "known.json").status == 1


def test_a_shallow_clone_is_named_with_its_fix(project: Project, tmp_path: Path) -> None:
    git(project.root, "init", "-q", "-b", "main")
    for message in ("one", "two"):
        project.write("note.txt", message)
        git(project.root, "add", "-A")
        git(project.root, "commit", "-q", "-m", message)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project.root}", str(clone))
    done = Project(clone).run("check", "--stack", "dev", "--diff", "HEAD~1")
    assert done.status == 2
    assert SHALLOW in done.err

    git(clone, "fetch", "-q", "--unshallow")

    assert Project(clone).run("check", "--stack", "dev", "--diff", "HEAD~1").status == 0


def test_lines_of_concurrent_commands_stay_apart(
    monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    written: list[str] = []

    class Terminal:
        def write(self, text: str) -> None:
            written.append(text)

        def flush(self) -> None:
            """Nothing is buffered."""

    monkeypatch.chdir(project.root)
    monkeypatch.setattr(sys, "stderr", Terminal())
    ci._pulumi_dra("check", "workloads")
    assert written == ["running: pulumi-dra check workloads\n"]

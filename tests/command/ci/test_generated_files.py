"""Each CI file that `init` generates is run as on its host, and installs the command from the right
source.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_project import Project
from packaging.requirements import Requirement

from dra_command.command_line.installation import extra_command, installed_from, with_extras
from dra_command.init.install_source import index_note, requirement_of
from dra_planner.errors import PlannerError

pytestmark = pytest.mark.programs

COMMIT = "git+https://github.com/acme/pulumi-dra.git@0123456789012345678901234567890123456789"
SOURCES = {
    COMMIT: f"pulumi-dra @ {COMMIT}",
    "https://example.com/pulumi_dra-0.1.0-py3-none-any.whl": "pulumi-dra @ https://example.com/pulumi_dra-0.1.0-py3-none-any.whl",
    "dist/pulumi_dra-0.1.0-py3-none-any.whl": "dist/pulumi_dra-0.1.0-py3-none-any.whl",
    "0.1.0": "pulumi-dra==0.1.0",
}  # fmt: skip


def script(file: str, document: dict[str, Any]) -> list[str]:
    """Return the commands that a generated file runs, starting with the change to its folder."""
    if "workflows" in file:
        (job,) = document["jobs"].values()
        return [step["run"] for step in job["steps"] if "run" in step]
    (job,) = document.values()
    return list(job["script"])


@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.parametrize("source", SOURCES)
def test_generated_file_installs_from_its_setting_and_runs(
    kind: str, source: str, project: Project
) -> None:
    (project.root / ".git").mkdir()
    if "://" not in source:
        project.write(source, "")
    words = ["init", ".", "--region", "us-east-1", "--ci", kind, "--install", source]
    assert project.run(*words).status == 0
    (file,) = [*project.root.glob(".github/workflows/*.yml"), *project.root.glob("*.gitlab-ci.yml")]
    lines = script(str(file), yaml.safe_load(file.read_text()))
    (install,) = [line for line in lines if line.startswith("pip install ")]
    assert shlex.split(install) == ["pip", "install", SOURCES[source]]
    if not source.endswith(".whl") or "://" in source:
        assert Requirement(SOURCES[source]).name == "pulumi-dra"
    if source != "0.1.0":
        return  # the other commands are the same
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    rest = "\n".join(line for line in lines if line != install)
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", rest],
        cwd=project.root,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("git+https://github.com/acme/pulumi-dra.git", "the git URL doesn't contain a commit"),
        ("latest", "can't be installed"),
        ("1" + "a" * 200 + "!", "can't be installed"),  # no expression tries every way to split it
    ],
)
def test_invalid_source_is_rejected(source: str, message: str) -> None:
    with pytest.raises(PlannerError, match=message):
        requirement_of(source, Path())


def test_wheel_is_relative_to_the_folder_of_the_generated_files(project: Project) -> None:
    (project.root / ".git").mkdir()
    project.write("vendor/pulumi_dra-1.0-py3-none-any.whl", "")
    words = ["init", "gpus", "--stack", "prod", "--region", "us-east-1", "--install"]

    missing = project.run(*words, "vendor/other.whl")
    done = project.run(*words, "vendor/pulumi_dra-1.0-py3-none-any.whl")

    assert (missing.status, "vendor/other.whl doesn't exist" in missing.err) == (2, True)
    assert (done.status, "outside the repository" in done.out) == (0, False)
    (wanted,) = (project.root / "gpus/requirements.txt").read_text().splitlines()
    assert wanted == "../vendor/pulumi_dra-1.0-py3-none-any.whl[aws,policy]"
    workflow = (project.root / ".github/workflows/pulumi-dra-gpus-prod.yml").read_text()
    assert "pip install ../vendor/pulumi_dra-1.0-py3-none-any.whl\n" in workflow


def test_wheel_outside_the_repository_is_reported(project: Project) -> None:
    project.write("mine/.git/HEAD", "")
    project.write("p.whl", "")
    done = Project(project.root / "mine").run(
        "init", "--region", "us-east-1", "--install", "../p.whl"
    )
    assert done.status == 0
    assert "../p.whl, which is outside the repository, so a pipeline can't read it" in done.out


def test_manifests_are_relative_to_the_folder_of_the_workflow(project: Project) -> None:
    (project.root / ".git").mkdir()
    done = project.run("init", "gpus", "--region", "us-east-1", "--workloads", "workloads")
    assert done.status == 0
    workflow = (project.root / ".github/workflows/pulumi-dra-gpus.yml").read_text()
    assert "run: pulumi-dra ci ../workloads --fleet fleet.yaml --name gpus\n" in workflow


class TestOnlyTheWorkflow:
    @pytest.mark.parametrize(
        ("words", "name", "command"),
        [
            (("--stack", "dev"), "pulumi-dra-dev", "--stack dev --name dev"),
            (
                ("--stack", "dev,west"),
                "pulumi-dra-dev-west",
                "--stack dev,west --name dev-west",
            ),
            (
                ("--workloads", "workloads", "--fleet", "f.yaml"),
                "pulumi-dra",
                "workloads --fleet f.yaml",
            ),
        ],
        ids=["stack", "stacks", "manifests"],
    )
    def test_workflow_is_added_to_a_repository(
        self, words: tuple[str, ...], name: str, command: str, project: Project
    ) -> None:
        (project.root / ".git").mkdir()
        for file in ("stacks/Pulumi.west.yaml", "f.yaml"):
            project.write(file, "")
        done = project.run("init", "--only-ci", *words)
        assert (done.status, done.out.splitlines()[0]) == (0, f"wrote .github/workflows/{name}.yml")
        text = (project.root / f".github/workflows/{name}.yml").read_text()
        assert f"run: pulumi-dra ci {command}\n" in text
        assert project.run("init", "--only-ci", *words).status == 2

    @pytest.mark.parametrize(
        ("words", "fault"),
        [
            (("--stack", "other"), "Pulumi.other.yaml; use stack dev"),
            (("--workloads", "workloads"), "--only-ci requires manifests or a stack to check"),
            (("--workloads", "w", "--fleet", "f.yaml"), "w doesn't exist"),
            (("--stack", "dev", "--ci", "none"), "--only-ci needs a CI system"),
        ],
        ids=["stack", "fleet", "path", "system"],
    )
    def test_wrong_input_is_reported(
        self, words: tuple[str, ...], fault: str, project: Project
    ) -> None:
        done = project.run("init", "--only-ci", *words)
        assert (done.status, fault in done.err) == (2, True)


def record(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    class Installed:
        def read_text(self, name: str) -> str:
            assert name == "direct_url.json"
            return text

    monkeypatch.setattr("dra_command.command_line.installation.distribution", lambda _: Installed())


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        (
            '{"url": "https://github.com/a/b.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
            "pulumi-dra @ git+https://github.com/a/b.git@abc",
        ),
        (
            '{"url": "https://example.com/p.whl", "archive_info": {}}',
            "pulumi-dra @ https://example.com/p.whl",
        ),
        ('{"url": "file:///nowhere", "dir_info": {}}', f"pulumi-dra=={version('pulumi-dra')}"),
        ("", f"pulumi-dra=={version('pulumi-dra')}"),
    ],
    ids=["git", "wheel", "folder", "index"],
)
def test_default_source_is_the_source_of_this_installation(
    text: str, requirement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(monkeypatch, text)
    assert installed_from() == requirement


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (
            '{"url": "https://github.com/a/b.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
            'pip install "pulumi-dra[sandbox] @ git+https://github.com/a/b.git@abc"',
        ),
        (
            '{"url": "https://example.com/p.whl", "archive_info": {}}',
            'pip install "pulumi-dra[sandbox] @ https://example.com/p.whl"',
        ),
        (
            '{"url": "file:///no%20where", "dir_info": {}}',
            'pip install "/no where[sandbox]"',
        ),
        (
            '{"url": "file:///nowhere", "dir_info": {"editable": true}}',
            'pip install -e "/nowhere[sandbox]"',
        ),
        ('{"url": "file:///p.whl", "archive_info": {}}', 'pip install "/p.whl[sandbox]"'),
        ("", 'pip install "pulumi-dra[sandbox]"'),
    ],
    ids=["git", "wheel at a URL", "folder", "editable folder", "wheel file", "index"],
)
def test_extra_is_installed_from_the_source_of_this_installation(
    text: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(monkeypatch, text)
    assert extra_command("sandbox") == command


@pytest.mark.parametrize(
    ("source", "requirement"),
    [
        ("1.2.3", "pulumi-dra[aws,policy]==1.2.3"),
        (
            "git+https://github.com/acme/p.git@0a1b2c3",
            "pulumi-dra[aws,policy] @ git+https://github.com/acme/p.git@0a1b2c3",
        ),
    ],
    ids=["index", "git"],
)
def test_program_installs_from_the_same_source(source: str, requirement: str) -> None:
    assert with_extras(requirement_of(source, Path()), ("aws", "policy")) == requirement


@pytest.mark.parametrize(
    ("text", "install", "has_note"),
    [
        ('{"url": "file:///p.whl", "archive_info": {}}', "", True),
        ('{"url": "file:///p.whl", "archive_info": {}}', "1.0", False),
        ("", "", False),
    ],
    ids=["a local file", "a named source", "the index"],
)
def test_local_file_as_source_gets_a_note(
    text: str, install: str, has_note: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(monkeypatch, text)
    assert ("with git+https://HOST" in index_note(install)) == has_note


def test_checkout_is_installed_by_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> str:
        command = [
            "git",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "-C",
            str(tmp_path),
            *words,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "one")
    git("remote", "add", "origin", "https://github.com/acme/pulumi-dra.git")
    record(monkeypatch, f'{{"url": "file://{tmp_path}", "dir_info": {{}}}}')

    commit = git("rev-parse", "HEAD")
    assert installed_from() == f"pulumi-dra @ git+https://github.com/acme/pulumi-dra.git@{commit}"

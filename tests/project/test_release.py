"""A release: its archive builds the same wheel, its page has no broken links, and its workflow is
safe.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SHORT = ("tests/planner/test_sources.py", "tests/command/catalog", "tests/project/test_news.py")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def build(folder: Path, target: Path, kind: str) -> Path:
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        kind,
        "--directory",
        str(target),
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (built,) = (path for path in target.iterdir() if path.name.endswith((".whl", ".tar.gz")))
    return built


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


def contents(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as opened:
        return {each.filename: each.CRC for each in opened.infolist()}


def page_of(wheel: Path) -> tuple[dict[str, str], str]:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        message = message_from_string(opened.read(name).decode("utf-8"))
    return dict(message.items()), str(message.get_payload())


@pytest.mark.programs
def test_wheel_built_from_the_archive_matches_the_repository(
    archive: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    (tmp_path / "again").mkdir()
    assert contents(build(unpacked, tmp_path / "again", "wheel")) == contents(wheel)


@pytest.mark.programs
def test_archive_contains_the_repository(archive: Path) -> None:
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("only in a git repository")
    files = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    with tarfile.open(archive) as opened:
        packed = {each.name.partition("/")[2] for each in opened.getmembers() if each.isfile()}
    assert packed - files == {"PKG-INFO"}
    assert {name for name in files - packed if not name.startswith(".ci/")} == set()


@pytest.mark.programs
def test_tests_run_in_an_unpacked_archive(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    packages = ("planner", "policies", "command", "components", "sandbox", "tutorials")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SHORT],
        cwd=unpacked,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(unpacked / each) for each in packages),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_package_page_matches_the_readme_without_dead_links(wheel: Path) -> None:
    fields, text = page_of(wheel)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"(?<!!)\[[^\]]+\]\(([^)]*)\)", text)
    assert fields["Description-Content-Type"] == "text/markdown"
    assert [link for link in links if not re.match(r"https?:", link)] == []
    assert len(re.findall(r"^#+ ", text, re.MULTILINE)) == len(
        re.findall(r"^#+ ", readme, re.MULTILINE)
    )
    assert "](docs/" in readme
    assert "<picture>" in readme
    assert not re.search(r"""(?:src|srcset|href)=["'](?!https?:)""", text)


def test_package_metadata(wheel: Path) -> None:
    fields, _ = page_of(wheel)
    assert fields["Name"] == "pulumi-dra"
    assert fields["License-Expression"] == "Apache-2.0"
    assert fields["Requires-Python"] == ">=3.11"
    assert len(fields["Summary"]) < 200


def read(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


def test_package_built_by_a_workflow_links_its_repository(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://forge.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "team/fork")
    fields, _ = page_of(build(ROOT, tmp_path, "wheel"))
    assert fields["Project-URL"].endswith("https://forge.example/team/fork")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_pinned_actions_with_minimal_permissions(path: Path) -> None:
    text, workflow = path.read_text(encoding="utf-8"), read(path)
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    assert [
        name
        for name, note in used
        if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name) or " # v" not in note
    ] == []
    assert workflow["permissions"] == {}
    assert "secrets." not in text
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 120
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), (
                "values of the event reach scripts by their environment alone"
            )
            assert (
                not step.get("uses", "").startswith("actions/checkout")
                or not step["with"]["persist-credentials"]
            )


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_scripts_of_workflows_exist(path: Path) -> None:
    for script in (
        step["run"] for job in read(path)["jobs"].values() for step in job["steps"] if "run" in step
    ):
        for target in re.findall(r"^make ([a-z-]+)", script, re.MULTILINE):
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
        for file in re.findall(r"^(\.ci/\S+)", script, re.MULTILINE):
            assert (ROOT / file).exists()


def test_release_checks_builds_and_publishes_in_this_order() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert [(name, job.get("needs")) for name, job in jobs.items()] == [
        ("check", None), ("build", "check"), ("publish", "build"), ("release", "publish"),
    ]  # fmt: skip
    assert [name for name, job in jobs.items() if "environment" in job] == ["publish"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert not any("run" in step for step in jobs["publish"]["steps"])
    assert jobs["check"]["permissions"] == {"contents": "read"}
    assert jobs["release"]["permissions"] == {"contents": "write"}


@pytest.mark.parametrize("tag", ["v1.2.3", "v1.2.3-rc.4"])
def test_tag_must_match_the_wheel_name(tag: str, tmp_path: Path) -> None:
    steps = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["build"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("name") == "the tag is the version"]
    version = tag[1:].replace("-rc.", "rc")
    (tmp_path / "dist").mkdir()

    def run(wheel: str) -> int:
        (tmp_path / "dist" / wheel).touch()
        words = ["bash", "-e", "-c", script]
        return subprocess.run(words, cwd=tmp_path, env={"TAG": tag}, check=False).returncode

    assert run("pulumi_dra-9.9.9-py3-none-any.whl") != 0
    assert run(f"pulumi_dra-{version}-py3-none-any.whl") == 0


def test_wheel_has_the_project_version(wheel: Path) -> None:
    assert wheel.name == f"pulumi_dra-{page_of(wheel)[0]['Version']}-py3-none-any.whl"


def test_release_contains_the_files_that_publishing_writes() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"release/([\w.-]+\.\w+)", text))
    assert named == {"notes.md", "kubectl-dra.tar.gz", "dra.yaml", "schemastore.json"}

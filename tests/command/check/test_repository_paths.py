"""Reports for code hosts contain file paths relative to the root of the repository, regardless of
the folder in which `check` runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_command.findings.repository_paths import repository_path


@pytest.fixture(autouse=True)
def _no_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("variable", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_file_below_a_jobs_working_folder_is_relative_to_the_checkout(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gpus").mkdir()
    monkeypatch.chdir(tmp_path / "gpus")
    monkeypatch.setenv(variable, str(tmp_path))

    assert repository_path("workloads/a.yaml") == "gpus/workloads/a.yaml"


def test_file_in_a_git_repository_is_relative_to_its_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "gpus").mkdir()
    monkeypatch.chdir(tmp_path / "gpus")

    assert repository_path("../a.yaml") == "a.yaml"


def test_file_outside_keeps_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))

    assert repository_path("a.yaml") == "a.yaml"
    assert repository_path("/srv/a.yaml") == "/srv/a.yaml"
    assert repository_path("") == ""

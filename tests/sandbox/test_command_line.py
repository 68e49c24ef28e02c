"""`python -m dra_sandbox`: wrong input, and which stack the demonstration refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_sandbox.__main__ import main
from dra_sandbox.demo import refused_stack


def settings(folder: Path, name: str, cloud: str) -> Path:
    path = folder / f"Pulumi.{name}.yaml"
    path.write_text(f"config:\n  pulumi-dra:fleet: {{cloud: {cloud}}}\n")
    return path


def test_a_folder_that_is_no_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--project", str(tmp_path)]) == 2
    assert "there is no Pulumi.yaml in" in capsys.readouterr().err


def test_a_stack_that_the_project_does_not_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: trial\nruntime: python\n")

    assert main(["demo", "--project", str(tmp_path), "--stack", "nowhere"]) == 2
    assert "there is no stack nowhere" in capsys.readouterr().out


def test_a_cache_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("PATH", str(tmp_path))

    assert main(["tools"]) == 1
    assert "set XDG_CACHE_HOME" in capsys.readouterr().err


def test_the_stack_to_refuse_is_the_clouds_too_small_one(tmp_path: Path) -> None:
    eks, gke = settings(tmp_path, "eks-dev", "eks"), settings(tmp_path, "gke-dev", "gke")
    settings(tmp_path, "eks-too-small", "eks")

    assert refused_stack(eks) == "eks-too-small"
    assert refused_stack(gke) is None

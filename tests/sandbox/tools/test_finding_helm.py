"""Helm: the one on PATH where it is of the version that releases are rendered with, else the pinned one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_sandbox.tools import helm
from dra_sandbox.tools.helm import HELM, find_helm


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, and a build that says so."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(helm, "build", lambda tool: Path("built") / tool.name)
    return tmp_path


def put(folder: Path, says: str) -> Path:
    command = folder / "helm"
    command.write_text(f"#!/bin/sh\necho '{says}'\n")
    command.chmod(0o755)
    return command


@pytest.mark.parametrize("says", ["v3.19.5+g1234567", "v3.8.0"])
def test_one_of_version_3_is_taken(on_path: Path, says: str) -> None:
    command = put(on_path, says)
    assert find_helm() == command


@pytest.mark.parametrize("says", ["v4.0.1+g1234567", "v2.17.0", "no version at all"])
def test_another_is_passed_over(on_path: Path, says: str) -> None:
    put(on_path, says)
    assert find_helm() == Path("built/helm")


def test_without_one_the_pinned_one_is_built(on_path: Path) -> None:
    assert find_helm() == Path("built/helm")
    assert HELM.version.startswith("3.")
    assert (HELM.pins_folder / "go.sum").stat().st_size > 10_000

"""Helm: the program on PATH if it has the version for rendering releases, else the pinned one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_sandbox.tools import helm
from dra_sandbox.tools.helm import HELM, find_helm, helm_at_hand, helm_environment


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put one folder first on PATH, with a cache without Helm and a fake build; return the
    folder.
    """
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(helm, "build", lambda tool: Path("built") / tool.name)
    return tmp_path


def put(folder: Path, output: str) -> Path:
    command = folder / "helm"
    command.write_text(f"#!/bin/sh\necho '{output}'\n")
    command.chmod(0o755)
    return command


@pytest.mark.parametrize("output", ["v3.19.5+g1234567", "v3.8.0"])
def test_helm_3_on_path_is_used(on_path: Path, output: str) -> None:
    command = put(on_path, output)
    assert find_helm() == command


@pytest.mark.parametrize("output", ["v4.0.1+g1234567", "v2.17.0", "no version at all"])
def test_another_helm_version_is_ignored(on_path: Path, output: str) -> None:
    put(on_path, output)
    assert find_helm() == Path("built/helm")


def test_the_pinned_helm_is_built_if_none_is_on_path(on_path: Path) -> None:
    assert find_helm() == Path("built/helm")
    assert HELM.version.startswith("3.")
    assert (HELM.pins_folder / "go.sum").stat().st_size > 10_000


def test_optional_helm_is_not_built(on_path: Path) -> None:
    assert helm_at_hand() is None

    HELM.binary.parent.mkdir(parents=True)
    HELM.binary.touch()

    assert helm_at_hand() == find_helm() == HELM.binary


def test_helm_ignores_cluster_settings_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (
        "HELM_KUBEAPISERVER",
        "HELM_KUBECONTEXT",
        "HELM_KUBETOKEN",
        "HELM_NAMESPACE",
        "KUBECONFIG",
    ):
        monkeypatch.setenv(name, "production")

    assert "production" not in helm_environment().values()

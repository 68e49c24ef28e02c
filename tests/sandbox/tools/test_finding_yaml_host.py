"""The language host for YAML: the vendor's if it is installed, else one that is pinned to the
engine's release.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_sandbox.tools import find_yaml_host
from dra_sandbox.tools.pulumi_cli import PULUMI
from dra_sandbox.tools.yaml_host import YAML_HOST


def test_a_yaml_host_on_path_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = tmp_path / "pulumi-language-yaml"
    host.write_text("#!/bin/sh\n")
    host.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_yaml_host() == host


def test_the_pinned_host_matches_the_pinned_engines_protocol() -> None:
    pins = (YAML_HOST.pins_folder / "go.mod").read_text()

    assert f"github.com/pulumi/pulumi/pkg/v3 v{PULUMI.version}" in pins
    assert YAML_HOST.key.startswith("pulumi-language-yaml-1.")

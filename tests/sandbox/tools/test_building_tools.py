"""Building a command from a Go module that pins it, with the real compiler."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from dra_sandbox.tools import go_module
from dra_sandbox.tools.go_module import GoTool, ToolUnavailable, build
from dra_sandbox.tools.go_toolchain import find_go
from dra_sandbox.tools.pulumi_cli import PULUMI

TOOL = GoTool(
    name="hello",
    pins="hello",
    module="hello.invalid/needed",
    package="hello.invalid/hello",
    stamps={"main.version": "v{version}"},
)
MAIN = "package main\n\nvar version string\n\nfunc main() { println(version) }\n"


@pytest.fixture
def pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a module without dependencies and an empty cache; Go comes from the real cache."""
    go = find_go((1, 21, 0))
    monkeypatch.setenv("PATH", f"{go.parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "modules" / "hello"
    (folder / "needed").mkdir(parents=True)
    (folder / "go.mod").write_text(
        "module hello.invalid/hello\n\ngo 1.21\n\nrequire hello.invalid/needed v1.2.3\n\n"
        "replace hello.invalid/needed => ./needed\n"
    )
    (folder / "needed" / "go.mod").write_text("module hello.invalid/needed\n\ngo 1.21\n")
    (folder / "go.sum").write_text("")
    (folder / "tools.go").write_text(MAIN)
    monkeypatch.setattr(go_module, "_MODULES", tmp_path / "modules")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.mark.engine
def test_a_command_is_built_once_and_stamped_with_its_version(
    pins: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    binary = build(TOOL)
    first = capfd.readouterr().err
    again = build(TOOL)

    assert again == binary
    assert subprocess.run([binary], capture_output=True, text=True, check=True).stderr == "v1.2.3\n"
    assert "building hello 1.2.3 from its Go modules" in first
    assert "done in" in first
    assert capfd.readouterr().err == ""


@pytest.mark.engine
def test_a_failed_build_reports_the_compilers_error(pins: Path) -> None:
    (pins / "tools.go").write_text("package main\n\nfunc main() { undefinedName() }\n")

    with pytest.raises(ToolUnavailable, match="undefined: undefinedName"):
        build(TOOL)

    assert not TOOL.binary.exists()
    assert list(TOOL.binary.parent.parent.parent.glob("*hello*")) == []


def test_the_key_changes_with_the_pins(pins: Path) -> None:
    before = TOOL.key
    (pins / "go.sum").write_text("hello.invalid/other v1.0.0 h1:x=\n")

    assert before.startswith("hello-1.2.3-")
    assert TOOL.key != before


def test_the_cli_and_its_sdk_have_the_same_pinned_version() -> None:
    go_mod = (PULUMI.pins_folder / "go.mod").read_text()

    assert f"github.com/pulumi/pulumi/pkg/v3 v{PULUMI.version}" in go_mod
    assert f"github.com/pulumi/pulumi/sdk/v3 v{PULUMI.version}" in go_mod
    assert (PULUMI.pins_folder / "go.sum").stat().st_size > 10_000

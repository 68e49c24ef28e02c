"""When the bootstrap accepts an existing environment, and how it creates a new one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "sandbox" / "bootstrap.py"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Create a checkout with a lock file and an environment that looks complete."""
    (tmp_path / "uv.lock").write_text("version = 1\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    site = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (site / "_pulumi_dra.pth").write_text(f"{tmp_path}/planner\n{tmp_path}/sandbox\n")
    (tmp_path / ".venv" / "bin").mkdir()
    (tmp_path / ".venv" / "bin" / "python").touch()
    return tmp_path


@pytest.fixture
def bootstrap(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script as a module for the scratch checkout, whose environment is marked
    as ready.
    """
    spec = importlib.util.spec_from_file_location("bootstrap", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", checkout)
    monkeypatch.setattr(module, "ENVIRONMENT", checkout / ".venv")
    monkeypatch.setattr(module, "STAMP", checkout / ".venv" / "pulumi-dra.stamp")
    module.STAMP.write_text(module.description())
    return module


def test_a_stamped_environment_is_ready_without_output(
    bootstrap: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bootstrap.main() == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "damage",
    [
        lambda checkout: (checkout / "uv.lock").write_text("version = 2\n"),
        lambda checkout: (checkout / "pyproject.toml").write_text("[project]\nname = 'x'\n"),
        lambda checkout: (checkout / ".venv" / "bin" / "python").unlink(),
        lambda checkout: next(checkout.glob(".venv/lib/*/*/*.pth")).write_text(
            "/elsewhere/sandbox\n"
        ),
        lambda checkout: next(checkout.glob(".venv/lib/*/*/*.pth")).unlink(),
        lambda checkout: (checkout / ".venv" / "pulumi-dra.stamp").unlink(),
    ],
    ids=[
        "another lock file",
        "another project",
        "no python",
        "other checkout's install",
        "no install",
        "not finished",
    ],
)
def test_any_difference_makes_the_environment_outdated(
    bootstrap: ModuleType, checkout: Path, damage
) -> None:
    damage(checkout)

    assert not bootstrap.is_ready(bootstrap.description())


def test_a_failing_uv_is_an_error_without_a_stamp(
    bootstrap: ModuleType, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    uv = tmp_path / "path" / "uv"
    uv.parent.mkdir()
    uv.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'uv 0.99.0' && exit\nexit 7\n")
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    (checkout / "uv.lock").write_text("version = 3\n")

    assert bootstrap.main() == 1
    assert "uv sync failed with status" in capsys.readouterr().err
    assert not bootstrap.STAMP.exists()


def test_an_old_uv_on_path_is_ignored(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "path" / "uv"
    cached = (
        tmp_path / "cache" / "pulumi-dra" / "tools" / f"uv-{bootstrap.UV_VERSION}" / "bin" / "uv"
    )
    for path, version in ((old, "0.4.2"), (cached, bootstrap.UV_VERSION)):
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\necho 'uv {version}'\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    assert bootstrap.find_uv() == str(cached)


def test_bootstrap_uses_only_the_standard_library() -> None:
    """Python without installed packages can import it and the modules that it uses."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import bootstrap, dra_sandbox.cache"

    subprocess.run([sys.executable, "-I", "-S", "-c", code, str(SCRIPT.parent)], check=True)

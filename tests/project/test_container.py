"""The container image: its build context has all files that the wheel needs, and it runs without
root.

No container engine runs in tests, so the build runs as in the image's build stage. `conformance/ci`
lints the file with hadolint.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
FINAL = LINES[max(number for number, line in enumerate(LINES) if line.startswith("FROM ")) :]


def instruction(name: str) -> list[str]:
    """Return the arguments of an instruction in the final stage."""
    return [line.removeprefix(f"{name} ") for line in FINAL if line.startswith(f"{name} ")]


def test_build_context_contains_everything_that_the_wheel_needs(tmp_path: Path) -> None:
    rules = [
        line
        for line in (ROOT / "Containerfile.dockerignore").read_text().splitlines()
        if line and line[0] != "#"
    ]
    assert rules[0] == "*"
    context = tmp_path / "context"
    context.mkdir()
    for name in (rule.removeprefix("!") for rule in rules if rule.startswith("!")):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, context / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
            )
        else:
            shutil.copy(source, context / name)

    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=context, check=True, capture_output=True,
    )  # fmt: skip

    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT / role).as_posix()
        for role in ("command", "planner")
        for path in files(ROOT / role)
    }
    assert wanted <= names


def files(folder: Path) -> list[Path]:
    """Return the modules of a role's package."""
    return [path for path in folder.rglob("*.py") if not fnmatch(str(path), "*__pycache__*")]


def test_entry_point_is_the_command_and_the_user_is_not_root() -> None:
    assert instruction("ENTRYPOINT") == ['["pulumi-dra"]']
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", instruction("USER")[0])
    assert not instruction("RUN")  # only packages of the lock file are installed


def test_dependencies_come_from_the_lock_file() -> None:
    assert any("uv sync --frozen --no-dev" in line for line in LINES)
    packages = (ROOT / "uv.lock").read_text(encoding="utf-8")
    assert 'name = "pulumi-dra"' in packages


def test_image_has_reproducible_bytecode() -> None:
    # uv passes the mode to Python's compiler of bytecode; a timestamp would differ between builds.
    settings = dict(
        word.split("=", 1)
        for line in LINES[: LINES.index(FINAL[0])]
        if line.startswith("ENV ")
        for word in line.split()[1:]
    )
    assert settings["UV_COMPILE_BYTECODE"] == "1"
    assert settings["PYC_INVALIDATION_MODE"] == "UNCHECKED_HASH"
    assert settings["PYTHONHASHSEED"] == "0"

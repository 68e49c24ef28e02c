"""The built wheel: what is in it, and that it runs with the base dependencies alone."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def base_install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's content and the base dependencies, nothing else."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        name = next(entry for entry in archive.namelist() if entry.endswith("METADATA"))
        wanted = [
            line.removeprefix("Requires-Dist: ")
            for line in archive.read(name).decode().splitlines()
            if line.startswith("Requires-Dist: ") and "extra ==" not in line
        ]
    for distribution in closure(wanted):
        for file in distribution.files or ():
            top = file.parts[0]
            source, target = Path(str(distribution.locate_file(top))), folder / top
            if top != ".." and not target.exists():
                target.symlink_to(source)
    return folder


def closure(requirements: list[str]) -> list[metadata.Distribution]:
    """The installed distributions that these requirements need, and those that they need, extras left out."""
    found: dict[str, metadata.Distribution] = {}
    waiting = list(requirements)
    while waiting:
        requirement, _, marker = waiting.pop().partition(";")
        name = re.match(r"[A-Za-z0-9._-]+", requirement.strip())
        assert name is not None
        if "extra" in marker or name[0].lower() in found:
            continue
        try:
            distribution = metadata.distribution(name[0])
        except metadata.PackageNotFoundError:
            assert marker, f"{name[0]} is needed everywhere and not installed"
            continue
        found[name[0].lower()] = distribution
        waiting.extend(distribution.requires or [])
    return list(found.values())


def run(base_install: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from dra_command.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-I", "-S", "-c", code, str(base_install), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_package_ships_with_its_types_and_tables(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for package in ("dra_planner", "dra_policies", "dra_command", "pulumi_dra", "dra_sandbox"):
        assert f"{package}/py.typed" in names
    assert "dra_planner/data/gpus.csv" in names
    assert "dra_planner/cel/syntax/tables.json" in names
    assert any(name.startswith("dra_sandbox/tools/") and name.endswith("go.sum") for name in names)


def test_nothing_outside_the_packages_ships(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    packages = {"dra_planner", "dra_policies", "dra_command", "pulumi_dra", "dra_sandbox"}
    assert {top for top in tops if not top.endswith(".dist-info")} == packages


def test_the_base_install_has_no_pulumi(base_install: Path) -> None:
    assert not [entry.name for entry in base_install.iterdir() if entry.name in {"pulumi", "grpc", "highspy", "numpy"}]


def test_the_base_install_plans(base_install: Path) -> None:
    done = run(base_install, "plan", "--stack", "eks-dev", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert '"verdict": "fits"' in done.stdout


def test_the_base_install_helps(base_install: Path) -> None:
    done = run(base_install, "--help")
    assert done.returncode == 0
    assert "plan" in done.stdout

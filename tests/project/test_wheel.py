"""The built wheel: its files, that it runs with only the base dependencies, and the dependencies
that each extra adds.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        str(folder),
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def base_install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a folder with only the wheel's content and the base dependencies."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        name = next(entry for entry in archive.namelist() if entry.endswith("METADATA"))
        wanted = [
            line.removeprefix("Requires-Dist: ")
            for line in archive.read(name).decode().splitlines()
            if line.startswith("Requires-Dist: ") and "extra ==" not in line
        ]
    link(closure(wanted), folder)
    return folder


def link(distributions: list[metadata.Distribution], folder: Path) -> None:
    """Link installed distributions into a folder, as an installer would copy them."""
    for distribution in distributions:
        for file in distribution.files or ():
            top = file.parts[0]
            source, target = Path(str(distribution.locate_file(top))), folder / top
            if top != ".." and not target.exists():
                target.symlink_to(source)


def needed_by(base_install: Path, extra: str) -> list[str]:
    """Return the requirements of an extra of the wheel, including the extras that it refers to."""
    (wheel,) = metadata.distributions(name="pulumi-dra", path=[str(base_install)])
    found: list[str] = []
    for requirement in wheel.requires or []:
        wanted, _, marker = requirement.partition(";")
        if f"extra == '{extra}'" not in marker.replace('"', "'"):
            continue
        if wanted.strip().startswith("pulumi-dra["):
            found += [
                each
                for name in wanted.partition("[")[2].strip(" ]").split(",")
                for each in needed_by(base_install, name)
            ]
        else:
            found.append(wanted.strip())
    return found


def closure(requirements: list[str]) -> list[metadata.Distribution]:
    """Return the installed distributions of these requirements and their own requirements, without
    extras.
    """
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
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from dra_command.__main__ import "
        "main; sys.exit(main())"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(base_install), *arguments]
    return subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_every_package_ships_with_its_types_and_tables(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for package in (
        "dra_planner",
        "dra_policies",
        "dra_command",
        "pulumi_dra",
        "dra_sandbox",
        "dra_tutorials",
    ):
        assert f"{package}/py.typed" in names
    assert "dra_planner/data/gpus.csv" in names
    assert "dra_planner/cel/syntax/tables.json" in names
    assert any(name.startswith("dra_sandbox/tools/") and name.endswith("go.sum") for name in names)


def test_nothing_outside_the_packages_ships(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    packages = {
        "dra_planner",
        "dra_policies",
        "dra_command",
        "pulumi_dra",
        "dra_sandbox",
        "dra_tutorials",
    }
    assert {top for top in tops if not top.endswith(".dist-info")} == packages


def test_base_install_has_no_pulumi(base_install: Path) -> None:
    assert not [
        entry.name
        for entry in base_install.iterdir()
        if entry.name in {"pulumi", "grpc", "highspy", "numpy"}
    ]


def test_base_install_can_plan(base_install: Path) -> None:
    done = run(base_install, "plan", "--stack", "eks-dev", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert '"verdict": "fits"' in done.stdout


def test_base_install_prints_help(base_install: Path) -> None:
    done = run(base_install, "--help")
    assert done.returncode == 0
    assert "plan" in done.stdout


SANDBOX, PORTFOLIO = (
    'run pip install "pulumi-dra[sandbox]"',
    'run pip install "pulumi-dra[portfolio]"',
)
MCP, WATCH = 'run pip install "pulumi-dra[mcp]"', 'run pip install "pulumi-dra[watch]"'
ANOTHER = 'run pip install "pulumi-dra[portfolio]", or use another folder (--results)'
PORTFOLIO_FILE = """\
stacks: [{{stack: {root}/stacks/Pulumi.eks-dev.yaml}}]
ask: {{simulate: off}}
"""


@pytest.mark.parametrize(
    ("fix", "words"),
    [
        (MCP, "mcp --root {folder}"),
        (WATCH, "check {folder}/gone --watch"),
        (SANDBOX, "sandbox tools --help"),
        (SANDBOX, "rehearse --stack eks-dev --context x"),
        (PORTFOLIO, "portfolio {file} --scheduler nowhere://x --results {folder}/a"),
        (PORTFOLIO, "portfolio {file} --parquet {folder}/all.parquet --results {folder}/b"),
        (ANOTHER, "portfolio {file} --results {folder}/c"),
    ],
    ids=["mcp", "watch", "sandbox", "rehearse", "dask", "parquet", "kept as parquet"],
)
def test_suggested_extra_provides_the_missing_feature(
    base_install: Path, tmp_path: Path, fix: str, words: str
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for entry in base_install.iterdir():
        (site / entry.name).symlink_to(entry)
    file = tmp_path / "portfolio.yaml"
    file.write_text(PORTFOLIO_FILE.format(root=ROOT), encoding="utf-8")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "part-0.parquet").write_bytes(b"")
    arguments = words.format(file=file, folder=tmp_path).split()
    done = run(site, *arguments)
    assert done.returncode == 2
    assert fix in done.stderr
    extra = fix.partition("[")[2].partition("]")[0]
    link(closure(needed_by(base_install, extra)), site)
    assert fix not in run(site, *arguments).stderr
    if fix == ANOTHER:
        assert fix not in run(base_install, *arguments[:-1], str(tmp_path / "d")).stderr


def test_reinstalling_the_wheel_restores_a_missing_table(
    base_install: Path, wheel: Path, tmp_path: Path
) -> None:
    for entry in base_install.iterdir():
        if entry.name != "dra_planner":
            (tmp_path / entry.name).symlink_to(entry)
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("dra_planner/")]
        archive.extractall(
            tmp_path, [name for name in names if not name.endswith("/mig_profiles.csv")]
        )
        words = ("catalog", "mig", "a100")
        done = run(tmp_path, *words)
        assert done.returncode == 2
        assert "install the package from a wheel or a checkout" in done.stderr
        archive.extractall(tmp_path, names)
    assert run(tmp_path, *words).returncode == 0

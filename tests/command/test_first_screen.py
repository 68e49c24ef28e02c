"""What the README shows first is what the command prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
COMMAND = ("plan", "examples/eighty-gi", "--fleet", "examples/eighty-gi/fleet.yaml")
STACKS = ("eks-dev", "gke-dev", "aks-dev")
BLOCK = re.compile(r"(?<=```text\n).*?(?=```\n)", re.DOTALL)


def run(*command: str, columns: int, expected: int, first: str = "pass") -> str:
    """Return what a command prints on a terminal of so many columns; `first` is run before it."""
    code = f"import sys; {first}; from dra_command.__main__ import main; sys.exit(main())"
    environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", code, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == expected, done.stderr
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def printed() -> str:
    """Return what the command of the first screen prints."""
    return run(*COMMAND, columns=80, expected=1)


def test_the_output_of_the_readme_is_that_of_a_run() -> None:
    text, shown = README.read_text(encoding="utf-8"), printed()
    if os.environ.get("REWRITE_GOLDEN"):
        README.write_text(BLOCK.sub(lambda _: shown, text, count=1), encoding="utf-8")
        return
    assert f"pulumi-dra {' '.join(COMMAND)}" in text
    (block,) = BLOCK.findall(text)
    assert block == shown


@pytest.mark.parametrize("stack", STACKS)
def test_what_a_stack_costs_is_what_the_command_prints(stack: str) -> None:
    shown = run("plan", "--stack", stack, columns=200, expected=0)
    (cost,) = re.findall(r"^\d+ GPU nodes.*USD .* per hour.*$", shown, re.MULTILINE)
    otherwise = ("pool: that of the packing" in shown, "as simulated, order" in shown)
    assert otherwise == ((True, True) if stack == "aks-dev" else (False, False)), "pods stand in other pools there"
    row = f"| [{stack}](stacks/Pulumi.{stack}.yaml) | {cost} |"
    text = README.read_text(encoding="utf-8")
    pattern = re.compile(rf"^\| \[{stack}\].*$", re.MULTILINE)
    if os.environ.get("REWRITE_GOLDEN"):
        README.write_text(pattern.sub(lambda _: row, text, count=1), encoding="utf-8")
        return
    assert pattern.findall(text) == [row]


def test_a_bound_that_the_solver_would_raise_is_told() -> None:
    """The base install has none: its gaps are larger than those above."""
    shown = run("plan", "--stack", "aks-dev", columns=200, expected=0, first="sys.modules['highspy'] = None")
    assert "% without the extra `solver`, which proves closer bounds)" in shown
    assert "extra `solver`" in README.read_text(encoding="utf-8")


def test_the_first_screen_is_short_and_narrow() -> None:
    first = README.read_text(encoding="utf-8").partition("\n## ")[0]
    (block,) = BLOCK.findall(first)
    assert len(first.splitlines()) <= 100
    assert all(len(line) <= 80 for line in block.splitlines())


@pytest.mark.parametrize("name", ["plan-light.svg", "plan-dark.svg"])
def test_the_picture_shows_what_the_command_prints(name: str) -> None:
    drawn = (ROOT / "docs" / name).read_text(encoding="utf-8")
    texts = ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    _, *lines = ["".join(each.itertext()) for each in texts]  # the title first
    assert "".join("".join(lines).split()) == "".join(printed().split())
    assert not re.search(r"https?://(?!www\.w3\.org|www\.textualize\.io)|url\((?!#)|<script", drawn)
    assert f'srcset="docs/{name}"' in README.read_text("utf-8") or f'src="docs/{name}"' in README.read_text("utf-8")


def test_a_fleet_may_be_in_the_folder_of_its_workloads() -> None:
    assert (ROOT / COMMAND[1] / "fleet.yaml").is_file()
    assert "Deployment serve/vision" in printed()

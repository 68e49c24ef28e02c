"""The first screen in the README is the actual output of the command."""

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
OF_KUBERNETES = {
    "allocation",
    "attribute",
    "capacity",
    "claim",
    "constraint",
    "deviceclass",
    "device",
    "device plugin",
    "driver",
    "pending",
    "request",
    "selector",
    "slice",
}


def run(*command: str, columns: int, expected: int, first: str = "pass") -> str:
    """Return the output of a command on a terminal with this number of columns. `first` runs before
    the command.
    """
    code = f"import sys; {first}; from dra_command.__main__ import main; sys.exit(main())"
    environment = {
        **os.environ,
        "COLUMNS": str(columns),
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expected, done.stderr
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def printed() -> str:
    """Return the output of the command on the first screen."""
    return run(*COMMAND, columns=80, expected=1)


def test_readme_shows_the_command_of_its_picture() -> None:
    assert f"pulumi-dra {' '.join(COMMAND)}" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("stack", STACKS)
def test_cost_of_a_stack_matches_the_output(stack: str) -> None:
    shown = run("plan", "--stack", stack, columns=200, expected=0)
    (cost,) = re.findall(r"^\d+ GPU nodes.*USD .* per hour.*$", shown, re.MULTILINE)
    otherwise = (
        "pool: as simulated, order" in shown.replace("\n", " "),
        "· as simulated, order" in shown,
    )
    assert otherwise == ((True, True) if stack == "aks-dev" else (False, False)), (
        "pods stand in other pools there"
    )
    row = f"| [{stack}](stacks/Pulumi.{stack}.yaml) | {cost} |"
    text = README.read_text(encoding="utf-8")
    for saving in re.findall(r"(\d fewer nodes, USD [\d.]+ per hour less)", shown):
        assert saving in text
    pattern = re.compile(rf"^\| \[{stack}\].*$", re.MULTILINE)
    if os.environ.get("REWRITE_GOLDEN"):
        README.write_text(pattern.sub(lambda _: row, text, count=1), encoding="utf-8")
        return
    assert pattern.findall(text) == [row]


def test_missing_solver_extra_is_reported_with_the_bound() -> None:
    """The base installation doesn't have the solver, so its gaps are larger than the ones above."""
    shown = run(
        "plan", "--stack", "aks-dev", columns=200, expected=0, first="sys.modules['highspy'] = None"
    )
    assert "% without the `solver` extra, which gives tighter bounds)" in shown
    assert "`solver` extra" in README.read_text(encoding="utf-8")


def test_readme_is_short() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert len(text.partition("\n## ")[0].splitlines()) <= 40


def glossary_words(text: str) -> set[str]:
    """Return the words of the glossary in a text that Kubernetes doesn't have."""
    glossary = re.findall(
        r"^\| (\w[^|]*?) \|", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    ours = {word.lower() for entry in glossary for word in entry.split(", ")} - OF_KUBERNETES
    assert {"fleet", "pool"} <= ours
    return {word for word in ours if re.search(rf"\b{re.escape(word)}s?\b", text.lower())}


def test_first_screen_introduces_few_words() -> None:
    """A reader has to learn each of these words before reading the answer."""
    used = glossary_words(README.read_text(encoding="utf-8").partition("\n## ")[0])
    assert len(used) <= 5, used


def test_plan_explains_its_words() -> None:
    """Columns are explained below their table. Sentences can only use the words of the README."""
    shown = printed()
    explained = set(re.findall(r"(?:^| )(\w+): [a-z]", shown, re.MULTILINE))
    known = {"fleet", "pool", "pod arrival order", "cannot tell"}
    assert glossary_words(shown) - known <= explained
    assert {"floor", "steady", "ceiling", "peak", "bound", "packing", "simulated"} <= explained


@pytest.mark.parametrize("name", ["plan-light.svg", "plan-dark.svg", "plan-narrow.svg"])
def test_picture_shows_the_output_of_the_command(name: str) -> None:
    drawn = (ROOT / "docs" / name).read_text(encoding="utf-8")
    svg = ElementTree.fromstring(drawn)
    texts = ["".join(each.itertext()) for each in svg.iter("{http://www.w3.org/2000/svg}text")]
    shown = printed()
    assert texts[0] in shown
    quantities = {word for text in texts for word in re.findall(r"\d+[MG]i", text)}
    assert {"80Gi", "81559Mi"} <= quantities
    assert quantities <= set(re.findall(r"\d+[MG]i", shown))
    for pool, nodes, maximum in re.findall(r"(\w+): (\d+) of (\d+) nodes", "\n".join(texts)):
        assert re.search(rf"^{pool} .* {nodes}/{maximum} ", shown, re.MULTILINE)
    assert not re.search(r"https?://(?!www\.w3\.org)|url\((?!#)|<script", drawn)
    readme = README.read_text(encoding="utf-8")
    assert f'srcset="docs/{name}"' in readme or f'src="docs/{name}"' in readme


def test_fleet_may_be_in_the_folder_of_its_workloads() -> None:
    assert (ROOT / COMMAND[1] / "fleet.yaml").is_file()
    assert "Deployment serve/vision" in printed()

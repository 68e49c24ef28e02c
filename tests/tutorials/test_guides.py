"""Content of published guides, in our own words: each item gets the finding that an expert would
give, and the test follows its fix.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_project import Project
from msgspec import Struct

from dra_planner.fleet import read_fleet
from dra_planner.fleet.changes import change_fleet, read_change

GUIDES = Path(__file__).parent / "guides"
FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"max": 4}}],
}


class Item(Struct, frozen=True):
    """A file of a guide, and its most important finding: the code, and words of the message and the
    fix.

    The test follows the fix with `text`, replacements in the file, and `fleet`, values of the
    fleet; with `rewrite`, the fix is `check --rewrite`. `before` has the values of the fleet before
    the fix.
    """

    file: str
    finding: str
    message: str
    fix: str
    text: tuple[tuple[str, str], ...] = ()
    fleet: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    rewrite: bool = False


ITEMS = [
    Item(**row)
    for row in yaml.safe_load((Path(__file__).parent / "guide_items.yaml").read_text("utf-8"))
]


def name(item: Item) -> str:
    return f"{item.file}-{item.finding}-{'-'.join(item.message.split()[:2])}"


def check(project: Project, file: str, fleet: tuple[str, ...], *words: str) -> Any:
    made = change_fleet(read_fleet(FLEET), [read_change(each) for each in fleet])
    project.write("fleet.json", json.dumps(made.document()))
    return project.run("check", file, "--fleet", "fleet.json", *words)


def matching(answer: Any, item: Item) -> list[Any]:
    return [
        each
        for each in answer["diagnostics"]
        if each["code"] == item.finding and item.message in each["message"]
    ]


@pytest.mark.parametrize("item", ITEMS, ids=name)
def test_applying_the_fix_of_an_item_removes_its_finding(project: Project, item: Item) -> None:
    text = (GUIDES / item.file).read_text(encoding="utf-8")
    project.write(item.file, text)
    answer = check(project, item.file, tuple(item.before), "--format", "json").json
    (finding, *_) = matching(answer, item)
    assert item.fix in finding["fix"]
    assert finding["file"] == item.file
    printed = " ".join(check(project, item.file, tuple(item.before)).out.split())
    assert item.finding in printed
    assert finding["message"] in printed
    project.write(item.file, followed(project, item, text))
    after = check(project, item.file, (*item.before, *item.fleet), "--format", "json").json
    assert "diagnostics" in after, after
    assert not matching(after, item)


def followed(project: Project, item: Item, text: str) -> str:
    """Return the text after the fix is applied."""
    if item.rewrite:
        return project.run("check", "--rewrite", item.file).out
    for old, new in item.text:
        assert old in text
        text = text.replace(old, new)
    return text


def test_every_guide_file_has_an_item() -> None:
    others = {"quotes.yaml", "dashes.yaml"}
    assert {path.name for path in GUIDES.iterdir()} == {item.file for item in ITEMS} | others
    assert len({item.file for item in ITEMS}) >= 46


@pytest.mark.parametrize("file", ["quotes.yaml", "dashes.yaml"])
def test_typographic_characters_are_rejected_and_repaired(project: Project, file: str) -> None:
    project.write(file, (GUIDES / file).read_text(encoding="utf-8"))
    error = check(project, file, (), "--format", "json").json["error"]
    assert error["line"] > 1
    assert f"run `pulumi-dra check --rewrite {file}` to print the repaired text" in error["fix"]
    assert project.run("check", "--rewrite", "--in-place", file).status == 0
    assert check(project, file, ()).status == 0

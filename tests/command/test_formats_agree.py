"""All formats of an answer agree: the JSON contains everything on a page, and each format begins
with the verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_project import Project
from test_formats import copy_examples

from dra_command.command_line.exit_status import Status

ROOT = Path(__file__).parents[2]
REHEARSALS = ROOT / "tests" / "planner" / "simulation" / "rehearsals"
FACT = re.compile(r"[A-Za-z0-9](?:[\w./\-]*[A-Za-z0-9])?")
VERDICTS = {Status.FITS: "fits", Status.BROKEN: "does not fit", Status.CANNOT_TELL: "cannot tell"}
# Words that occur only on a page: the unit of a column, and the scale of the drawing.
OF_THE_PAGE = {"USD/h", "80"}


class Texts(HTMLParser):
    """The texts of a page, without its pictures and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0
        self._is_same_word = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._is_same_word = tag == "wbr"
        self._hidden += tag in ("style", "title", "svg")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "title", "svg")

    def handle_data(self, data: str) -> None:
        if self._is_same_word and self.texts:
            self.texts[-1] += data
        elif not self._hidden:
            self.texts.append(data)
        self._is_same_word = False


def facts(text: str) -> set[str]:
    """Return the numbers and identifiers in a text."""
    return {found for found in FACT.findall(text) if re.search(r"\d|/", found)}


def leaves(value: object) -> Iterator[object]:
    match value:
        case dict():
            for inner in value.values():
                yield from leaves(inner)
            if {"namespace", "name"} <= value.keys():
                yield f"{value['namespace']}/{value['name']}"
            if "workload" in value and "/" not in value.get("claim", "/"):
                workload = value["workload"]
                yield f"{workload['namespace']}/{workload['name']}-{value['claim']}"
            if {"driver", "device"} <= value.keys():
                yield f"{value['driver']}/{value['device']}"
        case list():
            yield len(value)
            for inner in value:
                yield from leaves(inner)
        case _:
            yield value


def derived(document: dict[str, Any]) -> Iterator[str]:
    """Yield the values that reports compute from a document: GiB from MiB, the gap of a cost, and
    the number of orders that leave pods pending.
    """
    for group in document.get("filled_nodes", {}).get("groups", ()):
        if group["gpu_memory_mib"]:
            yield f"{group['gpu_memory_mib'] / 1024:.2f}".rstrip("0").rstrip(".")
    if cost := document.get("cost"):
        yield f"{100 * (1 - cost['bound'] / cost['hourly']):.2f}" if cost["hourly"] else "0"


def known(document: dict[str, Any]) -> set[str]:
    found = {*OF_THE_PAGE, *derived(document)}
    for leaf in leaves(document):
        if isinstance(leaf, str):
            found |= facts(leaf)
        elif isinstance(leaf, int | float):
            found |= {f"{leaf:g}", str(leaf), f"{leaf:.2f}", f"{leaf:,.2f}"}
    return found


def plan(name: str, project: Project) -> tuple[str, ...]:
    if name == "does not fit":
        copy_examples(project)
    if name == "cannot tell":
        case = yaml.safe_load(
            (REHEARSALS / "m1-small-then-whole-node.yaml").read_text(encoding="utf-8")
        )
        project.write("fleet.yaml", yaml.safe_dump(case["fleet"]))
        project.write("app.yaml", yaml.safe_dump_all(case["workloads"]))
        return ("plan", "app.yaml", "--fleet", "fleet.yaml", "--detail")
    return ("plan", "--stack", "dev", "--detail")


def others(name: str, project: Project) -> tuple[str, ...]:
    copy_examples(project)
    return (
        ("check", "workloads")
        if name == "check"
        else ("explain", "--stack", "dev", "--claim", "default/first-gpu")
    )


@pytest.mark.parametrize("name", ["fits", "does not fit", "cannot tell", "check", "explain"])
def test_html_shows_the_values_of_the_json(name: str, project: Project) -> None:
    words = (others if name in ("check", "explain") else plan)(name, project)
    texts = Texts(project.run(*words, "--format", "html").out).texts
    document = json.loads(project.run(*words, "--format", "json").out)
    shown = {fact: text for text in texts for fact in facts(text)}
    assert len(shown) > 3
    in_json = known(document)
    assert {fact: text for fact, text in shown.items() if fact not in in_json} == {}


@pytest.mark.parametrize("name", ["fits", "does not fit", "cannot tell"])
def test_every_format_starts_with_the_verdict(name: str, project: Project) -> None:
    words = plan(name, project)
    begins = {
        "text": r"\S+ {verdict}: ",
        "markdown": r"<!--[^\n]*-->\n### GPU capacity plan: {verdict}",
        "html": r"<h1.*?{verdict}\s*</h1>",
        "json": r'\s*\{{\s*"version": 1,\s*"verdict": "{dashed}"',
    }
    for form, pattern in begins.items():
        done = project.run(*words, "--format", form)
        assert VERDICTS[Status(done.status)] == name
        wanted = pattern.format(verdict=name, dashed=name.replace(" ", "-"))
        found = re.search(wanted, done.out, re.DOTALL | re.IGNORECASE)
        assert found, (form, done.out[:300])
        if form != "html":
            assert found.start() == 0

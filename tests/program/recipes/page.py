"""The recipes of CONTRIBUTING.md, read from the page: their files and commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from msgspec import Struct

PROJECT = Path(__file__).parents[3]
PYTHON = ".venv/bin/python"


class Recipe(Struct, frozen=True):
    """One section: `paths` are the files and folders that its steps name, with `<…>` for names that
    the reader chooses.

    `commands` are the words after the interpreter, in order. `docs/generate.py` writes the pages
    that its arguments name.
    """

    title: str
    paths: frozenset[str]
    commands: tuple[tuple[str, ...], ...]

    def allows(self, path: str) -> bool:
        """Return whether a step names this file, or the folder that it is in."""
        return any(_pattern(each).fullmatch(path) for each in self.paths)


def _pattern(path: str) -> re.Pattern[str]:
    escaped = re.sub("<.*?>", "[a-z0-9_]+", re.escape(path))
    return re.compile(f"{escaped}.*" if path.endswith("/") else escaped)


def _read(section: str) -> Recipe:
    title, _, text = section.partition("\n")
    steps = " ".join(re.findall(r"^\d\. .*(?:\n   .*)*", text, re.MULTILINE))
    spans = re.findall(r"`([^`]+)`", " ".join(steps.split()))
    commands = tuple(
        tuple(shlex.split(each)[1:]) for each in spans if each.startswith(f"{PYTHON} ")
    )
    generated = {page for words in commands if words[0] == "docs/generate.py" for page in words[1:]}
    paths = {
        each
        for each in spans
        if re.fullmatch(r"[\w.<>-]+(/[\w.<>-]+)*/?", each) and re.search("[/.]", each)
    }
    return Recipe(title, frozenset(paths | generated), commands)


RECIPES = {
    recipe.title: recipe
    for section in re.split(
        r"^## ", (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )[1:]
    for recipe in [_read(section)]
}

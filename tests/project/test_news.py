"""News fragments: towncrier can read each file of changelog.d, and build a section from them."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FRAGMENTS = sorted(path for path in (ROOT / "changelog.d").iterdir() if path.name != ".gitignore")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]


def test_every_fragment_name_has_a_topic_and_a_type() -> None:
    types = "|".join(each["directory"] for each in SETTINGS["type"])
    name = re.compile(rf"\+[a-z0-9-]+\.({types})\.md")
    assert [path.name for path in FRAGMENTS if not name.fullmatch(path.name)] == []


def test_every_fragment_is_one_paragraph() -> None:
    texts = {path.name: path.read_text(encoding="utf-8").strip() for path in FRAGMENTS}
    assert [
        name for name, text in texts.items() if not text.endswith((".", ".)")) or "\n\n" in text
    ] == []


def test_next_section_contains_every_fragment() -> None:
    command = [
        sys.executable,
        "-m",
        "towncrier",
        "build",
        "--draft",
        "--version",
        "9.9.9",
        "--date",
        "2030-01-01",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    shown = " ".join(done.stdout.split())
    assert "9.9.9 (2030-01-01)" in shown
    assert [
        path.name
        for path in FRAGMENTS
        if " ".join(path.read_text("utf-8").split())[:60] not in shown
    ] == []

"""The text of `check`: findings with their fixes, and the sentence for all of them."""

from __future__ import annotations

import os
from pathlib import Path

from command_project import EXAMPLES, Project

GOLDEN = Path(__file__).parents[1] / "golden" / "check.txt"
WRONG = ("at-least-40-gb-with-an-operator.yaml", "tesla-volta.yaml")


def test_text_matches_the_golden_file(project: Project) -> None:
    for name in WRONG:
        text = (EXAMPLES / "workloads-that-do-not-fit" / name).read_text(encoding="utf-8")
        project.write(f"workloads/{name}", text)
    done = project.run("check", "--stack", "dev")
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_text(done.out, encoding="utf-8")
    assert done.out == GOLDEN.read_text(encoding="utf-8")

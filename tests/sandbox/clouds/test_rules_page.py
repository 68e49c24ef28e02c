"""The page of what the simulated clouds refuse: every row is there once, held by a test or said not to be simulated."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "simulated-clouds.md"


def rows() -> list[tuple[int, str, str]]:
    found = re.findall(r"^\| (\d+) \| .+? \| (.+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [(int(number), rule, held) for number, rule, held in found]


def test_every_row_is_there_once_and_says_what_holds_it() -> None:
    assert [number for number, _, _ in rows()] == list(range(1, len(rows()) + 1))
    for number, rule, held in rows():
        assert re.fullmatch(r"`sandbox/clouds/\w+\.py::test_\w+`|not simulated: .+", held), (number, rule)


def test_a_test_that_names_its_row_holds_it() -> None:
    """Tests and cases are called after their rows where a row has one of its own."""
    held = {number: by for number, _, by in rows()}
    for file in Path(__file__).parent.glob("test_*_rules_beside.py"):
        for name in re.findall(r"\b(?:rows?_[\d_and]+|row \d+)", file.read_text(encoding="utf-8")):
            for number in re.findall(r"\d+", name):
                assert file.name in held[int(number)], (file.name, number)

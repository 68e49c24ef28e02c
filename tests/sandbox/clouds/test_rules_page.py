"""The page of errors in the simulated clouds: each row occurs once, and names a test or says that
the error is not simulated.
"""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "simulated-clouds.md"


def rows() -> list[tuple[int, str, str]]:
    found = re.findall(
        r"^\| (\d+) \| .+? \| (.+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return [(int(number), rule, held) for number, rule, held in found]


def test_every_row_is_unique_and_names_its_test() -> None:
    assert [number for number, _, _ in rows()] == list(range(1, len(rows()) + 1))
    for number, rule, held in rows():
        by = r"`sandbox/clouds/\w+\.py::test_\w+`|[^`|]+\. Test of .+: `components/\w+\.py::test_\w+`"
        assert re.fullmatch(by + "|not simulated: .+", held), (number, rule)


def test_every_test_in_a_row_exists() -> None:
    """Rows that were added later, such as 44a, are checked too."""
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE.read_text(encoding="utf-8"))
    files = {
        file: (PAGE.parents[1] / "tests" / file).read_text(encoding="utf-8") for file, _ in named
    }
    assert [name for file, name in named if f"def {name}(" not in files[file]] == []
    assert len(named) > 120


def test_a_test_with_a_row_number_is_listed_in_this_row() -> None:
    """Tests and cases have the number of their row in their name if they test only this row."""
    held = {number: by for number, _, by in rows()}
    for file in Path(__file__).parent.glob("test_*_rules_across_resources.py"):
        for name in re.findall(r"\b(?:rows?_[\d_and]+|row \d+)", file.read_text(encoding="utf-8")):
            for number in re.findall(r"\d+", name):
                assert file.name in held[int(number)], (file.name, number)

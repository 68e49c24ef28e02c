"""Pages and messages that users read don't show the habits of `english_habits`."""

from __future__ import annotations

from pathlib import Path

import pytest

from project.code_sentences import code_sentences
from project.english_habits import HABITS, Habit, Sentence, habits_of, sentences

ROOT = Path(__file__).parents[2]
DOCS = (
    "configuration",
    "glossary",
    "index",
    "portfolio",
    "rehearsal",
    "scope",
    "security",
    "simulation",
    "sizing",
    "traps",
    "upgrading",
    "verify",
)
PAGES = [
    "README.md", "CHANGELOG.md",
    *(f"docs/{name}.md" for name in DOCS),
    *(
        str(path.relative_to(ROOT))
        for folder in ("docs/guide", "docs/operations", "changelog.d")
        for path in sorted(ROOT.glob(f"{folder}/*.md"))
    ),
]  # fmt: skip
PACKAGES = ("planner", "policies", "command", "components", "sandbox", "tutorials")
MOST_SUGGESTIONS = 0.1
"""Share of sentences that may show a suggestion: each is right in some sentences."""


def read(page: str) -> list[Sentence]:
    return sentences((ROOT / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_page_has_no_language_errors(page: str) -> None:
    found = [
        f"{page}:{each.line}: {habit.name}: write {habit.instead}: {each.text}"
        for each in read(page)
        for habit in habits_of(each)
        if habit.is_error
    ]
    assert found == []


def test_pages_have_few_language_suggestions() -> None:
    all_sentences = [each for page in PAGES for each in read(page)]
    suggested = [
        each for each in all_sentences if any(not habit.is_error for habit in habits_of(each))
    ]
    assert len(all_sentences) > 200
    assert len(suggested) <= MOST_SUGGESTIONS * len(all_sentences), [
        each.text for each in suggested
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_strings_of_a_package_have_no_language_errors(package: str) -> None:
    every = [
        (path.relative_to(ROOT), each)
        for path in sorted((ROOT / package).rglob("*.py"))
        for each in code_sentences(path)
    ]
    found = [
        f"{path}:{each.line}: {habit.name}: write {habit.instead}: {each.text}"
        for path, each in every
        for habit in habits_of(each)
        if habit.is_error
    ]
    assert len(every) > 50
    assert found == []


def test_strings_are_sentences_but_docstrings_are_not(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(
        '"""It is told."""\nraise ValueError(f"{name}: the pool" " is `made again` once. Stop it")\n'
    )
    assert list(code_sentences(file)) == [
        Sentence(2, "X: the pool is X once."),
        Sentence(2, "Stop it"),
    ]


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.name)
def test_each_habit_is_found_in_its_example(habit: Habit) -> None:
    assert habit in habits_of(Sentence(1, habit.shown_by))


@pytest.mark.parametrize(
    "text",
    [
        "The change takes effect when the next node starts.",
        "If a price is unknown, the plan minimizes the node count.",
        "A letter stands for each workload.",
        "`check` prints `made again` in code.",
    ],
)
def test_plain_sentences_pass(text: str) -> None:
    assert [habit.name for each in sentences(text) for habit in habits_of(each)] == []


def test_code_blocks_are_not_sentences() -> None:
    assert sentences("Run this command:\n```sh\nit is told alone\n```\n- The plan fits.\n") == [
        Sentence(1, "Run this command:"),
        Sentence(5, "The plan fits."),
    ]

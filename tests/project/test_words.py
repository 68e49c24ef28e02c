"""Names, messages, and documents use the terms of the field, and no words that confuse readers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "planner",
    "policies",
    "components",
    "command",
    "sandbox",
    "tutorials",
    "docs",
    "conformance",
    "tests",
)
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
WORDS = {
    r"mend(s|ed|ing)?": "fix",
    r"remed(y|ies)": "fix",
    r"left over|left_over": "pending",
    r"stand[-_]ins?": "simulated",
    r"plays? no part": "ignored",
    r"kept plan|kept_plan": "saved plan",
    r"(is|are) no (amount|quantity)": "isn't a valid quantity",
    r"less than nothing": "must not be negative",
    r"nobody knows": "unknown",
    r"only the (node|cluster) knows": "known only at run time",
    r"whole numbers?": "integer",
    r"named otherwise": "renamed",
    r"the house": "repository layout",
    r"attempt ends with an error": "scheduling fails with an error",
    r"wants? \d+ (device|pod|node)s?": "requests",
}
"""What is not written → what is."""
_GAP = r"\s+(?:# )?"  # a phrase can continue on the next line
FINDS = [
    (
        re.compile(rf"(?<![A-Za-z])(?:{pattern.replace(' ', _GAP)})(?![A-Za-z])", re.IGNORECASE),
        better,
    )
    for pattern, better in WORDS.items()
]


def files() -> list[Path]:
    found = [ROOT / page for page in PAGES]
    for folder in FOLDERS:
        found += [
            path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".py", ".md")
        ]
    return [path for path in found if path != Path(__file__)]


def faults(text: str) -> list[tuple[int, str, str]]:
    """Return the line number, the word, and the word to use instead, for each fault."""
    return [
        (text.count("\n", 0, match.start()) + 1, match[0], better)
        for pattern, better in FINDS
        for match in pattern.finditer(text)
    ]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("2 pods left over", "pending"),
        ("fix: remedy", "fix"),
        ("left_over: int = 0", "pending"),
        ("nobody\nknows the machine", "unknown"),
        ("we recommend amended rules", ""),
        ("the household", ""),
    ],
)
def test_misused_word_is_found(text: str, word: str) -> None:
    assert [better for _, _, better in faults(text)] == ([word] if word else [])


def test_texts_use_the_glossary() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {found_word!r}: write {word!r}"
        for path in files()
        for line, found_word, word in faults(path.read_text(encoding="utf-8"))
    ]
    assert found == []


BY_HAND = re.compile(
    r"""\{['"](?:e?s)?['"] if .* (?:1|0) else|['"](?:is|are)['"] if [^"']*\b[01] else"""
)
"""An ending, or a verb, that somebody makes agree with a number: `node{'s' if nodes != 1 else
''}`.
"""


def test_plurals_use_the_shared_function() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files()
        if path.suffix == ".py"
        and path.relative_to(ROOT).parts[0] not in ("tests", "conformance", "docs")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if BY_HAND.search(line)
    ]
    assert found == [], "dra_planner.wording has counted, named, noun and verb"

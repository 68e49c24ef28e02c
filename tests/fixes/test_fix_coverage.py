"""Every fix text in the code has a test that follows the fix.

A new fix text needs a case in `cases/`, or a line in `shown_elsewhere.yaml` with the test that
follows it. `tests/policies/test_stack_fixes.py` and the seeded faults in that folder follow the
fixes for stacks, and `test_fixes_of_functions.py` follows the fixes for callers of functions.
Fleets, texts that aren't YAML, rewriting, and messages have their own test files in this folder.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fix_cases import CASES
from fix_texts import ROOT, Sources, pattern_of
from function_fixes import FUNCTIONS
from seeded_stacks import seeded
from stack_fixes import STACK_FIXES
from test_advice import advice
from test_fixes_of_fleets import REFUSED
from test_fixes_of_rewriting import TEXTS as REWRITTEN
from test_fixes_of_texts import TEXTS
from test_seeded_manifests import ROWS as IN_MANIFESTS

HERE = Path(__file__).parent
GUIDES = tuple(
    HERE.parent / "tutorials" / name for name in ("guide_items.yaml", "guide_commands.yaml")
)
SHOWN: dict[str, Any] = yaml.safe_load((HERE / "shown_elsewhere.yaml").read_text(encoding="utf-8"))
_DISTINCTIVE = 12  # characters
_SHORTEST = 5


def test_every_fix_text_has_a_case() -> None:
    sources = Sources()
    texts = sources.collect()
    guides = [
        row["fix"] for file in GUIDES for row in yaml.safe_load(file.read_text(encoding="utf-8"))
    ]
    cases = {case.fix for case in (*CASES, *STACK_FIXES, *FUNCTIONS)}
    rows = {row.follows for row in (*seeded(), *IN_MANIFESTS) if row.follows}
    elsewhere = {text for group in SHOWN["by a test"].values() for text in group}
    in_place = {each.fix for each in REFUSED} | {fix for fix, _, _ in (*TEXTS, *REWRITTEN)}
    no_advice = {text for group in SHOWN["no advice"].values() for text in group}
    not_yet = set(SHOWN["not followed yet"])
    followed = cases | rows | elsewhere | in_place | no_advice | not_yet
    of_guides = {text for text in texts if any(is_part(words, text) for words in guides if words)}
    advised = list(advice())
    of_selectors = {text for text in texts if any(contains_text(each, text) for each in advised)}
    missing = {
        text: place
        for text, place in texts.items()
        if text not in followed | of_guides | of_selectors
    }
    assert missing == {}, "give each a case in tests/fixes/cases"
    assert sorted(followed - set(texts)) == [], "these texts are gone from the code"
    assert not elsewhere & (cases | rows), (
        "these are followed here: take them out of shown_elsewhere.yaml"
    )
    assert sorted(not_yet & (cases | rows | in_place)) == [], (
        "these are followed: take them out of the list"
    )
    assert sources.unresolved == set(SHOWN["written elsewhere"]), (
        "follow them, or say where their texts come from"
    )


def contains_text(advised: str, text: str) -> bool:
    """Return whether the advice about a selector contains a text from the code, with its
    expressions filled in.
    """
    return len(text.strip()) > _SHORTEST and pattern_of(text.strip()).search(advised) is not None


def is_part(words: str, text: str) -> bool:
    """Return whether words of a fix belong to a text in the code, because they contain one of its
    constant parts or are contained in one.
    """
    parts = [part.strip() for part in text.split("{}") if len(part.strip()) >= _DISTINCTIVE]
    return any(part in words or (len(words) >= _DISTINCTIVE and words in part) for part in parts)


@pytest.mark.parametrize("name", SHOWN["by a test"])
def test_that_shows_other_fixes_exists_and_contains_them(name: str) -> None:
    file, _, function = name.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert any(
        isinstance(each, ast.FunctionDef) and each.name == function for each in ast.walk(tree)
    )
    texts = list(literals(tree))
    for fix in SHOWN["by a test"][name]:
        assert any(part in text for part in parts_of(fix) for text in texts), fix


def parts_of(fix: str) -> list[str]:
    """Return the longest part of a fix that never changes, as a list of one."""
    return [max(fix.split("{}"), key=len).strip()]


def literals(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value

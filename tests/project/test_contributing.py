"""Each recipe in CONTRIBUTING.md names its files and its check, and a test in tests/program/recipes
follows it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "program" / "recipes"
sys.path.insert(0, str(TESTS))

from page import RECIPES, Recipe  # noqa: E402  found by the line above


def test_every_recipe_has_a_test() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.glob("test_*.py")]
    assert {
        title for text in texts for title in re.findall(r'follow\("([^"]+)"\)', text)
    } == RECIPES.keys()


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.title)
def test_recipe_names_existing_files_and_a_check(recipe: Recipe) -> None:
    assert recipe.paths
    assert any("pytest" in words for words in recipe.commands)
    for words in recipe.commands:
        named = [word for word in words if word.startswith("tests/") or word.endswith(".py")]
        assert [
            word for word in named if not (ROOT / word).exists() and not recipe.allows(word)
        ] == []


@pytest.mark.parametrize(
    ("path", "is_named"),
    [
        ("policies/dra_policies/rules/cost/too_dear.py", True),
        ("policies/dra_policies/rules/registry.py", True),
        ("policies/dra_policies/rules/cost/deeper/too_dear.py", False),
        ("policies/dra_policies/rules/rule.py", False),
        ("policies/dra_policies/view/prices.py", True),
    ],
)
def test_recipe_allows_only_the_files_that_it_names(path: str, is_named: bool) -> None:
    assert RECIPES["Add a rule"].allows(path) is is_named

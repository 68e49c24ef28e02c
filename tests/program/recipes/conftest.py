"""Modules next to the tests are importable, and each test has its own copy of the tree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from page import RECIPES
from worktree import Worktree


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Callable[[str], Worktree]]:
    """Return a function that copies the tree for the recipe with a title; at the end, only files
    that the recipe names may differ.
    """
    trees = list[Worktree]()

    def make(title: str) -> Worktree:
        trees.append(Worktree.of(RECIPES[title], tmp_path / "tree"))
        return trees[-1]

    yield make
    for tree in trees:
        assert {path for path in tree.changes() if not tree.recipe.allows(path)} == set()

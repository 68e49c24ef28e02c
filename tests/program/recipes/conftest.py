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
    """Return what makes a copy of the tree for the recipe of a title; no other files may differ at
    the end.
    """
    trees = list[Worktree]()

    def make(title: str) -> Worktree:
        trees.append(Worktree.of(RECIPES[title], tmp_path / "tree"))
        return trees[-1]

    yield make
    for tree in trees:
        assert {path for path in tree.changes() if not tree.recipe.allows(path)} == set()

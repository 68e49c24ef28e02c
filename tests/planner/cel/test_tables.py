"""The parser tables in the package match the grammar."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from dra_planner.cel.syntax import grammar
from dra_planner.cel.syntax.builder import TreeBuilder
from dra_planner.cel.syntax.tables import PATH, read_tables


@pytest.fixture(scope="module")
def made() -> str:
    return grammar.make_tables()


def test_tables_match_the_grammar(made: str) -> None:
    assert PATH.read_text(encoding="utf-8") == made, (
        "the grammar or lark has changed: run `make tables`"
    )


def test_tables_do_not_depend_on_the_hash_seed(made: str) -> None:
    code = "from dra_planner.cel.syntax.grammar import make_tables; print(make_tables(), end='')"
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == made


def test_the_digest_covers_the_grammar(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "_OVERRIDES", grammar._OVERRIDES + "\n// another comment\n")
    first, second = (
        re.search(r'"grammar": "(\w+)"', text) for text in (made, grammar.make_tables())
    )
    assert first is not None
    assert second is not None
    assert first[1] != second[1]


def test_every_rule_with_several_values_has_a_callback() -> None:
    rules = {rule for state in read_tables().reduce for rule in state.values()}
    assert not [
        rule.name
        for rule in rules
        if rule.size > 1 and not callable(getattr(TreeBuilder, rule.name, None))
    ]


def test_tables_contain_only_data() -> None:
    written = PATH.read_text(encoding="utf-8")
    assert "%override" not in written
    assert "celpy" not in written

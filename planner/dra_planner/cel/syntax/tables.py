"""The parser's tables, which `grammar` generates. They are stored as data and read once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

PATH: Final = Path(__file__).with_name("tables.json")
END: Final = "$END"
"""The symbol that follows the last word."""


class Production(Struct, frozen=True):
    """A rule: its result symbol, its number of values, and the values that its callback gets.

    `name` is the callback's name, or empty if the rule returns its only value. `taken` are
    positions, or None for a missing part.
    """

    origin: str
    name: str
    size: int
    taken: tuple[int | None, ...]


class Tables(Struct, frozen=True):
    """An LALR(1) automaton and its words.

    For each state, `goto` contains the next state by symbol, and `reduce` contains the rule by the
    kind of the next word. State 0 is the start, and `end` is the state after the whole expression.
    `word` matches one word, and the name of the matching group is its kind. `ignored` are the kinds
    between words, and `kept` are the kinds whose text the callback gets.
    """

    goto: tuple[dict[str, int], ...]
    reduce: tuple[dict[str, Production], ...]
    end: int
    word: re.Pattern[str]
    ignored: frozenset[str]
    kept: frozenset[str]


def read_tables() -> Tables:
    """Read the tables from the package. Raises FileNotFoundError if the installation doesn't
    contain them.
    """
    document: dict[str, Any] = json.loads(PATH.read_bytes())
    rules = [
        Production(origin, name, size, tuple(taken))
        for origin, name, size, taken in document["rules"]
    ]
    return Tables(
        tuple(state["goto"] for state in document["states"]),
        tuple(
            {kind: rules[rule] for rule, kinds in state["reduce"] for kind in kinds.split()}
            for state in document["states"]
        ),
        document["end"],
        re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in document["terminals"])),
        frozenset(document["ignored"]),
        frozenset(document["kept"]),
    )

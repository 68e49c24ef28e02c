"""The parser's tables: made of the grammar by `grammar`, kept as data, read once."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PATH: Final = Path(__file__).with_name("tables.json")
END: Final = "$END"
"""The symbol after the last word."""


@dataclass(frozen=True, slots=True)
class Production:
    """A rule: the symbol that it makes of how many values, and which of them its callback is given.

    `name` is the callback's, empty where the only value is passed on; `taken` are places, None for
    an absent part.
    """

    origin: str
    name: str
    size: int
    taken: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """An LALR(1) automaton and its words.

    By state: `goto` has the next state by symbol, `reduce` the rule by the kind of the next word.
    State 0 is the start, `end` the state in which the whole expression has been read. `word`
    matches one word, whose kind is the name of the group; `ignored` are the kinds between words,
    `kept` those whose string a callback is given.
    """

    goto: tuple[dict[str, int], ...]
    reduce: tuple[dict[str, Production], ...]
    end: int
    word: re.Pattern[str]
    ignored: frozenset[str]
    kept: frozenset[str]


def read_tables() -> Tables:
    """Read the tables from the package. Raises FileNotFoundError where the installation has
    none.
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

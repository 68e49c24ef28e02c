"""Detect common mistakes in texts that aren't CEL expressions, such as syntax of other languages,
and suggest the correct syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from dra_planner.cel.advice.fixes import DOMAIN
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.syntax.builder import ParseError
from dra_planner.cel.syntax.parser import parse
from dra_planner.wording import listed

_MAX_LENGTH: Final = 600
_STRING: Final = r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
_QUOTES: Final = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'"}
)
_AMOUNT: Final = (
    r"(?P<left>[A-Za-z_][\w.]*(?:\[(?:\"[^\"]*\"|'[^']*')\][\w.]*)*)\s*(?P<sign>[<>=!]=|[<>])\s*"
    r"(?P<amount>\d+(?:\.\d+)?(?:[KMGTP]i?|k))\b"
)
_WORDS: Final = {"and": "&&", "or": "||", "not": "!"}


def _outside_strings(
    pattern: str, replacement: str | Callable[[re.Match[str]], str]
) -> Callable[[str], str]:
    """Replace the matches of a pattern outside string literals."""
    both = re.compile(f"({_STRING})|(?:{pattern})", re.DOTALL)

    def fix(text: str) -> str:
        def one(match: re.Match[str]) -> str:
            if match[1] is not None:
                return match[1]
            return replacement if isinstance(replacement, str) else replacement(match)

        return both.sub(one, text)

    return fix


def _unbalanced(text: str) -> int:
    bare = re.sub(_STRING, "", text, flags=re.DOTALL)
    return bare.count("(") - bare.count(")")


def _close(text: str) -> str:
    missing = _unbalanced(text)
    return text + ")" * missing if missing > 0 else text


def _drop(text: str) -> str:
    while _unbalanced(text) < 0 and text.rstrip().endswith(")"):
        text = text.rstrip()[:-1].rstrip()
    return text


def _word(match: re.Match[str]) -> str:
    operator = _WORDS[match[0].strip().lower()]
    return operator if operator == "!" else operator + " "


def _amount(match: re.Match[str]) -> str:
    left = match["left"].replace("device.attributes[", "device.capacity[")
    return f'{left}.compareTo(quantity("{match["amount"]}")) {match["sign"]} 0'


_SLIPS: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("strings need straight quotes (\" or ')", lambda text: text.translate(_QUOTES)),
    (
        "the operators are >= and <=",
        _outside_strings(r"=([<>])(?!=)", lambda match: match[2] + "="),
    ),
    ("the equality operator in CEL is ==", _outside_strings(r"(?<![=!<>])={1,3}(?!=)", "==")),
    ("the inequality operator in CEL is !=", _outside_strings(r"!==|<>", "!=")),
    (
        "the operators are &&, ||, and !",
        _outside_strings(r"\b(?:and|or|not|AND|OR|NOT)\b(?!\s*\()\s?", lambda m: _word(m)),
    ),
    (
        "the operators are &&, ||, and !",
        _outside_strings(r"(?<![.\w])(?:and|or|not|AND|OR|NOT)\b\s?", _word),
    ),
    ('the operator for "and" is &&', _outside_strings(r"(?<!&)&(?!&)", "&&")),
    ('the operator for "or" is ||', _outside_strings(r"(?<!\|)\|(?!\|)", "||")),
    (
        "amounts are in device.capacity and need a comparison with quantity(…)",
        _outside_strings(_AMOUNT, lambda m: _amount(m)),
    ),
    ("every ( needs a )", _close),
    ("every ) needs a (", _drop),
)


def advise(text: str, dialect: Dialect) -> str | None:
    """Return the problem with a text that isn't an expression, and if possible the correct
    expression.
    """
    if not text.strip():
        return f'set a condition, for example device.driver == "{DOMAIN}"'
    reasons: list[str] = []
    fixed = text
    for reason, fix in _slips(text):
        changed = fix(fixed)
        if changed != fixed:
            fixed = changed
            reasons += [reason] * (reason not in reasons)
            if _is_expression(fixed, dialect):
                return f"use {fixed}, because {listed(reasons)}"
    if not reasons and _ends_early(text, dialect):
        return "complete the expression"
    return "; ".join(reasons) or None


def _slips(text: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    if len(text) <= _MAX_LENGTH:
        yield from _SLIPS


def _ends_early(text: str, dialect: Dialect) -> bool:
    try:
        parse(text, dialect)
    except ParseError as error:
        return "'<EOF>'" in error.message
    return False


def _is_expression(text: str, dialect: Dialect) -> bool:
    try:
        parse(text, dialect)
    except ParseError:
        return False
    return True

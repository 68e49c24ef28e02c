"""Suggestions for unknown words on the command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_CHOICE: Final = re.compile(
    r"argument (?P<where>[^:]+): invalid choice: '(?P<word>[^']*)' \(choose from (?P<of>.*)\)"
)


def near(word: str, known: Iterable[str]) -> str:
    """Return the most similar known word, or "" if none is similar."""
    return next(iter(get_close_matches(word, list(known), n=1, cutoff=0.75)), "")


def fix_of(message: str, program: str) -> str:
    """Return the fix for an argparse error: the suggested word, or a pointer to the help."""
    match = _CHOICE.match(message)
    suggestion = (
        near(match["word"], re.findall(r"[\w.-]+", match["of"])) if match is not None else ""
    )
    if match is None or not suggestion:
        return f"see `{program} --help`"
    return f"did you mean `{_written(match['where'], suggestion)}`?"


def fix_of_option(word: str, parser: argparse.ArgumentParser) -> str:
    """Return the fix for an option that a subcommand doesn't have."""
    if parser.prog.endswith(" plan") and word.partition("=")[0] == "--what-if":
        return "use --matrix, or `pulumi-dra explain` with --what-if"
    known = [option for action in parser._actions for option in action.option_strings]
    suggestion = near(word.partition("=")[0], known)
    return f"did you mean `{suggestion}`?" if suggestion else f"see `{parser.prog} --help`"


def _written(where: str, suggestion: str) -> str:
    return (
        f"{where} {suggestion}"
        if where.startswith("-")
        else f"pulumi-dra {suggestion}"
        if where == "COMMAND"
        else suggestion
    )

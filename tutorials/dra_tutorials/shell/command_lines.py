"""Parse shell commands, in the forms that occur in guides, into program, words, and options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from dra_planner.manifests.setup.command_rows import CommandLine

_SEPARATORS: Final = frozenset({"|", "||", "&&", ";", "&"})
_BEFORE: Final = frozenset({"sudo", "time", "exec", "command", "nohup", "then", "do", "else", "!"})
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=.*")
_ALONE: Final = frozenset(
    {
        "--wait",
        "--create-namespace",
        "--generate-name",
        "--install",
        "--atomic",
        "--debug",
        "--devel",
        "-i",
        "-g",
        "--reuse-values",
        "--reset-values",
        "--force",
        "--skip-crds",
        "--wait-for-jobs",
        "--managed",
        "--spot",
        "--skip-gpu-driver-install",
        "--enable-auto-mode",
        "--enable-autoscaling",
        "--enable-cluster-autoscaler",
        "--enable-autoprovisioning",
        "--enable-managed-gpu",
        "--dry-run",
        "--quiet",
        "-q",
        "--no-wait",
    }
)
"""Options without a value. The word after such an option is a separate argument."""
_SEVERAL: Final = frozenset({"az", "aws"})
"""Programs whose options can have several values."""


def read_command_lines(text: str) -> Iterator[CommandLine]:
    """Yield the commands of a line, separated at pipes, `&&`, and similar operators. If a quote
    isn't closed, yield nothing.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return
    command: list[str] = []
    for token in [*tokens, ";"]:
        if token not in _SEPARATORS:
            command.append(token)
            continue
        if found := _read(command):
            yield found
        command = []


def _read(tokens: list[str]) -> CommandLine | None:
    while tokens and (tokens[0] in _BEFORE or _ASSIGNMENT.fullmatch(tokens[0])):
        tokens = tokens[1:]
    if not tokens:
        return None
    program, *rest = tokens
    words: list[str] = []
    options: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(rest):
        token = rest[at]
        at += 1
        if token.startswith("#"):
            break
        if not token.startswith("-") or token == "-":
            words.append(token)
            continue
        name, equals, value = token.partition("=")
        values = [value]
        if not equals and name not in _ALONE:
            most = len(rest) if program in _SEVERAL else at + 1
            values = list(takewhile(lambda each: not each.startswith("-"), rest[at:most])) or [""]
            at += len(values) if values != [""] else 0
        options[name] = (*options.get(name, ()), *values)
    if words[:1] in (["alpha"], ["beta"]):
        del words[0]
    return CommandLine(program=program.rpartition("/")[2], words=tuple(words), options=options)

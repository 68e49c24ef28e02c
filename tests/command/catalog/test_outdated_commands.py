"""The commands that `catalog outdated` names."""

from __future__ import annotations

import shlex

import pytest

from dra_command.command_line.arguments import build_parser
from dra_planner.catalog.dated_facts import dated_facts

COMMANDS = [
    each.verify.strip("`") for each in dated_facts() if each.verify.startswith("`pulumi-dra ")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_suggested_command_exists(command: str) -> None:
    """The parser exits with an error for an unknown subcommand or option."""
    subcommand = shlex.split(command)[1]
    assert build_parser().parse_args(shlex.split(command)[1:]).command == subcommand


def test_some_facts_suggest_a_command() -> None:
    assert COMMANDS

"""The options of `completion`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_choice


def add_options(parser: argparse.ArgumentParser) -> None:
    add_choice(parser, "shell", ("bash", "zsh", "fish"), "shell to generate the script for")

"""Help teaches, and costs next to nothing."""

from __future__ import annotations

import subprocess

import pytest
from command_project import Project

from dra_command.arguments import COMMANDS


def test_help_lists_every_subcommand(project: Project) -> None:
    done = project.run("--help")
    assert (done.status, done.err) == (0, "")
    assert all(f"    {name} " in done.out for name in COMMANDS)
    assert "exit status" in done.out
    assert project.run().out == done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_subcommand_shows_examples(command: str, project: Project) -> None:
    done = project.run(command, "--help")
    assert done.status == 0
    assert f"pulumi-dra {command}" in done.out
    assert "examples:" in done.out


def test_the_version(project: Project) -> None:
    assert project.run("--version").out.startswith("pulumi-dra ")


def test_help_loads_nothing_heavy(project: Project) -> None:
    code = (
        "import sys; from dra_command.__main__ import main; main(['plan', '--help']);"
        "print(sorted({'pydantic', 'lark', 'yaml', 'rich', 'highspy', 'pulumi'} & set(sys.modules)))"
    )
    import sys

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.root, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"

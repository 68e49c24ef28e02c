"""`pulumi-dra completion`: print a script with which a shell completes the command's words."""

from __future__ import annotations

import argparse
from typing import Any, Final

import shtab

from dra_command.command_line.arguments import build_parser
from dra_command.command_line.exit_status import Status
from dra_policies.rules import RULES

_FILES: Final = ("FILE", "PATH", "FOLDER", "GLOB")
_STACKS: Final = {
    "bash": """\
_pulumi_dra_stacks() {
  local file
  for file in stacks/Pulumi.*.yaml; do
    [ -e "$file" ] && file=${file#stacks/Pulumi.} && compgen -W "${file%.yaml}" -- "$1"
  done
}
""",
    "zsh": """\
_pulumi_dra_stacks() {
  local -a files=(stacks/Pulumi.*.yaml(N:t:r))
  compadd -- ${files#Pulumi.}
}
""",
    "fish": """\
function _pulumi_dra_stacks
  for file in stacks/Pulumi.*.yaml
    string replace -r 'stacks/Pulumi\\.(.*)\\.yaml' '$1' -- $file
  end
end
""",
}


def run(values: argparse.Namespace) -> int:
    """Print the script for a shell."""
    parser = build_parser()
    rules = " ".join(rule.id for rule in RULES)
    for command in _subcommands(parser):
        for action in command._actions:
            _complete(action, shtab.FILE)
    preamble = {
        "bash": f'{_STACKS["bash"]}_pulumi_dra_rules() {{ compgen -W "{rules}" -- "$1"; }}\n',
        "zsh": f"{_STACKS['zsh']}_pulumi_dra_rules() {{ compadd -- {rules} }}\n",
        "fish": f"{_STACKS['fish']}function _pulumi_dra_rules; string split ' ' -- '{rules}'; "
        "end\n",
    }
    print(shtab.complete(parser, shell=values.shell, preamble=preamble[values.shell]))
    return Status.FITS


def _subcommands(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    return list(commands.choices.values())


def _complete(action: Any, files: object) -> None:
    """Return how to complete a value: rules and stacks by name, and paths as files."""
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if action.choices or action.nargs == 0:
        return
    if metavar.startswith("RULE"):
        action.complete = _by_function("_pulumi_dra_rules")
    elif metavar == "NAME" and "--stack" in action.option_strings:
        action.complete = _by_function("_pulumi_dra_stacks")
    elif metavar.startswith(_FILES):
        action.complete = files


def _by_function(name: str) -> dict[str, str]:
    return {"bash": name, "zsh": name, "fish": f"({name})"}

"""The subcommands, in the order of `--help`, and what each says."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from importlib import import_module
from typing import Any, Final

from dra_command.command_line.examples import EXAMPLES, EXIT_STATUS, EXIT_STATUSES

_SAYS: Final = {
    "plan": "whether the workloads fit, and how many nodes that takes",
    "check": "which rules the manifests break, and the pools when given",
    "explain": "why a claim or a pod fits, what a pool is for, what a finding means",
    "slices": "what a node will publish, as ResourceSlices",
    "catalog": "what is known of machines, GPUs, drivers and releases",
    "verify": "whether the nodes of a cluster are as predicted",
    "sandbox": "how a stack behaves, rehearsed here without a cloud",
    "rehearse": "what the real scheduler does with the workloads on the planned nodes",
    "suggest": "which machines to buy for workloads, as a fleet document",
    "init": "what to start from, and write it: a fleet, a first workload, a CI file",
    "portfolio": "how many stacks fare in many scenarios",
    "migrate": "how to move workloads from device plugins to claims",
    "mcp": "the same answers to agents, over the Model Context Protocol",
    "completion": "how a shell completes the words of this command, as a script",
}


def add_subcommands(commands: Any, words: Collection[str] | None = None) -> None:
    """Add every subcommand; with their options those that the words name, or all of them."""
    for name, says in _SAYS.items():
        parser = commands.add_parser(
            name,
            help=says,
            description=f"Say {says}.",
            epilog=f"{EXAMPLES[name]}\n{EXIT_STATUSES.get(name, EXIT_STATUS)}",
            formatter_class=_Folded,
        )
        if words is None or name in words:
            import_module(f"dra_command.{name}.options").add_options(parser)


class _Folded(argparse.RawDescriptionHelpFormatter):
    """Folds options that exclude each other too, which argparse leaves in one line of the usage."""

    def _format_usage(self, *given: Any) -> str:
        return "\n".join(map(self._folded, super()._format_usage(*given).split("\n")))

    def _folded(self, line: str) -> str:
        indent = " " * (len(line) - len(line.lstrip()))
        folded = ""
        while len(line) > self._width and " | " in line[: self._width]:
            cut = line.rindex(" | ", 0, self._width)
            folded, line = f"{folded}{line[:cut]}\n", f"{indent} {line[cut + 1 :]}"
        return folded + line

"""The subcommands, in the order of `--help`, with their summaries."""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib import import_module
from typing import Any, Final

from dra_command.command_line.examples import EXAMPLES, EXIT_STATUS, EXIT_STATUSES
from dra_command.command_line.help_format import HelpFormat

_SUMMARIES: Final = {
    "plan": "Size pools for workloads, or report why they don't fit",
    "diff": "Compare two fleets, plans, stacks, or git refs",
    "check": "Check manifests and pools for errors",
    "rules": "Test custom rules, or print the objects that they read",
    "explain": "Explain a claim, a pod, a pool, a finding, or an error message",
    "slices": "Print the ResourceSlices that a node will publish",
    "catalog": "List known machine types, GPUs, drivers, and Kubernetes versions",
    "verify": "Compare a cluster's nodes with the plan",
    "sandbox": "Run a stack on simulated clouds",
    "rehearse": "Run a plan on a real kube-scheduler on this machine",
    "suggest": "Find the cheapest machine types for workloads, as a fleet file",
    "init": "Create a fleet or a whole stack, a sample workload, and a CI workflow",
    "export": "Export a fleet's pools to Karpenter, Terraform, Cluster API, or eksctl",
    "ci": "Plan and check in a pipeline, and comment on the change",
    "portfolio": "Plan many stacks in many scenarios",
    "migrate": "Rewrite device plugin requests as claims",
    "mcp": "Make the commands available to AI agents (MCP)",
    "completion": "Generate a shell completion script",
}

_NARROW: Final = 58  # characters of a line that has room for options after the command's name
_MARGIN: Final = " " * len("usage: ")
_DEEP_MARGIN: Final = re.compile(rf"(?m)^{_MARGIN} +")


def add_subcommands(commands: Any, words: Collection[str] | None = None) -> None:
    """Add all subcommands. Those among `words` get their options; if `words` is None, all
    get them.
    """
    for name, summary in _SUMMARIES.items():
        parser = commands.add_parser(
            name,
            help=summary,
            description=f"{summary}.",
            epilog=f"{EXAMPLES[name]}\n{EXIT_STATUSES.get(name, EXIT_STATUS)}",
            formatter_class=_Folded,
        )
        if words is None or name in words:
            import_module(f"dra_command.{name}.options").add_options(parser)


class _Folded(HelpFormat):
    """Wraps mutually exclusive options and long lists of choices in the usage, which argparse
    leaves in one line.
    """

    def _format_usage(self, *given: Any) -> str:
        usage = super()._format_usage(*given)
        if self._width < _NARROW:
            usage = _DEEP_MARGIN.sub(_MARGIN, usage)
        return "\n".join(map(self._folded, usage.split("\n")))

    def _folded(self, line: str) -> str:
        indent = " " * (len(line) - len(line.lstrip()))
        folded = ""
        while len(line) > self._width:
            between = line.rfind(" | ", 0, self._width)
            cut = between if between >= 0 else line.rfind(",", 0, self._width) + 1
            if cut <= len(indent):
                break
            folded, line = f"{folded}{line[:cut]}\n", f"{indent} {line[cut:].lstrip()}"
        return folded + line

"""`pulumi-dra mcp`: provide the commands to agents over standard input and output (Model Context
Protocol).
"""

from __future__ import annotations

import argparse
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.installation import extra_command


def run(values: argparse.Namespace) -> int:
    """Serve until the client closes standard input. Raises UsageError without the extra `mcp` or
    the folder.
    """
    if find_spec("mcp") is None:
        raise UsageError(
            "the MCP server needs the Python package mcp, which isn't installed",
            fix=f"run {extra_command('mcp')}",
        )
    root = Path(values.root)
    if not root.is_dir():
        raise UsageError(
            f"{root} isn't a folder", fix="set --root to the folder of your manifests and fleets"
        )
    from dra_command.mcp.server import make_server  # the extra

    make_server(root.resolve(), version("pulumi-dra")).run("stdio")
    return Status.FITS

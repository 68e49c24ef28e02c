"""`python -m dra_sandbox tools | demo`: what the sandbox can do from a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command of the sandbox; 0 when it went well, 1 when a step did not behave, 2 for wrong input."""
    parser = argparse.ArgumentParser(
        prog="python -m dra_sandbox",
        description="Rehearse a stack here: the real Pulumi engine, with stand-in clouds.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("tools", help="find or build the tools the sandbox needs, and print where they are")
    given = parser.parse_args(argv)
    return _tools()


def _tools() -> int:
    from dra_sandbox.tools import ToolUnavailable, find_pulumi

    try:
        pulumi = find_pulumi()
    except ToolUnavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"pulumi {pulumi.version}  {pulumi.binary}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

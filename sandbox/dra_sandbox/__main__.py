"""`python -m dra_sandbox tools | demo`: what the sandbox can do from a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command of the sandbox; 0 when it went well, 1 when a step did not behave, 2 for wrong input."""
    parser = argparse.ArgumentParser(
        prog="python -m dra_sandbox",
        description="Rehearse a stack here: the real Pulumi engine, with stand-in clouds.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("tools", help="find or build the tools the sandbox needs, and print where they are")
    demo = commands.add_parser("demo", help="run the main job from end to end and check every step")
    demo.add_argument("--stack", default="eks-dev", help="a stack of the project (default: %(default)s)")
    demo.add_argument(
        "--project", type=Path, default=Path.cwd(), help="the folder of Pulumi.yaml (default: the current one)"
    )
    demo.add_argument("--work-dir", type=Path, help="where to keep backend and logs (default: a temporary folder)")
    given = parser.parse_args(argv)
    if given.command == "demo" and not (given.project / "Pulumi.yaml").is_file():
        parser.error(f"there is no Pulumi.yaml in {given.project}: run it in the project's folder, or give --project")
    from dra_sandbox.cache import CacheUnusable
    from dra_sandbox.tools import ToolUnavailable

    try:
        return _tools() if given.command == "tools" else _demo(given)
    except (CacheUnusable, ToolUnavailable) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _tools() -> int:
    from dra_sandbox.tools import find_pulumi

    pulumi = find_pulumi()
    print(f"pulumi {pulumi.version}  {pulumi.binary}")
    return 0


def _demo(given: argparse.Namespace) -> int:
    from dra_sandbox.demo import run_demo

    return run_demo(given.project.absolute(), given.stack, given.work_dir)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

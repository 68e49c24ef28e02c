"""The commands of the sandbox: `python -m dra_sandbox up | plan | down | demo | tools`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command of the sandbox. Return 0 on success, 1 if a step fails, and 2 if the input is
    invalid.
    """
    given = _parser().parse_args(argv)
    if "project" in given:
        if not (given.project / "Pulumi.yaml").is_file():
            where = "here" if given.project == Path() else f"in {given.project}"
            problem = (
                f"Pulumi.yaml isn't {where}; run this command in the project folder, or use "
                "--project"
            )
            print(f"pulumi-dra sandbox: {problem}", file=sys.stderr)
            return 2
        given.project = given.project.absolute()
    from dra_sandbox.cache import CacheUnusable
    from dra_sandbox.tools import ToolUnavailable

    try:
        match given.command:
            case "tools":
                return _tools(given)
            case "demo":
                return _demo(given)
            case _:
                return _rehearse(given)
    except (CacheUnusable, ToolUnavailable) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _lines(text: str) -> int:
    """Parse a number of lines. Raises ArgumentTypeError if the text isn't one."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} isn't a number of lines")
    return int(text)


class _Parser(argparse.ArgumentParser):
    """Argument parser that reports an error in one line and refers to the help."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pulumi-dra sandbox",
        description="Run a stack on this machine with the real Pulumi engine and simulated clouds.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    project = _Parser(add_help=False)
    project.add_argument(
        "--project",
        type=Path,
        default=Path(),
        help="folder that contains Pulumi.yaml [default: the current folder]",
    )
    kept = _Parser(add_help=False, parents=[project])
    kept.add_argument("--stack", help="stack to use [default: the project's only stack]")
    kept.add_argument(
        "--folder", type=Path, help="folder for the stack's state [default: in the per-user cache]"
    )
    _add_up_options(
        commands.add_parser(
            "up", parents=[kept], help="create or update a stack, and check it with the policy pack"
        )
    )
    commands.add_parser(
        "status",
        parents=[kept],
        help="print the running stacks, and how to connect to them with kubectl",
    )
    _add_logs_options(
        commands.add_parser(
            "logs", parents=[kept], help="print the logs of a stack's control plane"
        )
    )
    commands.add_parser(
        "plan", parents=[kept], aliases=["preview"], help="preview the changes of `up`"
    )
    _add_down_options(
        commands.add_parser(
            "down", parents=[kept], help="delete a stack [default: all stacks of the project]"
        )
    )
    demo = commands.add_parser(
        "demo", parents=[project], help="run the main workflow and check every step"
    )
    demo.add_argument(
        "--stack", default="eks-dev", help="stack to run the workflow with [default: %(default)s]"
    )
    demo.add_argument(
        "--work-dir", type=Path, help="folder for backend and logs [default: a temporary folder]"
    )
    _add_tools_options(
        commands.add_parser(
            "tools", help="find or build the sandbox's tools, and print their paths"
        )
    )
    return parser


def _add_up_options(up: _Parser) -> None:
    up.add_argument(
        "--control-plane",
        action="store_true",
        help="use a real control plane with the plan's nodes as the stack's cluster",
    )
    up.add_argument(
        "--kubernetes",
        metavar="VERSION",
        default="",
        help="Kubernetes version of the control plane [default: the fleet's version]",
    )
    up.add_argument(
        "--charts",
        type=Path,
        metavar="FOLDER",
        help="folder with charts (NAME-VERSION or NAME-VERSION.tgz) that Helm installs on the "
        "control plane instead of the published charts",
    )


def _add_logs_options(logs: _Parser) -> None:
    logs.add_argument(
        "component", nargs="?", default="", help="etcd, kube-apiserver, … [default: all]"
    )
    logs.add_argument(
        "--lines",
        type=_lines,
        default=20,
        metavar="N",
        help="number of lines per program [default: %(default)s]",
    )


def _add_down_options(down: _Parser) -> None:
    down.add_argument(
        "--force",
        action="store_true",
        help="delete the stack without Pulumi, including protected resources",
    )


def _add_tools_options(tools: _Parser) -> None:
    which = tools.add_mutually_exclusive_group()
    which.add_argument(
        "--kubernetes",
        metavar="VERSION",
        help="find or build the tools for a control plane with only this Kubernetes version, "
        "for example 1.36",
    )
    which.add_argument(
        "--helm",
        action="store_true",
        help="find or build only Helm, which installs charts on a control plane",
    )


def _rehearse(given: argparse.Namespace) -> int:
    import yaml
    from rich.console import Console

    from dra_planner.errors import PlannerError
    from dra_sandbox.control_plane import ApiRejection, ControlPlaneError
    from dra_sandbox.engine import EngineError
    from dra_sandbox.persistent_stacks import KeptStacks, StackRefused, chosen_stack, stacks_folder

    if message := _wrong_options(given):
        print(f"error: {message}", file=sys.stderr)
        return 2
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    try:
        folder = given.folder.absolute() if given.folder else stacks_folder(given.project)
        stacks = KeptStacks(
            given.project, folder, console, getattr(given, "kubernetes", ""), *_helm(given)
        )
        if given.command == "down":
            return int(not stacks.down(given.stack, force=given.force))
        if given.command == "status":
            stacks.status()
            return 0
        settings = yaml.safe_load((given.project / "Pulumi.yaml").read_text(encoding="utf-8")) or {}
        stack = chosen_stack(given.project, settings.get("stackConfigDir") or "", given.stack)
        if given.command == "logs":
            stacks.logs(stack, given.component, given.lines)
            return 0
        if given.command == "up":
            return int(not stacks.up(stack, on_control_plane=given.control_plane))
        return int(not stacks.plan(stack))
    except (StackRefused, PlannerError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (EngineError, ControlPlaneError, ApiRejection) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _wrong_options(given: argparse.Namespace) -> str:
    """Return the problem with the options of `up`, or an empty text."""
    if given.command != "up":
        return ""
    for option, value in (("--charts", given.charts), ("--kubernetes", given.kubernetes)):
        if value and not given.control_plane:
            return (
                f"{option} needs --control-plane, because otherwise the sandbox doesn't have "
                "an API server"
            )
    if given.charts is None or given.charts.is_dir():
        return ""
    return f"--charts: {given.charts} isn't a folder"


def _helm(given: argparse.Namespace) -> tuple[Path | None, Path | None]:
    """Return Helm and the chart folder for `up`. If the user passes charts, Helm is built if
    necessary. Otherwise, an existing Helm is used.
    """
    from dra_sandbox.tools.helm import find_helm, helm_at_hand

    charts: Path | None = getattr(given, "charts", None)
    if given.command != "up":
        return (helm_at_hand() if given.command == "down" else None), None
    return (find_helm(), charts.absolute()) if charts else (helm_at_hand(), None)


def _tools(given: argparse.Namespace) -> int:
    if given.kubernetes:
        from dra_planner.errors import PlannerError
        from dra_planner.releases import parse_version
        from dra_sandbox.tools.kubernetes import find_binaries

        try:
            binaries = find_binaries(parse_version(given.kubernetes))
        except PlannerError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        print(f"kubernetes {binaries.version}")
        for name, path in binaries.paths.items():
            print(f"{name}  {path}")
        return 0
    if given.helm:
        from dra_sandbox.tools.helm import HELM, find_helm

        print(f"{HELM.name}  {find_helm()}")
        return 0
    from dra_sandbox.tools import find_pulumi

    pulumi = find_pulumi()
    print(f"pulumi {pulumi.version}  {pulumi.binary}")
    return 0


def _demo(given: argparse.Namespace) -> int:
    from dra_sandbox.demo import run_demo

    return run_demo(given.project, given.stack, given.work_dir)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

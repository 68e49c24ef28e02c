"""Options that several subcommands share: their inputs and output formats."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from dra_planner.documents.snapshot import READER_ROLE

CONTEXT: Final = "context:"
_MOST_FORMATS: Final = 6  # as choices in the usage line, which is then narrow enough


def add_paths(parser: argparse.ArgumentParser, *, of_a_stack: bool = True) -> None:
    default = " [default with --stack: the stack's workloads]" if of_a_stack else ""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help=f"file, folder, chart, kustomization, glob, or - for standard input{default}",
    )
    parser.add_argument(
        "-f",
        "--values",
        metavar="FILE",
        dest="values_files",
        action="append",
        default=[],
        help="chart values",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        dest="set_values",
        action="append",
        default=[],
        help="one chart value",
    )
    parser.add_argument(
        "--show-rendered",
        action="store_true",
        help="print the rendered manifests to standard error",
    )


def add_fleet(parser: argparse.ArgumentParser) -> None:
    pools = parser.add_mutually_exclusive_group()
    pools.add_argument(
        "--fleet", metavar="FILE", help="fleet file with cluster, pools, and drivers"
    )
    pools.add_argument(
        "--stack", metavar="NAME", help="read fleet and workloads from stacks/Pulumi.NAME.yaml"
    )


def add_capacity(parser: argparse.ArgumentParser, *, growing: bool = False) -> None:
    capacity = parser.add_mutually_exclusive_group()
    capacity.add_argument(
        "--fleet", metavar="FILE", help="fleet file with cluster, pools, and drivers"
    )
    several = "; multiple stacks (comma-separated) require --format markdown" if growing else ""
    capacity.add_argument(
        "--stack",
        metavar="NAME",
        action=Listed,
        help=f"stack of this project: stacks/Pulumi.NAME.yaml{several}",
    )
    (parser if growing else capacity).add_argument(
        "--observed",
        metavar="FILE",
        help="cluster snapshot (kubectl get nodes,resourceslices,… -A -o json)"
        + ("; with a fleet or stack, report the additional nodes per pool" if growing else ""),
    )
    add_cluster(parser if growing else capacity, parser)
    parser.add_argument(
        "--kubernetes",
        metavar="VERSION",
        help="Kubernetes version, for example 1.36 [default: the version of the fleet or "
        "cluster; otherwise the newest known version]",
    )


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add the option for a configuration: rules, exemptions, shared fleets, and catalog files."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        default="",
        help="configuration file [default: the nearest pulumi-dra.yaml, from PATH upward]",
    )


def add_demand(parser: argparse.ArgumentParser, *, saved: bool = False) -> None:
    """Add --demand. With `saved`, it's None by default, so that a saved plan can set it."""
    parser.add_argument(
        "--demand",
        choices=("floor", "steady", "ceiling", "peak"),
        default=None if saved else "steady",
        help="demand to size for: minimum replicas (floor), declared replicas (steady), "
        "autoscaler maximum (ceiling), or autoscaler maximum plus rollout surge (peak) "
        f"[default: {'the demand of the saved plan, otherwise ' if saved else ''}steady]",
    )


def add_cluster(
    sources: argparse._ActionsContainer, parser: argparse.ArgumentParser, role: str = READER_ROLE
) -> None:
    """Add the options that read a running cluster with kubectl; `sources` contains the options for
    other snapshots. `role` is the manifest of the role that reading needs.
    """
    sources.add_argument(
        "--context",
        metavar="NAME",
        dest="observed",
        type=context_of,
        help="read the running cluster in this kubectl context instead of a snapshot (read-only)",
    )
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        action=_Kubeconfig,
        default="",
        help="kubeconfig to use [default: the file that kubectl uses]; without --context, the "
        "command reads the kubeconfig's current context",
    )
    parser.add_argument(
        "--role",
        action=_Role,
        role=role,
        help="print the least-privilege role for --context, and exit",
    )


def context_of(name: str) -> str:
    """Return the value that represents a kubectl context where a snapshot file is expected."""
    return f"{CONTEXT}{name}"


class _Kubeconfig(argparse.Action):
    """Stores the file, and selects its current context unless the user names another cluster or a
    snapshot.
    """

    def __call__(
        self, parser: object, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        namespace.kubeconfig = values
        namespace.observed = getattr(namespace, "observed", None) or CONTEXT


class _Role(argparse.Action):
    """Prints the role that reading a cluster needs."""

    def __init__(self, option_strings: Sequence[str], dest: str, role: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, **options)
        self._role = role

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(self._role, end="")
        parser.exit()


def add_answer(parser: argparse.ArgumentParser, formats: Sequence[str], limits: str = "") -> None:
    """Add the options of the answer. `limits` are words for --help about some of the formats."""
    has_many = len(formats) > _MOST_FORMATS
    choices = f"{', '.join(formats)}; " if has_many else ""
    parser.add_argument(
        "--format",
        choices=formats,
        default="text",
        metavar="FORMAT" if has_many else None,
        help=f"{limits}{choices}default: %(default)s",
    )
    parser.add_argument(
        "--allow-unknown", action="store_true", help='exit with 0 if the verdict is "cannot tell"'
    )
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument(
        "-q", "--quiet", action="store_true", help="print only the verdict and the problems"
    )
    loudness.add_argument(
        "-v", "--verbose", action="store_true", help="print all assumptions and reasons"
    )


def add_watch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch",
        action="store_true",
        help="run again whenever a file changes (needs the watch extra)",
    )


def add_choice(
    parser: argparse.ArgumentParser, name: str, choices: Sequence[str], description: str
) -> None:
    """Add an argument whose possible values describe it, also in errors."""
    parser.add_argument(name, choices=choices, metavar=f"{{{','.join(choices)}}}", help=description)


class Listed(argparse.Action):
    """Values of an option that can be given several times, or with commas between its values."""

    def __call__(
        self,
        parser: object,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = getattr(namespace, self.dest)
        setattr(namespace, self.dest, f"{given},{values}" if given else values)

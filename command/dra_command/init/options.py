"""The options of `init`."""

from __future__ import annotations

import argparse

from dra_command.command_line.shared_options import add_cluster

DEFAULT_CI = "github"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        default=".",
        help="folder to write to [default: the current folder]",
    )
    parser.add_argument(
        "--stack",
        metavar="NAME",
        default="",
        help="write a Pulumi project with this stack: settings, program, policy pack, plan, and CI "
        "workflow",
    )
    parser.add_argument(
        "--region",
        metavar="REGION",
        default="",
        help="region of a new cluster; with --state or --from, only needed if the file doesn't "
        "contain a region",
    )
    _add_sources(parser)
    _add_generated(parser)


def _add_sources(parser: argparse.ArgumentParser) -> None:
    """Add the options that set the source of the fleet, and the workloads to plan."""
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--observed",
        metavar="FILE",
        default="",
        help="start from the GPU nodes in a cluster snapshot",
    )
    add_cluster(start, parser)
    start.add_argument(
        "--state",
        metavar="FILE",
        default="",
        help="start from the pools in a Pulumi stack's state",
    )
    start.add_argument(
        "--from",
        "--fleet",
        dest="other_tool",
        metavar="FILE",
        default="",
        help="start from the output of `terraform show -json`, an eksctl file, Karpenter "
        "NodePools, Cluster API pools, or a folder with these files; with --stack, also from a "
        "fleet file",
    )
    parser.add_argument(
        "--cluster",
        metavar="NAME",
        default="",
        help="cluster to use if the --from file describes multiple clusters",
    )
    parser.add_argument(
        "--workloads",
        metavar="PATH",
        action="append",
        default=[],
        help="manifests to plan for; repeatable [default: write a sample workload]",
    )


def _add_generated(parser: argparse.ArgumentParser) -> None:
    """Add the options of the generated fleet and files."""
    parser.add_argument(
        "--kubernetes",
        metavar="VERSION",
        default="",
        help="Kubernetes version [default: the source's version; for a new cluster, the newest "
        "version that the cloud released at least 3 months ago]",
    )
    parser.add_argument(
        "--machines",
        metavar="TYPE[,TYPE…]",
        action="append",
        default=[],
        help="use only these machine types (with --region), or only these machine types of a "
        "Karpenter NodePool (with --from)",
    )
    parser.add_argument(
        "--ci",
        choices=("github", "gitlab", "none"),
        default=DEFAULT_CI,
        help="[default: %(default)s]",
    )
    parser.add_argument(
        "--only-ci",
        action="store_true",
        help="write only the CI workflow, for stacks in this folder (--stack NAME[,NAME…]), or for "
        "--workloads and --fleet",
    )
    _add_workflow(parser)
    parser.add_argument(
        "--install",
        metavar="SOURCE",
        default="",
        help="source that generated files install pulumi-dra from: "
        "git+https://HOST/REPOSITORY.git@COMMIT, a wheel file or its URL, or a version in "
        "the package index, for example git+https://github.com/OWNER/pulumi-dra.git@v1.0.0 "
        "[default: the source of this installation]",
    )
    parser.add_argument("--force", action="store_true", help="replace existing files")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only notes")


def _add_workflow(parser: argparse.ArgumentParser) -> None:
    """Add the options that the generated CI workflow passes to `ci`."""
    before = parser.add_mutually_exclusive_group()
    before.add_argument(
        "--baseline",
        metavar="FILE",
        default="",
        help="make the CI workflow ignore the findings listed in FILE",
    )
    before.add_argument(
        "--diff",
        metavar="REF",
        default="",
        help="make the CI workflow report only findings that aren't in git REF, for example "
        "origin/main",
    )
    parser.add_argument(
        "--sarif",
        action="store_true",
        help="let the GitHub workflow upload findings to code scanning",
    )

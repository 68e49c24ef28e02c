"""The options of `slices`."""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(observed="")
    fleet = parser.add_argument_group(
        "the nodes of a fleet", "print nodes with the fleet's pool and driver settings"
    )
    which = fleet.add_mutually_exclusive_group()
    which.add_argument(
        "--fleet",
        metavar="FILE",
        help="read pools from this fleet file, and print the slices for one node per pool",
    )
    which.add_argument(
        "--stack", metavar="NAME", help="read fleet and workloads from stacks/Pulumi.NAME.yaml"
    )
    fleet.add_argument("--pool", metavar="NAME", default="", help="print only this pool")
    fleet.add_argument(
        "--nodes",
        action="store_true",
        help="also print Nodes and DeviceClasses, for kwok or a scheduler simulator",
    )
    _add_node(parser)
    parser.add_argument(
        "--kubernetes",
        metavar="VERSION",
        default="",
        help="Kubernetes version [default: the fleet's version; otherwise the newest known version]",
    )
    parser.add_argument(
        "--format", choices=("yaml", "json"), default="yaml", help="default: %(default)s"
    )


def _add_node(parser: argparse.ArgumentParser) -> None:
    """Add the options of a node without a fleet."""
    node = parser.add_argument_group("or any node")
    node.add_argument(
        "--machine", metavar="TYPE", default="", help="machine type, for example p5.48xlarge"
    )
    node.add_argument(
        "--cloud",
        metavar="CLOUD",
        default="",
        help="cloud [default: the cloud that offers the machine type]",
    )
    node.add_argument(
        "--driver",
        metavar="VERSION",
        default="",
        help="version of the NVIDIA DRA driver (not needed for TPU and Neuron)",
    )
    node.add_argument(
        "--mig", metavar="LAYOUT", default="", help="MIG configuration of every GPU (catalog mig)"
    )
    node.add_argument(
        "--gate",
        metavar="NAME[=true|false]",
        action="append",
        default=[],
        help="driver feature gate, for example DynamicMIG (for a list, run catalog drivers); "
        "repeatable",
    )
    node.add_argument(
        "--consumable-shares",
        metavar="HOW",
        default="",
        help="method for sharing a GPU between claims (with the ConsumableShares feature "
        "gate): memory, unlimited, or a number",
    )
    node.add_argument(
        "--compute-domains",
        action="store_true",
        help="include ComputeDomain channels and daemons",
    )
    node.add_argument(
        "--network",
        action="store_true",
        help="also print network interfaces that DRANET publishes: EFA on EKS, RDMA and gVNIC on "
        "GKE",
    )
    node.add_argument("--node-name", metavar="NAME", default="", help="default: node-0")

"""The options of `slices`."""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(observed="")
    fleet = parser.add_argument_group("the nodes of a fleet", "as its pools and drivers are set up")
    which = fleet.add_mutually_exclusive_group()
    which.add_argument("--fleet", metavar="FILE", help="fleet document: one node of each pool")
    which.add_argument("--stack", metavar="NAME", help="stack of this project: stacks/Pulumi.NAME.yaml")
    fleet.add_argument("--pool", metavar="NAME", default="", help="this pool only")
    fleet.add_argument(
        "--nodes", action="store_true", help="also the Nodes and the DeviceClasses, for kwok or a scheduler simulator"
    )
    node = parser.add_argument_group("or any node")
    node.add_argument("--machine", metavar="TYPE", default="", help="machine type, as p5.48xlarge")
    node.add_argument("--cloud", metavar="CLOUD", default="", help="default: the one that has the machine")
    node.add_argument(
        "--driver", metavar="VERSION", default="", help="release of the NVIDIA DRA driver (TPU and Neuron need none)"
    )
    node.add_argument("--mig", metavar="LAYOUT", default="", help="MIG layout of every GPU (catalog mig)")
    node.add_argument(
        "--gate",
        metavar="NAME[=true|false]",
        action="append",
        default=[],
        help="feature gate of the driver, repeatable (catalog drivers): DynamicMIG, PassthroughSupport for VFIO, …",
    )
    node.add_argument(
        "--consumable-shares",
        metavar="HOW",
        default="",
        help="how claims share a GPU, with the gate ConsumableShares: memory, unlimited, or a number",
    )
    node.add_argument("--compute-domains", action="store_true", help="with channels and daemons of ComputeDomains")
    node.add_argument(
        "--network",
        action="store_true",
        help="also the network interfaces that DRANET publishes: EFA on EKS, RDMA and gVNIC on GKE",
    )
    node.add_argument("--node-name", metavar="NAME", default="", help="default: node-0")
    parser.add_argument("--kubernetes", metavar="VERSION", default="", help="default: the fleet's, else 1.34")
    parser.add_argument("--format", choices=("yaml", "json"), default="yaml", help="default: %(default)s")

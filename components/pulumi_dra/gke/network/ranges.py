"""Address ranges of nodes, pods, and services in a new network."""

from __future__ import annotations

import ipaddress
from itertools import combinations

from msgspec import Struct

from dra_planner.clouds.gke import CLOUD
from pulumi_dra.inputs.reader import InputReader

RANGE_KEYS = ("nodes_cidr", "pods_cidr", "service_cidr")
_DEFAULTS = {
    "nodes_cidr": "10.0.0.0/20",
    "pods_cidr": CLOUD.pods_range,
    "service_cidr": "10.8.0.0/20",
}
# Minimum sizes in Google Cloud: for subnets (VPC documentation, “Subnets”), and for user-managed
# secondary ranges of a VPC-native cluster, where a node with 110 pods has a /24
# (cloud.google.com/kubernetes-engine/docs/concepts/alias-ips, “Cluster sizing”; only ranges that
# GKE creates are at least a /21).
_SMALLEST = {"nodes_cidr": 29, "pods_cidr": 24, "service_cidr": 27}


class SubnetRanges(Struct, frozen=True):
    """The three ranges, in CIDR form."""

    nodes_cidr: str
    pods_cidr: str
    service_cidr: str


def read_ranges(read: InputReader) -> SubnetRanges:
    """Return the checked ranges, and record errors in `read`."""
    given = {
        key: read.text(key, _DEFAULTS[key], check=lambda text, key=key: _fault(text, key))
        for key in RANGE_KEYS
    }
    networks = {
        key: ipaddress.IPv4Network(text) for key, text in given.items() if not _fault(text, key)
    }
    for one, other in combinations(networks, 2):
        if networks[one].overlaps(networks[other]):
            at, beside = (other, one) if read.has(other) else (one, other)
            read.refuse(at, f'"{given[at]}" overlaps {beside}, "{given[beside]}"')
    return SubnetRanges(**given)


def _fault(text: str, key: str) -> str:
    try:
        network = ipaddress.IPv4Network(text)
    except ValueError as error:
        return f'"{text}" isn\'t an IPv4 network in CIDR notation ({error})'
    if network.prefixlen > _SMALLEST[key]:
        return f'"{text}" is too small; use a /{_SMALLEST[key]} or larger'
    return f'"{text}" isn\'t a private range' if network.is_global else ""

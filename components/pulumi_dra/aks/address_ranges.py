"""Address ranges of pods and services, which are fixed when the cluster is created."""

import ipaddress

from msgspec import Struct

from dra_planner.clouds.aks import CLOUD
from pulumi_dra.inputs.reader import InputReader

PODS, SERVICES = CLOUD.pods_range, "10.0.0.0/16"
"""AKS's defaults: learn.microsoft.com/azure/aks/azure-cni-overlay."""
NEW_NETWORK = "10.224.0.0/16"
"""The range of a new network, which overlaps neither of these ranges."""
_RESERVED = ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24")
# Sources: learn.microsoft.com/azure/aks/concepts-network-cni-overview, "Prerequisites" (reserved
# ranges), and …/azure-cni-overlay, "IP address planning" (the service range is smaller than a /12,
# and each node has a /24 of the pod range).
_LARGEST_SERVICES = 13
_SMALLEST_PODS = 24
_DNS = 10  # position of the DNS service's address in its range, as in AKS


class ServiceRanges(Struct, frozen=True, kw_only=True):
    """Address ranges of pods and services. None means that AKS chooses the range."""

    pods: str | None
    services: str | None

    @property
    def dns_address(self) -> str | None:
        """Address of the DNS service, or None if AKS chooses the service range."""
        return None if self.services is None else str(ipaddress.ip_network(self.services)[_DNS])


def read_ranges(read: InputReader) -> ServiceRanges:
    """Return `pods_cidr` and `service_cidr`. Record in `read` which values AKS would reject."""
    given = {
        key: read.text(key, "", check=check)
        for key, check in (("pods_cidr", _pods), ("service_cidr", _services))
    }
    new = "" if read.has("subnet_id") else NEW_NETWORK
    others = {
        "pods_cidr": [
            (given["service_cidr"] or SERVICES, "the services"),
            (new, "the new network"),
        ],
        "service_cidr": [(new, "the new network")],
    }
    for key, value in given.items():
        for other, whose in others[key]:
            if (
                value
                and other
                and not _range(value)
                and not _range(other)
                and _overlap(value, other)
            ):
                read.refuse(key, f'"{value}" overlaps {other} of {whose}')
    return ServiceRanges(pods=given["pods_cidr"] or None, services=given["service_cidr"] or None)


def _pods(cidr: str) -> str:
    if fault := _range(cidr):
        return fault
    network = ipaddress.ip_network(cidr)
    return (
        f'"{cidr}" is too small, because each node needs a /{_SMALLEST_PODS}'
        if network.prefixlen > _SMALLEST_PODS
        else ""
    )


def _services(cidr: str) -> str:
    if fault := _range(cidr):
        return fault
    network = ipaddress.ip_network(cidr)
    if network.prefixlen < _LARGEST_SERVICES:
        return f'"{cidr}" is too large, because AKS allows at most a /{_LARGEST_SERVICES}'
    return (
        f'"{cidr}" is too small, because AKS uses address number {_DNS} of the range for DNS'
        if network.num_addresses <= _DNS
        else ""
    )


def _range(cidr: str) -> str:
    try:
        network = ipaddress.ip_network(cidr)
    except ValueError:
        return f'"{cidr}" isn\'t an address range such as {SERVICES}'
    if network.version != 4:
        return f'"{cidr}" isn\'t an IPv4 range, which AKS requires'
    taken = next((each for each in _RESERVED if _overlap(cidr, each)), "")
    return f'"{cidr}" overlaps {taken}, which AKS reserves' if taken else ""


def _overlap(one: str, other: str) -> bool:
    left, right = ipaddress.ip_network(one), ipaddress.ip_network(other)
    return left.version == right.version and left.overlaps(right)

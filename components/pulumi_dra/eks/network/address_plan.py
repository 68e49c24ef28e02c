"""Address ranges in a VPC: large private subnets for nodes and pods, and small public ones
for NAT.
"""

import ipaddress
from collections.abc import Iterable

from msgspec import Struct

from dra_planner.clouds.eks.cloud import ZONE_LETTERS


class ZoneAddresses(Struct, frozen=True):
    """CIDR blocks of a zone's subnets."""

    private: str
    public: str


def plan_addresses(vpc_cidr: str, zones: Iterable[str]) -> dict[str, ZoneAddresses]:
    """Return the subnets of each zone. They depend only on its letter, so adding a zone doesn't
    change the others.

    Each private subnet has an eighth of the VPC (8190 addresses of a /16), and public subnets share
    the last eighth.
    """
    *private, rest = ipaddress.IPv4Network(vpc_cidr).subnets(prefixlen_diff=3)
    public = list(rest.subnets(prefixlen_diff=3))
    letters = {zone: ZONE_LETTERS.index(zone[-1]) for zone in zones}
    return {zone: ZoneAddresses(str(private[at]), str(public[at])) for zone, at in letters.items()}


def overlap(one: str, other: str) -> bool:
    """Return whether two ranges overlap."""
    return ipaddress.IPv4Network(one).overlaps(ipaddress.IPv4Network(other))


def check_service_cidr(cidr: str) -> str:
    """Return why a service CIDR is invalid, or ""."""
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError as error:
        return f'"{cidr}" isn\'t an IPv4 network in CIDR notation ({error})'
    if not 12 <= network.prefixlen <= 24:
        return f'"{cidr}" must be a /12 to a /24'
    inside = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
    if any(network.subnet_of(ipaddress.IPv4Network(block)) for block in inside):
        return ""
    return f'"{cidr}" isn\'t within {", ".join(inside)}'


def check_vpc_cidr(cidr: str) -> str:
    """Return why a new VPC's address range is invalid, or ""."""
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError as error:
        return f'"{cidr}" isn\'t an IPv4 network in CIDR notation ({error})'
    if not 16 <= network.prefixlen <= 20:
        return (
            f'"{cidr}" must be between /16 and /20, because pods use addresses from the '
            "nodes' subnets"
        )
    return "" if network.is_private else f'"{cidr}" isn\'t a private range'

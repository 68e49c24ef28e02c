"""How a VPC's addresses are divided: large private subnets for nodes and pods, small public ones for NAT."""

import ipaddress
from dataclasses import dataclass

MAX_ZONES = 6


@dataclass(frozen=True, slots=True)
class AddressPlan:
    """CIDR blocks, one private and one public subnet for each zone."""

    private: tuple[str, ...]
    public: tuple[str, ...]


def plan_addresses(vpc_cidr: str, zones: int) -> AddressPlan:
    """Return subnets for `zones` zones (at most six).

    An eighth of the VPC for each private subnet (8190 addresses of a /16), whatever the number of zones, so that
    a zone can be added later without moving the others; public subnets share the last eighth.
    """
    network = ipaddress.IPv4Network(vpc_cidr)
    eighths = list(network.subnets(prefixlen_diff=3))
    public = list(eighths[7].subnets(prefixlen_diff=3))
    return AddressPlan(
        private=tuple(str(block) for block in eighths[:zones]),
        public=tuple(str(block) for block in public[:zones]),
    )


def check_vpc_cidr(cidr: str) -> str:
    """Return what is wrong with the address range of a new VPC, or ""."""
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError as error:
        return f'"{cidr}" is no IPv4 network in CIDR form ({error})'
    if not 16 <= network.prefixlen <= 20:
        return f'"{cidr}" must be a /16 to a /20: pods take their addresses from the subnets of the nodes'
    return "" if network.is_private else f'"{cidr}" is not a private range'

"""How a VPC's addresses are divided: large private subnets for nodes and pods, small public ones for NAT."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from dra_planner.clouds.eks import ZONE_LETTERS


@dataclass(frozen=True, slots=True)
class ZoneAddresses:
    """CIDR blocks of a zone's subnets."""

    private: str
    public: str


def plan_addresses(vpc_cidr: str, zones: Iterable[str]) -> dict[str, ZoneAddresses]:
    """Return the subnets of each zone, which follow from its letter alone: no zone moves when another comes.

    An eighth of the VPC for each private subnet (8190 addresses of a /16); public subnets share the last eighth.
    """
    *private, rest = ipaddress.IPv4Network(vpc_cidr).subnets(prefixlen_diff=3)
    public = list(rest.subnets(prefixlen_diff=3))
    letters = {zone: ZONE_LETTERS.index(zone[-1]) for zone in zones}
    return {zone: ZoneAddresses(str(private[at]), str(public[at])) for zone, at in letters.items()}


def check_vpc_cidr(cidr: str) -> str:
    """Return what is wrong with the address range of a new VPC, or ""."""
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError as error:
        return f'"{cidr}" is no IPv4 network in CIDR form ({error})'
    if not 16 <= network.prefixlen <= 20:
        return f'"{cidr}" must be a /16 to a /20: pods take their addresses from the subnets of the nodes'
    return "" if network.is_private else f'"{cidr}" is not a private range'

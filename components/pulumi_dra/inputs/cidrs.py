"""Networks that can reach an API server."""

import ipaddress
from collections.abc import Sequence

# RFC 5737, RFC 3849
_DOCUMENTATION = ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")


def unreachable_from_outside(cidrs: Sequence[str]) -> str:
    """Return why no client outside can reach an API server that only admits these networks,
    or "".
    """
    if not cidrs:
        return "its API server doesn't have an endpoint outside the cluster's network"
    if examples := for_documentation(cidrs):
        return f"its API server is open only to documentation addresses ({', '.join(examples)})"
    return ""


def for_documentation(cidrs: Sequence[str]) -> list[str]:
    """Return the networks if all of them are documentation ranges (RFC 5737, RFC 3849), otherwise
    none.
    """
    return list(cidrs) if all(_is_for_documentation(cidr) for cidr in cidrs) else []


def _is_for_documentation(cidr: str) -> bool:
    network = ipaddress.ip_network(cidr)
    reserved = [ipaddress.ip_network(each) for each in _DOCUMENTATION]
    return any(network.version == each.version and network.overlaps(each) for each in reserved)

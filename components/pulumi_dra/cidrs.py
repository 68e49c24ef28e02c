"""Networks that may reach an API server."""

import ipaddress


def check_public_cidr(cidr: str) -> str:
    """Return what is wrong with a network that may reach the public endpoint, or ""."""
    try:
        network = ipaddress.ip_network(cidr)
    except ValueError as error:
        return f'"{cidr}" is no network in CIDR form ({error})'
    if network.prefixlen == 0:
        return f'"{cidr}" opens the API server to everyone; name the networks that need it'
    return ""

"""IP addresses and networks.

Source of the behavior: kubernetes/apiserver:pkg/cel/library/{ip,cidr}.go@v0.36.3; Go's net/netip.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any, Final

from dra_planner.cel.values import AddressValue, CelError, NetworkValue


def _address(text: str) -> AddressValue:
    try:
        if "%" in text or not text.isascii():
            raise ValueError("IP address with zone")
        address = ipaddress.ip_address(text)
    except ValueError as error:
        raise CelError(
            f'IP Address "{text[:80]}" parse error during conversion from string: {error}'
        ) from None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise CelError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return AddressValue(int(address), address.version)


def _network(text: str) -> NetworkValue:
    failed = CelError(
        "network address parse error during conversion from string: "
        f'netip.ParsePrefix("{text[:80]}")'
    )
    head, slash, bits = text.rpartition("/")
    if (
        not slash
        or not bits.isascii()
        or not bits.isdigit()
        or (len(bits) > 1 and bits[0] == "0")
        or len(bits) > 3
    ):
        raise failed
    try:
        address = _address(head)
    except CelError:
        raise failed from None
    if int(bits) > _width(address):
        raise failed
    return NetworkValue(address, int(bits))


def _width(address: AddressValue) -> int:
    return 32 if address.family == 4 else 128


def _text(address: AddressValue) -> str:
    if address.family == 4:
        return str(ipaddress.IPv4Address(address.number))
    return str(ipaddress.IPv6Address(address.number))


def _within(address: AddressValue, v4: str, v6: str) -> bool:
    """Return True if the address is in the network, of the same IP family."""
    network = ipaddress.ip_network(v4 if address.family == 4 else v6)
    return address.number >> (_width(address) - network.prefixlen) == int(
        network.network_address
    ) >> (_width(address) - network.prefixlen)


def _is_unspecified(address: AddressValue) -> bool:
    return address.number == 0


def _is_loopback(address: AddressValue) -> bool:
    return _within(address, "127.0.0.0/8", "::1/128")


def _is_link_local_multicast(address: AddressValue) -> bool:
    if address.family == 6:
        return (address.number >> 112) & 0xFF0F == 0xFF02
    return _within(address, "224.0.0.0/24", "ff02::/16")


def _is_link_local_unicast(address: AddressValue) -> bool:
    return _within(address, "169.254.0.0/16", "fe80::/10")


def _is_global_unicast(address: AddressValue) -> bool:
    if address.family == 4 and address.number in (0, 2**32 - 1):
        return False
    return not (
        _is_unspecified(address)
        or _is_loopback(address)
        or _within(address, "224.0.0.0/4", "ff00::/8")
        or _is_link_local_unicast(address)
    )


def _is(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except CelError:
            return False
        return True

    return check


def _overlap(a: NetworkValue, b: NetworkValue) -> bool:
    if a.address.family != b.address.family:
        return False
    shift = _width(a.address) - min(a.bits, b.bits)
    return a.address.number >> shift == b.address.number >> shift


def _contains_ip(network: NetworkValue, address: AddressValue) -> bool:
    return _overlap(network, NetworkValue(address, _width(address)))


def _contains_cidr(network: NetworkValue, other: NetworkValue) -> bool:
    return _overlap(network, other) and network.bits <= other.bits


def _masked(network: NetworkValue) -> NetworkValue:
    shift = _width(network.address) - network.bits
    return NetworkValue(
        AddressValue(network.address.number >> shift << shift, network.address.family), network.bits
    )


def _contains_ip_text(network: NetworkValue, text: str) -> bool:
    try:
        return _contains_ip(network, _address(text))
    except CelError:
        raise CelError("no such overload") from None


def _contains_cidr_text(network: NetworkValue, text: str) -> bool:
    return _contains_cidr(network, _network(text))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_ip": _address,
    "ip_family": lambda address: address.family,
    "ip_is_canonical": lambda text: _text(_address(text)) == text,
    "ip_is_unspecified": _is_unspecified,
    "ip_is_loopback": _is_loopback,
    "ip_is_link_local_multicast": _is_link_local_multicast,
    "ip_is_link_local_unicast": _is_link_local_unicast,
    "ip_is_global_unicast": _is_global_unicast,
    "is_ip": _is(_address),
    "ip_to_string": _text,
    "string_to_cidr": _network,
    "cidr_contains_ip_string": _contains_ip_text,
    "cidr_contains_ip_ip": _contains_ip,
    "cidr_contains_cidr_string": _contains_cidr_text,
    "cidr_contains_cidr": _contains_cidr,
    "cidr_ip": lambda network: network.address,
    "cidr_prefix_length": lambda network: network.bits,
    "cidr_masked": _masked,
    "is_cidr": _is(_network),
    "cidr_to_string": lambda network: f"{_text(network.address)}/{network.bits}",
}

"""Checks that apply on every cloud, in a fleet and in components: each returns a sentence, or "" if
nothing is wrong.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.labels import LABEL_KEY, LABEL_VALUE
from dra_planner.releases import default_since, features_of

# maximum nodes of one pool: the size of the largest clusters that a cloud documents
NODES = range(100_001)
SYSTEM_NODES = range(1, 101)
HUGE_PAGES = {"2Mi": 2 * 1024 * 1024, "1Gi": 1024 * 1024 * 1024}
"""Sizes of huge pages that clouds can reserve, in bytes. The resources of a node are named after
them (hugepages-2Mi).
"""
MOST_HUGE_PAGES = 2**31 - 1  # GKE API reference, HugepagesConfig: int32
# RFC 1918
_PRIVATE = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))


def range_fault(number: int, allowed: range) -> str:
    """Return why a number isn't in the range of allowed numbers."""
    return (
        "" if number in allowed else f"must be between {allowed[0]} and {allowed[-1]}, not {number}"
    )


def limits_fault(least: int, most: int) -> str:
    """Return why two node counts can't be minimum and maximum."""
    return f"the minimum ({least}) exceeds the maximum ({most})" if least > most else ""


def huge_pages_fault(pages: Mapping[str, int], machine: Machine | None) -> str:
    """Return why a machine type can't have this number of huge pages of each size. Unknown machine
    types can.
    """
    reserved = sum(HUGE_PAGES[size] * count for size, count in pages.items())
    memory_mib = machine.memory_mib if machine is not None else None
    if machine is None or memory_mib is None or reserved < memory_mib * 1024 * 1024:
        return ""
    return (
        f"{machine.name} has {memory_mib / 1024:.4g} GiB of memory, which is too little for "
        f"{reserved / 1024**3:.10g} GiB of huge pages and the node itself"
    )


def repetition_fault(names: Iterable[str]) -> str:
    """Return the first name that is repeated."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return f'"{name}" appears twice'
        seen.add(name)
    return ""


def public_network_fault(cidr: str) -> str:
    """Return why a network can't have access to the public endpoint of an API server."""
    try:
        network = ipaddress.ip_network(cidr)
    except ValueError as error:
        return f'"{cidr}" isn\'t a network in CIDR notation ({error})'
    if network.prefixlen == 0:
        return (
            f'"{cidr}" opens the API server to everyone; allow only the networks that need access'
        )
    return ""


def private_network_fault(cidr: str) -> str:
    """Return why private addresses can't have access to a public endpoint."""
    network = ipaddress.ip_network(cidr)
    if not any(network.version == each.version and network.overlaps(each) for each in _PRIVATE):
        return ""
    return (
        f'"{cidr}" is a private network, which can\'t reach the public endpoint; use the '
        "network's public outbound addresses"
    )


def label_key_fault(key: str) -> str:
    """Return why Kubernetes rejects the key of a label or taint."""
    if re.fullmatch(LABEL_KEY, key):
        return ""
    return f'"{key}" isn\'t a valid label key; use a key such as "team" or "example.com/team"'


def label_value_fault(value: str) -> str:
    """Return why Kubernetes rejects the value of a label or taint."""
    if re.fullmatch(LABEL_VALUE, value):
        return ""
    return f'"{value}" isn\'t a valid label value (at most 63 letters, digits, "-", "_", and ".")'


def taints_fault(taints: Iterable[tuple[str, str]]) -> str:
    """Return the first taint that is repeated, by key and effect."""
    seen: set[tuple[str, str]] = set()
    for taint in taints:
        if taint in seen:
            return f'"{taint[0]}" appears twice with effect {taint[1]}'
        seen.add(taint)
    return ""


def selection_fault(selectors: Sequence[str]) -> str:
    """Return why a custom DeviceClass can't have these selectors. Without selectors, it matches
    devices of any driver.
    """
    return "" if selectors else "is empty; add the class's selectors"


def extended_resource_fault(minor: int) -> str:
    """Return why a DeviceClass can't have an extended resource in a Kubernetes minor version."""
    if features_of(minor).extended_resource:
        return ""
    since = default_since("extended_resource")
    return (
        f"Kubernetes 1.{minor} discards this field, so every preview would show it as a change; "
        f"the field needs {since} or later"
    )

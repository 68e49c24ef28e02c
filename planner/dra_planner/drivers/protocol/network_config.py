"""DRANET's configuration: an object without apiVersion and kind. DRANET rejects unknown fields.

Source: kubernetes-sigs/dranet:pkg/apis/{types,validation}.go@f258477, and the field ipvlan of
@07cded12.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.drivers.protocol.driver import ConfigFault

_FIELDS: Final = ("profile", "interface", "routes", "rules", "neighbors", "ethtool")
_INTERFACE: Final = (
    "name",
    "addresses",
    "dhcp",
    "mtu",
    "hardwareAddr",
    "gsoMaxSize",
    "groMaxSize",
    "gsoIPv4MaxSize",
    "groIPv4MaxSize",
    "disableEbpfPrograms",
    "forwarding",
    "arpIgnore",
    "arpAnnounce",
    "vrf",
    "ipvlan",
)
_ETHTOOL: Final = ("features", "privateFlags")
_LONGEST_NAME: Final = 15  # IFNAMSIZ - 1 (the maximum length in Linux)
_SMALLEST_MTU: Final = 68
_CHOICES: Final[Mapping[str, tuple[int, ...]]] = {
    "arpIgnore": (0, 1, 2, 3, 8),
    "arpAnnounce": (0, 1, 2),
}


def network_config_faults(parameters: Mapping[str, Any]) -> Iterator[ConfigFault]:
    """Yield the parts of this configuration that DRANET rejects when it prepares a claim."""
    if "apiVersion" in parameters or "kind" in parameters:
        yield ConfigFault(
            "DRANET's configuration can't have apiVersion or kind", "remove apiVersion and kind"
        )
    yield from _unknown(parameters, (*_FIELDS, "apiVersion", "kind"), "the configuration")
    interface = parameters.get("interface")
    if isinstance(interface, Mapping):
        yield from _interface_faults(interface)
        if interface.get("vrf") and parameters.get("rules"):
            yield ConfigFault(
                "DRANET rejects an interface with both rules and vrf", "remove either rules or vrf"
            )
    ethtool = parameters.get("ethtool")
    if isinstance(ethtool, Mapping):
        yield from _unknown(ethtool, _ETHTOOL, "ethtool")


def _interface_faults(interface: Mapping[str, Any]) -> Iterator[ConfigFault]:
    yield from _unknown(interface, _INTERFACE, "interface")
    name = interface.get("name")
    if isinstance(name, str) and len(name) > _LONGEST_NAME:
        message = (
            f'interface name "{name}" has {len(name)} characters, but the limit is {_LONGEST_NAME}'
        )
        yield ConfigFault(message, f"use a name with at most {_LONGEST_NAME} characters")
    mtu = interface.get("mtu")
    if isinstance(mtu, int) and mtu < _SMALLEST_MTU:
        yield ConfigFault(f"mtu is {mtu}", f"set mtu to at least {_SMALLEST_MTU}")
    if interface.get("dhcp") and interface.get("addresses"):
        yield ConfigFault(
            "DRANET rejects addresses together with dhcp", "remove either dhcp or addresses"
        )
    for key, allowed in _CHOICES.items():
        if key in interface and interface[key] not in allowed:
            numbers = ", ".join(map(str, allowed))
            yield ConfigFault(
                f"{key} must be one of {numbers}, not {interface[key]}",
                f"set {key} to {allowed[0]}",
            )


def _unknown(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> Iterator[ConfigFault]:
    for key in given:
        if key not in known:
            yield ConfigFault(
                f'{what} doesn\'t have a field "{key}", and DRANET rejects unknown fields',
                f"remove {key}",
            )

"""Network interfaces of launch templates that EC2 rejects.

Source: the EC2 model in botocore 1.44.5, shapes
LaunchTemplateInstanceNetworkInterfaceSpecificationRequest and InstanceNetworkInterfaceSpecification
(NetworkCardIndex, DeviceIndex, InterfaceType, and AssociatePublicIpAddress).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dra_planner.catalog import Machine
from dra_planner.errors import RejectedValue


def interface_faults(
    interfaces: Sequence[Mapping[str, object]], machine: Machine | None
) -> Iterator[RejectedValue]:
    """Yield why EC2 rejects the interfaces of a template. Unknown values are ignored."""
    places: set[tuple[int, int]] = set()
    for each in interfaces:
        card, device = _number(each, "networkCardIndex"), _number(each, "deviceIndex")
        if card is None or device is None:
            continue
        if (card, device) in places:
            yield RejectedValue(
                f"two network interfaces have the same networkCardIndex ({card}) and deviceIndex "
                f"({device})",
                "set a different deviceIndex for each interface on the same network card",
            )
        places.add((card, device))
        if (card, device) == (0, 0) and each.get("interfaceType") == "efa-only":
            yield RejectedValue(
                "its primary network interface has the type efa-only, and such interfaces don't "
                "have IP addresses",
                "set interfaceType of the first entry in networkInterfaces to efa or interface",
            )
        cards = machine.network_cards if machine is not None else None
        if machine is not None and cards is not None and card >= cards:
            has = "network card 0" if cards == 1 else f"network cards 0 to {cards - 1}"
            use = "0" if cards == 1 else f"a value from 0 to {cards - 1}"
            yield RejectedValue(
                f"{machine.name} doesn't have network card {card}, only {has}",
                f"set networkCardIndex to {use}",
            )
    if len(interfaces) > 1 and any(
        each.get("associatePublicIpAddress") in (True, "true") for each in interfaces
    ):
        yield RejectedValue(
            "EC2 assigns public addresses only to nodes with one network interface",
            "remove associatePublicIpAddress from networkInterfaces in the launch template",
        )


def _number(interface: Mapping[str, object], key: str) -> int | None:
    """Return an index, 0 if it isn't set, or None if it's unknown."""
    value = interface.get(key, 0)
    return value if isinstance(value, int) else None

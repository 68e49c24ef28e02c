"""The number of pods for which the network interfaces of an EKS node have addresses."""

from __future__ import annotations

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.allocatable import (
    AllocatableSettings,
)
from dra_planner.errors import CatalogError

_DEFAULTS = AllocatableSettings()


MOST_PODS = 250


PREFIX = 16  # number of addresses, because interface prefixes are /28


def max_pods(machine: Machine, settings: AllocatableSettings = _DEFAULTS) -> tuple[int, str]:
    """Return the kubelet's maxPods and a sentence with the reason.

    The maximum for managed node groups is from the EKS user guide. Raises CatalogError if a managed
    node group rejects the setting, or if the setting leaves pods without addresses.
    """
    name = machine.name
    cap = 110 if (machine.vcpus or 0) < 30 else MOST_PODS
    by_interfaces = _addresses(machine, settings)
    how = "with" if settings.prefix_delegation else "without"
    if settings.max_pods is not None:
        if settings.max_pods > cap and not settings.self_managed:
            raise CatalogError(
                f"{name}: EKS managed node groups allow at most {cap} pods per node of this "
                f"machine type, not {settings.max_pods}",
                fix=f"set maxPods to {cap} or less",
            )
        if by_interfaces is not None and settings.max_pods > by_interfaces:
            other = "" if settings.prefix_delegation else ", or enable network.prefixDelegation"
            raise CatalogError(
                f"{how} prefix delegation, {name} has IP addresses for only {by_interfaces} pods, "
                f"not for {settings.max_pods}",
                fix=f"set maxPods to {by_interfaces} or less{other}",
            )
        return settings.max_pods, f"{name}: {settings.max_pods} pods, as set"
    if by_interfaces is None:
        return 110, f"{name}: 110 pods, because its network interfaces are unknown"
    if by_interfaces <= cap or settings.self_managed:
        return (
            by_interfaces,
            f"{name}: {by_interfaces} pods (network interface limit, {how} prefix delegation)",
        )
    return cap, f"{name}: {cap} pods, the limit of EKS managed node groups"


def _addresses(machine: Machine, settings: AllocatableSettings) -> int | None:
    """Return for how many pods the default card's interfaces have addresses, including host-network
    pods.
    """
    if machine.default_card_enis is None or machine.ipv4_per_eni is None:
        return None
    each = (machine.ipv4_per_eni - 1) * (PREFIX if settings.prefix_delegation else 1)
    return machine.default_card_enis * each + 2


def subnet_addresses_of_node(
    machine: Machine, settings: AllocatableSettings, pods: int
) -> int | None:
    """Return the addresses that the VPC CNI reserves by default: whole interfaces, or prefixes of
    16 addresses, and one spare interface or prefix.

    Sources: aws/amazon-vpc-cni-k8s:docs/eni-and-ip-target.md@0f77b52 (WARM_ENI_TARGET 1) and
    docs/prefix-and-ip-target.md@0259085 (WARM_PREFIX_TARGET 1, which the components set).
    """
    interfaces, each = machine.default_card_enis, machine.ipv4_per_eni
    if interfaces is None or each is None:
        return None
    slots = each - 1  # one address belongs to the interface itself
    if settings.prefix_delegation:
        prefixes = min(interfaces * slots, -(-pods // PREFIX) + 1)
        return -(-prefixes // slots) + prefixes * PREFIX
    return each * (min(interfaces, -(-pods // slots) + 1) if pods else 1)

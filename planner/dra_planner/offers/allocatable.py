"""Allocatable resources of a node: its cloud's kubelet settings, minus further reservations."""

from __future__ import annotations

from dra_planner.catalog import Machine
from dra_planner.clouds import HUGE_PAGES, Allocatable, AllocatableSettings, cloud_of
from dra_planner.errors import CatalogError
from dra_planner.wording import counted, listed

_DEFAULTS = AllocatableSettings()


def predict_allocatable(machine: Machine, settings: AllocatableSettings = _DEFAULTS) -> Allocatable:
    """Return allocatable CPU, memory, pods, and ephemeral storage of a node.

    Raises CatalogError if the machine type's size is unknown, or if settings are invalid or leave
    no resources.
    """
    if machine.vcpus is None or machine.memory_mib is None:
        raise CatalogError(
            f"the vCPUs and memory of {machine.name} are unknown",
            fix="use another machine type",
        )
    of_cloud = cloud_of(machine)
    found = of_cloud.allocatable(machine, machine.vcpus, machine.memory_mib, settings)
    if settings.huge_pages:
        found = _with_huge_pages(found, settings, of_cloud.huge_pages_doubt)
    kept = {name: amount for name, amount in settings.reserved.items() if amount}
    if not kept:
        return found
    amounts, at_most = (
        {name: amount - kept.get(name, 0) for name, amount in side.items()}
        for side in (found.amounts, found.at_most)
    )
    scarce = [name for name in kept if amounts[name] <= 0]
    if scarce:
        shown = "CPU" if scarce[0] == "cpu" else scarce[0]
        raise CatalogError(
            f"the reserved resources use all of the node's {shown} ({machine.name})",
            fix=f"reserve less {shown}",
        )
    return Allocatable(
        amounts,
        at_most,
        (
            *found.assumptions,
            f"{machine.name}: pods can't use the resources in the pool's reserved key",
        ),
    )


def _with_huge_pages(found: Allocatable, settings: AllocatableSettings, doubt: str) -> Allocatable:
    """Return the amounts with huge pages, which other pods can't use as memory.

    The kernel can free the descriptors of huge pages, a 64th of their size, so `at_most` includes
    that memory. Sources: kubernetes/kubernetes:pkg/kubelet/nodestatus/setters.go@v1.36.3;
    torvalds/linux:Documentation/mm/vmemmap_dedup.rst@17b6fc8.
    """
    pages = {
        f"hugepages-{size}": HUGE_PAGES[size] * count for size, count in settings.huge_pages.items()
    }
    amounts, at_most = (
        {**side, "memory": side["memory"] - sum(pages.values()), **pages}
        for side in (found.amounts, found.at_most)
    )
    at_most["memory"] += sum(pages.values()) // 64
    if amounts["memory"] <= 0:
        raise CatalogError(
            "huge pages use all of the node's memory, so pods can't run on it",
            fix="reserve fewer huge pages (hugePages)",
        )
    text = listed(
        f"{counted(count, 'huge page')} of {size}B" for size, count in settings.huge_pages.items()
    )
    return Allocatable(
        amounts,
        at_most,
        (
            *found.assumptions,
            f"nodes reserve {text} at boot, and the plan assumes that the reservation "
            f"succeeds{doubt}",
        ),
    )

"""GKE's flex-start and queued capacity types, and their placement."""

from __future__ import annotations

from typing import Final

LENT: Final = ("flex-start", "queued")
"""Capacity types whose nodes come from the Dynamic Workload Scheduler."""


_COMPACT_FLEX_START = ("a3-ultragpu-", "a4-", "h4d-")


def compact_fault(machine_type: str, capacity: str) -> str:
    """Return why flex-start or queued nodes can't use compact placement, or "" for other nodes or
    if they can. Source:

    GoogleCloudPlatform/cluster-toolkit:docs/gke-consumption-options.md@0a49744.
    """
    if capacity == "queued":
        return (
            "isn't supported with queued capacity, because GKE chooses where a "
            "ProvisioningRequest's nodes run"
        )
    if capacity == "flex-start" and not machine_type.startswith(_COMPACT_FLEX_START):
        return (
            "supports flex-start capacity only on A3 Ultra, A4, and H4D machine types, not on "
            f"{machine_type}"
        )
    return ""

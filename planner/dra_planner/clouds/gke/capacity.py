"""Capacity types of GKE whose nodes Google lends, and their placement."""

from __future__ import annotations

from typing import Final

LENT: Final = ("flex-start", "queued")
"""Capacity types whose nodes the Dynamic Workload Scheduler lends.

Source: docs.cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest and
…/docs/concepts/dws.
"""


_COMPACT_FLEX_START = ("a3-ultragpu-", "a4-", "h4d-")


def compact_fault(machine_type: str, capacity: str) -> str:
    """Return why nodes that GKE lends cannot be placed close together; "" for others, and for those
    that can be.

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

"""Networks of AKS: subnets of nodes, ranges that can reach the API server, and zones."""

from __future__ import annotations

from itertools import pairwise

NOBODY = "0.0.0.0/32"


MOST_RANGES = 199
"""AKS accepts 200 ranges. One of them is the outbound address of nodes."""


LONGEST_LABEL_NAME = 63
"""AKS adds the names of the nodes' subnet, its network, and its group to nodes as labels:
"Limitations" of learn.microsoft.com/azure/aks/azure-cni-overlay
(MicrosoftDocs/azure-aks-docs@04d389a).
"""


ZONES = "123"


def subnet_fault(subnet: str) -> str:
    """Return why nodes can't be in the subnet with that ID, or "".

    Texts that aren't IDs aren't checked, because Azure checks them.
    """
    parts = subnet.split("/")
    for what in ("resourceGroups", "virtualNetworks", "subnets"):
        name = next((name for key, name in pairwise(parts) if key.lower() == what.lower()), "")
        if len(name) > LONGEST_LABEL_NAME:
            longest = (
                f"AKS allows at most {LONGEST_LABEL_NAME} characters for {what}, because AKS "
                "adds the name to nodes as a label"
            )
            return f'"{name}" has {len(name)} characters, but {longest}'
    return ""


def ranges_fault(count: int) -> str:
    """Return why a cluster can't have this number of authorized networks, or ""."""
    return (
        f"has {count} ranges, but AKS allows at most {MOST_RANGES} in addition to its own"
        if count > MOST_RANGES
        else ""
    )


def api_zone(zone: str) -> str:
    """Return the name of a fleet's zone in Azure's API: "1" for eastus-1."""
    return zone.rpartition("-")[2]

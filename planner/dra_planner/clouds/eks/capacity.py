"""Capacity types of managed node groups and Karpenter."""

from __future__ import annotations

CAPACITY_TYPES = {
    "on-demand": "ON_DEMAND",
    "spot": "SPOT",
    "reservation": "ON_DEMAND",
    "capacity-block": "CAPACITY_BLOCK",
}


KARPENTER = "karpenter"


KARPENTER_CAPACITY_TYPES = {
    "on-demand": "on-demand",
    "spot": "spot",
    "reservation": "reserved",
    "capacity-block": "reserved",
}
"""Capacity types in Karpenter, where Capacity Blocks also count as reserved. Source:
aws/karpenter-provider-aws:website/content/en/docs/tasks/odcrs.md@1d927085.
"""

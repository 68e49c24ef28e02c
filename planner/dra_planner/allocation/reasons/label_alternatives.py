"""Alternatives to a node label that a pool's owner can't set."""

from __future__ import annotations

from dra_planner.catalog.label_owners import label_owner
from dra_planner.clouds import POOL
from dra_planner.model import Node, PodSpec


def instead_of_label(key: str, pod: PodSpec, node: Node) -> str:
    """Return an imperative sentence, or "" if the owner of a pool can set the label, or if there is
    no replacement.

    Devices of a device plugin can't be selected, so pods without a claim select a pool of such
    nodes.
    """
    found = label_owner(key)
    if found is None:
        return ""
    has_plugin = any("/" in name and amount for name, amount in node.allocatable.items())
    if pod.resource_claims or not has_plugin or not found.instead.endswith("in the claim"):
        return found.instead
    return f"select a pool by its label {POOL}"

"""The selection that replaces a node label which a pool's owner can't set."""

from __future__ import annotations

from dra_planner.catalog.label_owners import label_owner
from dra_planner.clouds import POOL
from dra_planner.model import PodSpec


def instead_of_label(key: str, pod: PodSpec) -> str:
    """Return an imperative sentence, or "" if the owner of a pool can set the label or nothing
    replaces it.

    Only pods with a claim can select devices. Other pods, such as those of a device plugin, select
    their pool.
    """
    found = label_owner(key)
    if found is None:
        return ""
    if pod.resource_claims or not found.instead.endswith("in the claim"):
        return found.instead
    return f"select a pool by its label {POOL}"

"""Alternatives to a node label that a pool's owner can't set."""

from __future__ import annotations

from dra_planner.allocation.extended_resource_claims import CLAIM_NAME
from dra_planner.catalog.label_owners import label_owner
from dra_planner.clouds import POOL
from dra_planner.model import Shape


def instead_of_label(key: str, shape: Shape) -> str:
    """Return an imperative sentence, or "" if the owner of a pool can set the label, or if there is
    no replacement.

    Pods without a claim can't select devices. If they request extended resources, they select a
    pool.
    """
    found = label_owner(key)
    if found is None:
        return ""
    has_claim = any(each.name != CLAIM_NAME for each in shape.claims)
    if has_claim or not found.instead.endswith("in the claim"):
        return found.instead
    containers = (*shape.pod.containers, *shape.pod.init_containers)
    names = (name for each in containers for name in (*each.requests, *each.limits))
    needs_devices = bool(shape.claims) or any("/" in name for name in names)
    return f"select a pool by its label {POOL}" if needs_devices else ""

"""What the nodes of a planned pool carry: the labels and taints that every pool has, and those of the fleet."""

from __future__ import annotations

from dra_planner.model import Taint
from dra_planner.planfile import PlanFile
from dra_policies.rules.view import (
    DRA_LABEL,
    GKE_DRA_LABEL,
    GKE_NO_PLUGIN_LABEL,
    GPU_TAINT,
    POOL_LABEL,
    PRESENT_LABEL,
)


def planned_labels(plan_file: PlanFile, pool: str) -> dict[str, str]:
    """Return the labels that nodes of a planned pool carry, but for those that the cloud gives them."""
    labels = {PRESENT_LABEL: "true", DRA_LABEL: "true", POOL_LABEL: pool}
    if plan_file.fleet.cloud == "gke":
        labels |= {GKE_NO_PLUGIN_LABEL: "true", GKE_DRA_LABEL: "true"}
    return {**plan_file.fleet.pool(pool).labels, **labels}


def planned_taints(plan_file: PlanFile, pool: str) -> tuple[Taint, ...]:
    """Return the taints that nodes of a planned pool carry."""
    own = (Taint(each.key, each.value, each.effect) for each in plan_file.fleet.pool(pool).taints)
    return (GPU_TAINT, *own)

"""How a GKE pool's total number of nodes is said: GKE counts per zone unless its autoscaler counts in all."""

from typing import Any

from dra_planner.clouds.gke import CLOUD
from pulumi_dra.pool_inputs import Counts


def node_count_settings(counts: Counts, zones: int, location_policy: str) -> dict[str, Any]:
    """Return a node pool's count settings for `zones` zones.

    With the autoscaler: limits as totals, and a first count per zone that never exceeds the wanted total.
    Without: a count per zone; `check_node_counts` has made sure that it divides.
    """
    if counts.autoscaled:
        return {
            "autoscaling": {
                "total_min_node_count": counts.min,
                "total_max_node_count": counts.max,
                "location_policy": location_policy,
            },
            "initial_node_count": counts.desired // zones,
        }
    return {"node_count": counts.desired // zones}


def check_node_counts(counts: Counts, zones: int) -> str:
    """Return why a fixed count cannot be spread over the zones, or ""."""
    step = CLOUD.count_step(zones, autoscaled=counts.autoscaled)
    if counts.desired % step.nodes == 0:
        return ""
    return f"{counts.desired} nodes cannot be built: {step.why}; {step.fix}, or have a multiple of {step.nodes}"

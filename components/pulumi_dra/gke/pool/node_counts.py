"""How a GKE pool's total number of nodes is said: GKE counts per zone unless its autoscaler counts
in all.

A pool begins with its first count, of each zone; a minimum of the autoscaler adds none
(hashicorp/terraform-provider-google issues 8270 and 11594, terraform-google-kubernetes-engine issue
1517).
"""

from typing import Any

from dra_planner.clouds.gke import CLOUD
from pulumi_dra.inputs.pool_inputs import Counts

_USUAL_ZONES = 3  # of a region, where GKE picks them


def node_count_settings(counts: Counts, zones: int, location_policy: str) -> dict[str, Any]:
    """Return a node pool's count settings for `zones` zones.

    With the autoscaler: limits as totals, and a first count per zone that never exceeds the wanted
    total, since each zone must have the machines of a first count (vanvalenlab/kiosk-console issue
    367) and the project the quota. Without: a count per zone; `check_node_counts` has made sure
    that it divides.
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


def spread(count: int, zones: int) -> tuple[int, int]:
    """Return over how many of the zones so many nodes are spread, and how many each has at first; 0
    zones: GKE's own.

    As many zones as the count divides by; where it divides by none but one, all of them, and the
    nodes that are missing come when pods ask for them. Where GKE picks the zones each has a node at
    least.
    """
    if not zones:
        return _USUAL_ZONES, max(1, count // _USUAL_ZONES)
    most = min(zones, count)
    used = next((some for some in range(most, 1, -1) if count % some == 0), most)
    return used, count // used


def check_node_counts(counts: Counts, zones: int) -> str:
    """Return why a fixed count cannot be spread over the zones, or ""."""
    step = CLOUD.count_step(zones, autoscaled=counts.autoscaled)
    if counts.desired % step.nodes == 0:
        return ""
    return (
        f"{counts.desired} nodes can't be built, because {step.why}; {step.fix}, or have a "
        f"multiple of {step.nodes}"
    )

"""Node counts of a GKE pool.

GKE counts nodes per zone, but its autoscaler can count all zones. A pool starts with the initial
count per zone, and the autoscaler's minimum doesn't add nodes (hashicorp/terraform-provider-google
issues 8270 and 11594, terraform-google-kubernetes-engine issue 1517).
"""

from typing import Any

from dra_planner.clouds.gke import CLOUD
from pulumi_dra.inputs.pool_inputs import Counts

_USUAL_ZONES = 3  # zones of a region, if GKE chooses them


def node_count_settings(counts: Counts, zones: int, location_policy: str) -> dict[str, Any]:
    """Return a node pool's count settings for `zones` zones.

    With the autoscaler: limits as totals, and an initial count per zone that never exceeds the
    desired total, because each zone must have the machines for the initial count
    (vanvalenlab/kiosk-console issue 367) and the project must have the quota. Without: a count per
    zone. `check_node_counts` ensures that the total is divisible.
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
    """Return the number of zones to use, and the initial count of each. 0 zones: GKE chooses.

    The result has the most zones that divide the count. If only 1 divides it, all zones are used,
    and the autoscaler adds missing nodes for pending pods. If GKE chooses the zones, each has at
    least one node.
    """
    if not zones:
        return _USUAL_ZONES, max(1, count // _USUAL_ZONES)
    most = min(zones, count)
    used = next((some for some in range(most, 1, -1) if count % some == 0), most)
    return used, count // used


def check_node_counts(counts: Counts, zones: int) -> str:
    """Return why a fixed count can't be spread over the zones, or ""."""
    step = CLOUD.count_step(zones, autoscaled=counts.autoscaled)
    if counts.desired % step.nodes == 0:
        return ""
    return (
        f"{counts.desired} nodes can't be created, because {step.reason}; {step.fix}, or use a "
        f"multiple of {step.nodes}"
    )

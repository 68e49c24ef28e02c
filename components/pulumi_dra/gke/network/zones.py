"""Zones of a GKE cluster and its pools. Their number is known, but their names can be outputs of a
lookup.
"""

import pulumi

from dra_planner.clouds.gke import CLOUD
from pulumi_dra.inputs.reader import InputReader


def read_zones(read: InputReader, key: str, region: str) -> list[pulumi.Input[str]]:
    """Return a list of zones. Known names must be in the region (or equal the zone itself)."""
    value = read.identifiers(key)
    if isinstance(value, pulumi.Output):
        read.refuse(
            key,
            "must be a list (its elements can be outputs), because its length determines the node "
            "counts",
        )
        return []
    seen: set[str] = set()
    for index, zone in enumerate(value if isinstance(value, list) else []):
        if not isinstance(zone, str):
            continue
        if problem := CLOUD.zone_fault(zone, CLOUD.region_of(region) or region):
            read.refuse(f"{key}[{index}]", problem)
        elif zone in seen:
            read.refuse(f"{key}[{index}]", f'"{zone}" appears twice')
        seen.add(zone)
    return list(value) if isinstance(value, list) else []

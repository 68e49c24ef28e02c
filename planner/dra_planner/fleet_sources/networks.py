"""The network and the zones of an imported fleet."""

from __future__ import annotations

from typing import Any, Final

from dra_planner.clouds import Cloud, ClusterSettings
from dra_planner.clouds.foreign import ForeignCluster, ForeignPool

_SUBNETS: Final = "network.subnetIds"


def imported_network(
    described: ForeignCluster, region: str, version: str, of_cloud: Cloud, notes: list[str]
) -> dict[str, Any]:
    """Return the existing subnets of a cluster, or the zones of a new network.

    The result is empty for the defaults.
    """
    if described.subnet_ids:
        settings = ClusterSettings(
            region=region,
            kubernetes=version,
            autoscaler=described.autoscaler,
            subnet_ids=described.subnet_ids,
            zone_count=None,
            public_access_cidrs=(),
            set_keys=frozenset({_SUBNETS}),
        )
        listed = ", ".join(described.subnet_ids)
        fault = next(
            (reason for key, reason in of_cloud.cluster_faults(settings) if key == _SUBNETS), ""
        )
        if not fault:
            notes.append(
                f"the fleet uses the existing subnets {listed}; these subnets must be "
                "private, with outbound access"
            )
            return {"subnetIds": list(described.subnet_ids)}
        notes.append(f"the subnets {listed} aren't imported, because {_SUBNETS} {fault}")
    if described.zones and all(of_cloud.region_of(zone) == region for zone in described.zones):
        return {"zones": list(described.zones)}
    return {}


def fill_in_zones(pools: list[dict[str, Any]], first: str, notes: list[str]) -> None:
    """Add one zone to each pool without zones: the zone of another pool, or the first zone of the
    region.
    """
    zone = next((each["zones"][0] for each in pools if each.get("zones")), first)
    for each in pools:
        if not each.get("zones"):
            each["zones"] = [zone]
            notes.append(f"pool {each['name']}: its zone isn't set, so the fleet uses {zone}")


def imported_zones(pool: ForeignPool, region: str, of_cloud: Cloud, notes: list[str]) -> list[str]:
    """Return the zones with their full names, even if the tool writes only a number."""
    found: list[str] = []
    unknown: list[str] = []
    for zone in pool.zones:
        names = (zone, f"{region}-{zone}" if region else "")
        name = next((each for each in names if each and of_cloud.region_of(each)), "")
        (found if name else unknown).append(name or zone)
    if unknown:
        notes.append(
            f"pool {pool.name}: its zones {', '.join(unknown)} aren't imported, because they "
            f"aren't known zones in {of_cloud.title}"
        )
    return found

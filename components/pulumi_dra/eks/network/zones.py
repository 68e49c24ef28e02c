"""Zones of a network, and subnets in a pool's zones."""

from collections.abc import Sequence

from dra_planner.clouds.eks import CLOUD
from dra_planner.wording import either

FEWEST = CLOUD.zone_counts[0]
"""EKS requires at least this number of zones for the control plane."""


def choose_zones(named: Sequence[str], count: int, available: Sequence[str]) -> list[str]:
    """Return the region's first `count` zones, then other named zones, and more zones if there are
    fewer than two.

    Existing choices stay: a higher count or another name only adds zones. `available` can be empty
    if all zones are named. Raises ValueError if the region has too few zones.
    """
    first = sorted(available)
    if len(first) < count:
        raise ValueError(
            f"the network spans {count} zones, but only {', '.join(first) or 'none'} are available"
        )
    chosen = [*first[:count], *(zone for zone in named if zone not in first[:count])]
    others = [zone for zone in first if zone not in chosen]
    return [*chosen, *others[: max(0, FEWEST - len(chosen))]]


def zones_are_named(named: Sequence[str], count: int) -> bool:
    """Return whether the named zones are enough, so that none need to be chosen."""
    return count == 0 and len(named) >= FEWEST


def subnets_in(
    zones: Sequence[str], subnet_ids: Sequence[str], subnet_zones: Sequence[str]
) -> list[str]:
    """Return the subnets in `zones`, or all subnets if no zone is named. Raises ValueError if there
    are none.
    """
    if not zones:
        return list(subnet_ids)
    chosen = [
        subnet for subnet, zone in zip(subnet_ids, subnet_zones, strict=True) if zone in zones
    ]
    if not chosen:
        raise ValueError(
            f"the cluster doesn't have a subnet in {either(zones)}, only in "
            f"{' and '.join(sorted(set(subnet_zones)))}"
        )
    return chosen

"""Which zones a network spans, and which subnets lie in a pool's zones."""

from collections.abc import Sequence

from dra_planner.clouds.eks import CLOUD

FEWEST = CLOUD.zone_counts[0]
"""EKS puts the control plane into so many zones at least."""


def choose_zones(named: Sequence[str], count: int, available: Sequence[str]) -> list[str]:
    """Return the region's first `count` zones, then the named ones that are not among them, and
    more until two.

    What is chosen once stays: a greater count and one more name only add. `available` may be empty
    where nothing is left to choose. Raises ValueError when the region has too few.
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
    """Whether the named zones are all there are, so that nothing is left to choose."""
    return count == 0 and len(named) >= FEWEST


def subnets_in(
    zones: Sequence[str], subnet_ids: Sequence[str], subnet_zones: Sequence[str]
) -> list[str]:
    """Return the subnets that lie in `zones`, all of them when no zone is named; raises ValueError
    when none does.
    """
    if not zones:
        return list(subnet_ids)
    chosen = [
        subnet for subnet, zone in zip(subnet_ids, subnet_zones, strict=True) if zone in zones
    ]
    if not chosen:
        raise ValueError(
            f"no subnet lies in {', '.join(zones)}; the cluster's subnets are in "
            f"{', '.join(sorted(set(subnet_zones)))}"
        )
    return chosen

"""Which zones a network spans, and which subnets lie in a pool's zones."""

from collections.abc import Iterable, Sequence


def choose_zones(named: Sequence[str], count: int, available: Sequence[str]) -> list[str]:
    """Return `count` zones in order of name: the named ones, and the region's first others.

    In order, because a subnet that changes its zone is replaced with all that is in it: naming a zone that the network
    has anyway must not move any. Raises ValueError when the region has too few.
    """
    chosen = [*named, *(zone for zone in sorted(available) if zone not in named)][:count]
    if len(chosen) < count:
        raise ValueError(f"the network spans {count} zones, but only {', '.join(sorted(available))} are available")
    return sorted(chosen)


def wanted_zones(network_zones: int | Sequence[str], pool_zones: Iterable[str]) -> tuple[list[str], int]:
    """Return the zones that a new network must have by name, and how many it has in all.

    EKS puts the control plane into two zones at least.
    """
    named = sorted(set(pool_zones) | (set(network_zones) if not isinstance(network_zones, int) else set()))
    count = network_zones if isinstance(network_zones, int) else len(network_zones)
    return named, max(count, len(named), 2)


def subnets_in(zones: Sequence[str], subnet_ids: Sequence[str], subnet_zones: Sequence[str]) -> list[str]:
    """Return the subnets that lie in `zones`, all of them when no zone is named; raises ValueError when none does."""
    if not zones:
        return list(subnet_ids)
    chosen = [subnet for subnet, zone in zip(subnet_ids, subnet_zones, strict=True) if zone in zones]
    if not chosen:
        raise ValueError(
            f"no subnet lies in {', '.join(zones)}; the cluster's subnets are in {', '.join(sorted(set(subnet_zones)))}"
        )
    return chosen

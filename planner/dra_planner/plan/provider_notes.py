"""Notes of a plan about the cloud's decisions: node images, idle reservations, and zones with
reported failures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dra_planner.catalog.image_releases import ImageRule, image_rules
from dra_planner.catalog.tables import read_table
from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_planner.wording import listed

if TYPE_CHECKING:
    from dra_planner.fleet import Fleet


def provider_notes(fleet: Fleet) -> tuple[str, ...]:
    """Return one sentence for each fact, in the order of the pools."""
    notes = (*_images(fleet), *_reservations(fleet), *_zones(fleet), *_zones_without(fleet))
    return tuple(dict.fromkeys(notes))


def _images(fleet: Fleet) -> Iterator[str]:
    """Yield node image versions that a machine type needs, or with which it fails, if the cloud
    chooses the version.
    """
    if cloud(fleet.cloud).pool.release:
        return  # the components pin a working version
    for pool in fleet.pools:
        try:
            name = fleet.machine(pool.machine).name
        except PlannerError:
            continue
        rules = [rule for rule in image_rules() if rule.cloud == fleet.cloud and rule.covers(name)]
        if rules:
            label = cloud(fleet.cloud).image_label
            seen = f" Compare the node label {label}." if label else ""
            yield f"{name} {listed(map(_sentence, rules))}.{seen}"


def _zones(fleet: Fleet) -> Iterator[str]:
    """Yield zones in which users reported failures of a machine type's pools."""
    for row in read_table("zone_reports"):
        for pool in fleet.pools:
            zones = pool.zones or fleet.named_zones
            same = (fleet.cloud, pool.machine, pool.source.kind) == (
                row["cloud"],
                row["machine"],
                row["capacity"],
            )
            if same and row["zone"] in zones:
                yield (
                    f"Pool {pool.name}: {row['problem']} for {row['machine']} with {row['capacity']} "
                    f"capacity in {row['zone']}, as users reported on {row['seen_on']}. If this "
                    "happens, set another zone."
                )


def _zones_without(fleet: Fleet) -> Iterator[str]:
    """Yield pools' zones that don't offer the pool's machine type according to the newest
    listing.
    """
    for pool in fleet.pools:
        zones = pool.zones or fleet.named_zones
        try:
            machine = fleet.machine(pool.machine)
        except PlannerError:
            continue
        region_of = cloud(fleet.cloud).region_of
        having = [zone for zone in machine.zones if region_of(zone) == fleet.region]
        without = [zone for zone in zones if zone not in having]
        if having and without:
            yield (
                f"Pool {pool.name}: {machine.name} isn't available in {listed(without)}. "
                f"Set the pool's zones to one or more of {', '.join(having)}."
            )


def _sentence(rule: ImageRule) -> str:
    if rule.broken:
        return f"fails with node image {rule.broken}, because {rule.reason}"
    return f"needs node image {rule.first} or later, because {rule.reason}"


def _reservations(fleet: Fleet) -> Iterator[str]:
    """Yield the pools that don't use open reservations.

    Source: karpenter.sh, “Utilizing On-Demand Capacity …”.
    """
    if (
        cloud(fleet.cloud).node_class is None
        or fleet.autoscaler not in cloud(fleet.cloud).keep_counts
    ):
        return
    pools = [pool.name for pool in fleet.pools if pool.capacity == "on-demand"]
    if pools:
        yield (
            "Karpenter doesn't launch on-demand nodes in open capacity reservations. If you have "
            f"reservations for pool {', '.join(pools)}, set them in the pool's capacity."
        )

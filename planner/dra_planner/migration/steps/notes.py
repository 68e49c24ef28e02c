"""Facts that teams must resolve before a migration starts, because a step can't undo them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.outcome import Migration
from dra_planner.migration.priorities import device_priorities, priority_notes
from dra_planner.migration.target_cluster import Target


def notes_before_the_start(
    fleet: Fleet, target: Target, found: Migration, objects: Iterable[KubernetesObject]
) -> tuple[str, ...]:
    """Return facts and decisions for a team before the first step."""
    return tuple(_notes(fleet, target, found, list(objects)))


def _notes(
    fleet: Fleet, target: Target, found: Migration, objects: list[KubernetesObject]
) -> Iterator[str]:
    plugin_pools = [pool for pool in fleet.pools if not pool.is_dra]
    for resource, name in sorted(target.served.items()):
        if plugin_pools:
            yield (
                f"The DeviceClass {name} serves {resource}, so DRA nodes accept pods that request "
                f"{resource} as soon as the driver runs. Quotas for {resource} also count claims. "
                "If you don't want this, remove extendedResourceName from the class"
            )
    unplanned = [each for each in found.templates if each.served and not each.workload]
    if unplanned and plugin_pools:
        names = ", ".join(sorted({f"the {each.object}" for each in unplanned}))
        yield (
            f"The steps don't plan the pods of {names}, which get their devices through a "
            "DeviceClass. To plan these pods, pass the chart itself"
        )
    if fleet.is_autoscaled and not cloud(fleet.cloud).autoscalers[fleet.autoscaler]:
        yield (
            f"The fleet's autoscaler ({fleet.autoscaler}) doesn't start the first node of a DRA "
            "pool for a claim. Therefore, every step sets each pool's minimum to the number of "
            "nodes that the step needs"
        )
    yield from priority_notes(device_priorities(objects))
    for each in found.changes:
        if not each.is_changed:
            yield f"{each.object}: {each.what.splitlines()[0]}"

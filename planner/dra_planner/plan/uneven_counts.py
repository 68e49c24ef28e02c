"""Counts that GKE cannot build: without its autoscaler it takes a number of nodes per zone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_planner.clouds import cloud
from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet
from dra_planner.plan.values import PlannedPool


def uneven_counts(fleet: Fleet, pools: Iterable[PlannedPool]) -> Iterator[Diagnostic]:
    """Yield an error for each pool whose nodes do not divide by its zones."""
    for pool, planned in zip(fleet.pools, pools, strict=True):
        zones = fleet.zones_of(pool)
        nodes = planned.nodes.desired
        if nodes % cloud(fleet.cloud).count_step(zones, autoscaled=fleet.is_autoscaled):
            yield Diagnostic(
                severity="error",
                code="count-does-not-divide",
                message=f'pool "{pool.name}": {nodes} nodes cannot be spread evenly over {zones} zones, and without '
                "an autoscaler GKE counts per zone",
                fix=f"name one zone for the pool, have a minimum of {nodes + zones - nodes % zones}, "
                'or write "autoscaler: gke"',
            )

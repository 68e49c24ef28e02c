"""Counts that GKE cannot build: without its autoscaler it takes a number of nodes per zone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet
from dra_planner.plan.values import PlannedPool


def uneven_counts(fleet: Fleet, pools: Iterable[PlannedPool]) -> Iterator[Diagnostic]:
    """Yield an error for each pool whose nodes do not divide by its zones."""
    if fleet.cloud != "gke" or fleet.autoscaler != "none":
        return
    for pool, planned in zip(fleet.pools, pools, strict=True):
        zones = len(pool.zones) or fleet.zone_count
        nodes = planned.nodes.desired
        if nodes % zones:
            yield Diagnostic(
                severity="error",
                code="count-does-not-divide",
                message=f'pool "{pool.name}": {nodes} nodes cannot be spread evenly over {zones} zones, and without '
                "an autoscaler GKE counts per zone",
                fix=f"name one zone for the pool, have a minimum of {nodes + zones - nodes % zones}, "
                'or write "autoscaler: gke"',
            )

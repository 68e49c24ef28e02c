"""Machines that their cloud does not give on demand: told beside a plan, which counts on them all
the same.

A pool is on demand unless its fleet says otherwise, and where its machines will come from may be
decided last.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet

_ON_DEMAND = "on-demand"


def find_not_on_demand(fleet: Fleet) -> Iterator[Diagnostic]:
    """Yield a warning for each pool whose machines the cloud gives in other ways alone."""
    of_cloud = cloud(fleet.cloud)
    for pool in fleet.pools:
        if pool.source.kind != _ON_DEMAND:
            continue
        says, _, fix = of_cloud.purchase_fault(fleet.machine(pool.machine), _ON_DEMAND).partition(
            "; "
        )
        if says:
            yield Diagnostic(
                severity="warning",
                code="not-on-demand",
                message=f'pool "{pool.name}": {says}, so {of_cloud.title} rejects its nodes',
                fix=f"{fix} as its capacity",
            )

"""Machine types that the cloud doesn't sell on demand. The plan uses them, but reports a warning.

A pool is on demand unless its fleet sets another capacity type, which users often decide last.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet

_ON_DEMAND = "on-demand"


def find_not_on_demand(fleet: Fleet) -> Iterator[Diagnostic]:
    """Yield a warning for each pool whose machine type isn't available on demand."""
    of_cloud = cloud(fleet.cloud)
    for pool in fleet.pools:
        if pool.source.kind != _ON_DEMAND:
            continue
        if fault := of_cloud.purchase_fault(fleet.machine(pool.machine), _ON_DEMAND):
            yield Diagnostic(
                severity="warning",
                code="not-on-demand",
                message=f'pool "{pool.name}": {fault.problem}, so {of_cloud.title} can\'t create its nodes',
                fix=f"in the pool's capacity, {fault.fix}",
            )

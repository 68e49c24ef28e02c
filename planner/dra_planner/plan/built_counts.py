"""Node counts that can be built: some clouds take, without an autoscaler, only multiples of a pool's zones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_planner.clouds import CountStep, cloud
from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet, Pool
from dra_planner.plan.values import PlannedPool


def count_to_build(fleet: Fleet, name: str, nodes: int, maximum: int) -> int:
    """Return the least count from `nodes` on that the cloud can build; `nodes` itself where the maximum has none."""
    rounded = nodes + -nodes % _step(fleet, fleet.pool(name)).nodes
    return rounded if rounded <= maximum else nodes


def find_built_counts(fleet: Fleet, pools: Iterable[PlannedPool]) -> Iterator[Diagnostic]:
    """Yield a note for each pool that is built with more nodes than it needs, an error for one that cannot be built."""
    for pool, planned in zip(fleet.pools, pools, strict=True):
        step, nodes = _step(fleet, pool), planned.nodes.desired
        if nodes % step.nodes:
            upward = nodes + -nodes % step.nodes
            yield Diagnostic(
                severity="error",
                code="count-does-not-divide",
                message=f'pool "{pool.name}": {nodes} nodes cannot be built: {step.why}',
                fix=f"{step.fix}, or set its maximum to {upward}" if step.fix else f"set its maximum to {upward}",
            )
        elif nodes > planned.recommended:
            yield Diagnostic(
                severity="note",
                code="count-rounded-up",
                message=f'pool "{pool.name}": {planned.recommended} nodes are enough, '
                f"and {nodes} are built: {step.why}",
                fix=f"{step.fix} to build no more than is needed" if step.fix else "",
            )


def _step(fleet: Fleet, pool: Pool) -> CountStep:
    return cloud(fleet.cloud).count_step(fleet.zones_of(pool), autoscaled=fleet.is_autoscaled)

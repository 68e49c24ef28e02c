"""Node counts to build, depending on whether an autoscaler changes them later.

Without an autoscaler, some clouds only accept multiples of a pool's zones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from dra_planner.clouds import CountStep, cloud
from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet, Pool
from dra_planner.model import nodes_left
from dra_planner.plan.model import NodeRange, PlannedPool
from dra_planner.wording import counted, verb

COUNT_DOES_NOT_DIVIDE: Final = "count-does-not-divide"
"""The code of the error that the cloud can't build a pool's count within its maximum."""


def may_be_smaller(fleet: Fleet, name: str) -> bool:
    """Return whether a pool can have fewer nodes than its plan needs, because claims scale it up or
    it has a schedule.
    """
    return cloud(fleet.cloud).autoscalers[fleet.autoscaler] or fleet.pool(name).schedule is not None


def node_range(minimum: int, plan: int, maximum: int, smaller: bool) -> NodeRange:
    """Return minimum, desired, and maximum of a pool whose plan needs `plan` nodes.

    The minimum is lower than the plan's count only if the pool may be `smaller`.
    """
    least = minimum if smaller else plan
    return NodeRange(minimum=min(least, plan), desired=plan, maximum=maximum)


def counts_to_build(
    fleet: Fleet, needed: Mapping[str, int], maximums: Mapping[str, int]
) -> dict[str, int]:
    """Return `count_to_build` of every pool, within the limits that pools share."""
    built, limits = dict(needed), fleet.limits
    for name, nodes in needed.items():
        left = nodes_left(limits, built).get(name)
        most = maximums[name] if left is None else min(maximums[name], nodes + left)
        built[name] = count_to_build(fleet, name, nodes, most)
    return built


def count_to_build(fleet: Fleet, name: str, nodes: int, maximum: int) -> int:
    """Return the lowest count (at least `nodes`) that the cloud can build within the maximum.

    Returns `nodes` if there is no such count.
    """
    rounded = nodes + -nodes % _step(fleet, fleet.pool(name)).nodes
    return rounded if rounded <= maximum else nodes


def find_built_counts(fleet: Fleet, pools: Iterable[PlannedPool]) -> Iterator[Diagnostic]:
    """Yield a note for each pool with more nodes than needed, and an error for each pool that can't
    be built.
    """
    rows = tuple(pools)
    built = {planned.name: planned.nodes.desired for planned in rows}
    for pool, planned in zip(fleet.pools, rows, strict=True):
        step, nodes = _step(fleet, pool), planned.nodes.desired
        if nodes % step.nodes:
            if planned.enough > planned.maximum:
                continue  # the fix for pending pods raises the maximum to a count that divides
            upward = nodes + -nodes % step.nodes
            raised = _raised(fleet, planned, {**built, pool.name: upward}, upward)
            yield Diagnostic(
                severity="error",
                code=COUNT_DOES_NOT_DIVIDE,
                message=f'pool "{pool.name}": {counted(nodes, "node")} can\'t be created, because {step.reason}',
                fix=f"{step.fix}, or {raised}" if step.fix else raised,
            )
        elif nodes > planned.recommended:
            enough = f"{counted(planned.recommended, 'node')} {verb(planned.recommended, 'are')}"
            yield Diagnostic(
                severity="note",
                code="count-rounded-up",
                message=f'pool "{pool.name}": {enough} enough, but Pulumi creates {nodes}, because '
                f"{step.reason}",
                fix=f"{step.fix} to create only the needed nodes" if step.fix else "",
            )


def find_raised_minimums(fleet: Fleet, pools: Iterable[PlannedPool]) -> Iterator[Diagnostic]:
    """Yield a note for each pool that keeps more nodes than its minimum, because claims don't scale
    it up.
    """
    for planned in pools if fleet.autoscaler != "none" else ():
        least = planned.nodes.minimum
        if least > planned.minimum and not may_be_smaller(fleet, planned.name):
            yield Diagnostic(
                severity="note",
                code="minimum-raised",
                message=f'pool "{planned.name}" keeps at least {counted(least, "node")}, not '
                f"{planned.minimum}, "
                f"because {fleet.autoscaler} doesn't start nodes for claims on "
                f"{cloud(fleet.cloud).title}",
            )


def _raised(fleet: Fleet, planned: PlannedPool, counts: Mapping[str, int], nodes: int) -> str:
    """Return the limits to raise for this number of nodes: the pool's maximum, and shared
    limits.
    """
    fix = f"set the pool's maximum to {nodes}"
    shared = [
        (
            f"raise {limit.name} to "
            f"{counted(limit.used(counts) + limit.beside + limit.unsure, limit.unit)}"
        )
        for limit in fleet.limits
        if limit.used(counts) > limit.most
    ]
    return " and ".join((*([fix] if nodes > planned.maximum else []), *shared))


def _step(fleet: Fleet, pool: Pool) -> CountStep:
    return cloud(fleet.cloud).count_step(fleet.zones_of(pool), autoscaled=fleet.is_autoscaled)

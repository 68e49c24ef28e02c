"""A minimum number of nodes that exceeds the lowest demand, so that some nodes are idle."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.wording import counted, verb
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

HOURS_PER_MONTH = 730


def check(view: StackView) -> Iterator[Finding]:
    judgement = view.judgement
    floor = None if judgement is None else judgement.sizings.get("floor")
    if judgement is None or floor is None or not view.complete or view.record is not None:
        return  # a plan sets the number of nodes and explains it
    if any(workload.verdict != "fits" for workload in floor.workloads):
        return  # workloads that don't fit don't use devices yet, but will after they are corrected
    declared = {pool.offer_name: pool for pool in view.pools}
    for size in floor.pools:
        pool = declared.get(size.name)
        if pool is None or not pool.count_min or pool.is_fixed:
            continue
        each = size.devices.total // size.plan if size.plan else 0
        needed = -(-size.devices.used // each) if each else 0
        idle = pool.count_min - max(needed, 1)
        if idle > 0 and size.plan == pool.count_min:
            usd = (size.hourly_usd or 0) * idle * HOURS_PER_MONTH
            waste = (
                f"{counted(idle, 'idle node')} {verb(idle, 'cost')} USD {usd:,.0f} per month"
                if usd
                else f"{counted(idle, 'node')} {verb(idle, 'are')} idle"
            )
            yield Finding(
                message=f"{pool.title} keeps at least {counted(pool.count_min, 'node')}, but "
                f"its workloads need only {needed} when demand is lowest, so {waste}",
                fix=f"set the pool's minimum to {max(needed, 1)}",
                urn=pool.urn,
            )


RULE = Rule(
    id="pool-minimum-above-floor",
    description="A pool's minimum exceeds the number of nodes needed at the lowest demand.",
    why="You pay for idle GPU nodes whenever demand is low.",
    fix="Lower the pool's minimum, but keep one node, because few autoscalers can scale "
    "a pool from zero for pods with claims.",
    level="advisory",
    needs="stack",
    check=check,
)

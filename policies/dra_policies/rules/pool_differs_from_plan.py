"""Each node group or node pool is what its row in the plan says, before it is created."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.model import Taint
from dra_planner.planfile import PlanFile, PoolRow
from dra_policies.rules.fitting import counted
from dra_policies.rules.planned_nodes import planned_labels, planned_taints
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import (
    DRA_LABEL,
    GKE_DRA_LABEL,
    GKE_NO_PLUGIN_LABEL,
    POOL_LABEL,
    PRESENT_LABEL,
    DeclaredPool,
    StackView,
)


def check(view: StackView) -> Iterator[Finding]:
    if view.record is None or view.record.plan_file is None:
        return
    plan_file = view.record.plan_file
    rows = {row.name: row for row in plan_file.pools}
    for pool in view.pools:
        yield from _check_pool(pool, rows, plan_file)
    if view.complete:
        yield from _absent(view, rows)


def _check_pool(pool: DeclaredPool, rows: dict[str, PoolRow], plan_file: PlanFile) -> Iterator[Finding]:
    is_for_claims = pool.is_dra and pool.has_gpus is not False
    if pool.name is None:
        if pool.has_gpus is not False:
            yield _unknown(pool, f"the label {POOL_LABEL}")
    elif not pool.name:
        if is_for_claims:
            yield Finding(
                message=f"{pool.title} is for DRA, but carries no label {POOL_LABEL}, so no row of the plan is its own",
                fix=f"label its nodes {POOL_LABEL}=NAME with one of: {_names(rows)}",
                urn=pool.urn,
            )
    elif pool.name not in rows:
        if is_for_claims:  # others, such as the nodes for controllers, are none of the plan's business
            yield Finding(
                message=f'{pool.title} is labelled {POOL_LABEL}="{pool.name}", but the plan has no such pool',
                fix=f"add it to the fleet and plan again, or use one of: {_names(rows)}",
                urn=pool.urn,
            )
    else:
        row = rows[pool.name]
        yield from _compare("machine", pool.machine, row.machine, pool)
        yield from _compare_counts(pool, row)
        if pool.has_gpus is not False:
            yield from _compare_labels(pool, planned_labels(plan_file, pool.name))
            yield from _compare_taints(pool, planned_taints(plan_file, pool.name))


def _compare(what: str, declared: object, planned: object, pool: DeclaredPool) -> Iterator[Finding]:
    if declared is None:
        yield _unknown(pool, what)
    elif declared != planned:
        yield Finding(
            message=f"{pool.title}: its {what} is {declared}, but the plan says {planned}", fix=_FIX, urn=pool.urn
        )


def _compare_counts(pool: DeclaredPool, row: PoolRow) -> Iterator[Finding]:
    if not pool.is_fixed:
        yield from _compare("minimum node count", pool.count_min, row.nodes.min, pool)
        yield from _compare("maximum node count", pool.count_max, row.nodes.max, pool)
    if not pool.leaves_desired:
        yield from _compare("desired node count", pool.count_desired, row.nodes.desired, pool)


def _compare_labels(pool: DeclaredPool, planned: dict[str, str]) -> Iterator[Finding]:
    for key, wanted in planned.items():
        value = "" if pool.labels is None else pool.labels.get(key, "")
        if pool.labels is None or value is None:
            yield _unknown(pool, f"the label {key}")
        elif value != wanted:
            is_now = f'"{value}"' if value else "absent"
            yield Finding(
                message=f"{pool.title}: its node label {key} is {is_now}, but the plan counts on {key}={wanted}",
                fix=_LABEL_FIXES.get(key, "set it, or pods that select it are planned on nodes that lack it"),
                urn=pool.urn,
            )


def _compare_taints(pool: DeclaredPool, planned: tuple[Taint, ...]) -> Iterator[Finding]:
    if pool.taints is None:
        yield _unknown(pool, "its taints")
        return
    for taint in planned:
        if taint not in pool.taints:
            yield Finding(
                message=f"{pool.title}: its nodes do not carry the taint {taint} that the plan counts on",
                fix="add it, or other pods take the cpu and memory that the plan gave to pods with claims",
                urn=pool.urn,
            )
    for taint in pool.taints:
        if taint not in planned and taint.effect != "PreferNoSchedule":
            yield Finding(
                message=f"{pool.title}: its nodes carry the taint {taint}, which the plan does not know",
                fix="remove it, or write it to the pool in the fleet and plan again",
                urn=pool.urn,
            )


def _absent(view: StackView, rows: dict[str, PoolRow]) -> Iterator[Finding]:
    """Yield rows of the plan that no resource of the whole stack stands for."""
    declared = {pool.name for pool in view.pools}
    for name in [] if None in declared else sorted(set(rows) - declared):
        row = rows[name]
        if row.nodes.max > 0:
            nodes = counted(row.nodes.max, "node")
            yield Finding(
                message=f'the plan has a pool "{name}" ({row.machine}, at most {nodes}), '
                f'but no node group or node pool of this stack is labelled {POOL_LABEL}="{name}"',
                fix="declare it, or remove it from the fleet and plan again",
                urn=view.record.urn if view.record else "",
            )


def _unknown(pool: DeclaredPool, what: str) -> Finding:
    return Finding(
        message=f"{pool.title}: {what} is not known yet, so it cannot be compared with the plan",
        urn=pool.urn,
        certain=False,
    )


def _names(rows: dict[str, PoolRow]) -> str:
    return ", ".join(sorted(rows)) or "none"


_NO_DRIVER = "set it, or no kubelet plugin of the driver runs on these nodes"
_LABEL_FIXES = {
    PRESENT_LABEL: _NO_DRIVER,
    DRA_LABEL: _NO_DRIVER,
    GKE_NO_PLUGIN_LABEL: "set it, or GKE runs its own device plugin on these nodes",
    GKE_DRA_LABEL: "set it, or GKE's autoscaler does not wake this pool for claims",
}
_FIX = "declare what the plan says, or change the fleet and plan again: pulumi-dra plan --stack STACK --write"

RULE = Rule(
    id="pool-differs-from-plan",
    says="Every GPU pool has the machine, counts, labels and taints that its row in the plan says.",
    why="The claims were judged on the plan's pools; other pools may hold fewer devices, or keep the pods away.",
    fix=_FIX,
    level="mandatory",
    check=check,
)

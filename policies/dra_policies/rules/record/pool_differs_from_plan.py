"""Node groups or node pools that differ from their row in the plan, checked before they are
created.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import POOL, NodeLabel, cloud
from dra_planner.fleet import Pool
from dra_planner.model import Taint
from dra_planner.planfile import PlanFile, PoolRow
from dra_planner.wording import counted
from dra_policies.rules.record.fleet_change import FLEET, PLAN_AGAIN
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.planned_nodes import planned_nodes
from dra_policies.view.pool_machines import is_spot
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.record is None or view.record.plan_file is None:
        return
    plan_file = view.record.plan_file
    rows = {row.name: row for row in plan_file.pools}
    for pool in view.pools:
        yield from _check_pool(pool, rows, plan_file, own_images=view.has_gpu_operator)
    if view.complete:
        yield from _absent(view, rows)


def _check_pool(
    pool: DeclaredPool, rows: dict[str, PoolRow], plan_file: PlanFile, *, own_images: bool
) -> Iterator[Finding]:
    """Compare a pool with its row in the plan. `own_images`: something other than the image might
    install the driver.
    """
    is_for_claims = pool.is_labelled and pool.has_gpus is not False
    if pool.name is None:
        if pool.has_gpus is not False:
            yield _unknown(pool, f"the label {POOL}")
    elif not pool.name:
        if is_for_claims:
            yield Finding(
                message=f"{pool.title} is a DRA pool, but doesn't have the label {POOL}, so it "
                "can't be compared with the plan",
                fix=f"add the label {POOL}=NAME to its nodes, where NAME is a pool in the plan: {_names(rows)}",
                urn=pool.urn,
            )
    elif pool.name not in rows:
        # the plan doesn't cover other pools, such as the nodes for controllers
        if is_for_claims:
            yield Finding(
                message=f'{pool.title} is labeled {POOL}="{pool.name}", but the plan doesn\'t '
                "contain this pool",
                fix=f"add the pool to {FLEET} and {PLAN_AGAIN}, or label the nodes with the name "
                f"of a planned pool: {_names(rows)}",
                urn=pool.urn,
            )
    else:
        row = rows[pool.name]
        yield from _compare("machine type", pool.machine, row.machine, pool)
        yield from _compare_counts(pool, row, changing=plan_file.fleet.counts_change(pool.name))
        yield from _compare_nodes(pool, plan_file.fleet.pool(pool.name), own_images=own_images)
        if pool.has_gpus is not False:
            nodes = planned_nodes(plan_file, pool.name)
            yield from _compare_labels(pool, nodes.labels)
            yield from _compare_taints(pool, nodes.taints)


def _compare(what: str, declared: object, planned: object, pool: DeclaredPool) -> Iterator[Finding]:
    if declared is None:
        yield _unknown(pool, what)
    elif declared != planned:
        yield Finding(
            message=f"the {what} of {pool.title} is {declared}, but the plan expects {planned}",
            fix=_fix(what, planned),
            urn=pool.urn,
        )


def _compare_counts(pool: DeclaredPool, row: PoolRow, *, changing: bool) -> Iterator[Finding]:
    """Compare the limits, and the count if only the stack changes it."""
    if not pool.is_fixed:
        yield from _compare("minimum node count", pool.count_min, row.nodes.min, pool)
        yield from _compare("maximum node count", pool.count_max, row.nodes.max, pool)
    if not pool.leaves_desired and not changing:
        yield from _compare("desired node count", pool.count_desired, row.nodes.desired, pool)


def _compare_nodes(pool: DeclaredPool, planned: Pool, *, own_images: bool) -> Iterator[Finding]:
    """Compare the capacity type, boot settings, and devices of nodes, if the pool's resource shows
    them.
    """
    of_cloud = cloud(pool.cloud)
    has_spot, wants_spot = is_spot(pool), planned.source.kind == "spot"
    if has_spot is None:
        yield _unknown(pool, "capacity type")
    elif has_spot and not wants_spot:
        text = f"{pool.title} uses Spot nodes, but the plan expects {planned.source.kind} nodes"
        fix = _fix("capacity type", planned.source.kind)
        yield Finding(message=text, fix=fix, urn=pool.urn)
    elif wants_spot and not has_spot:
        text = f"{pool.title} doesn't use Spot nodes, but the plan expects Spot nodes"
        yield Finding(message=text, fix=_fix("capacity type", "Spot"), urn=pool.urn)
    path = of_cloud.pool.max_pods
    if path and pool.own.at(path) is not None and planned.max_pods is not None:
        yield from _compare(
            "maximum number of pods", pool.own.count(path, 0), planned.max_pods, pool
        )
    images = set[str]() if own_images else set(of_cloud.gpu_images.values())
    if (
        pool.has_gpus
        and planned.image is None
        and images
        and pool.image
        and pool.image not in images
    ):
        wanted = " or ".join(sorted(images))
        text = f"the image of {pool.title} is {pool.image}, but the plan expects {wanted}"
        fix = _fix("image", wanted)
        yield Finding(message=text, fix=fix, urn=pool.urn, certain=False)


def _compare_labels(pool: DeclaredPool, planned: tuple[NodeLabel, ...]) -> Iterator[Finding]:
    for label in planned:
        key, wanted = label.key, label.value
        value = "" if pool.labels is None else pool.labels.get(key, "")
        if pool.labels is None or value is None:
            yield _unknown(pool, f"the label {key}")
        elif value != wanted:
            lack = f"have the label {key}={value}" if value else f"don't have the label {key}"
            yield Finding(
                message=f"the nodes in {pool.title} {lack}, but the plan expects {key}={wanted}",
                fix=f"set the node label {key}={wanted}. Otherwise, {label.otherwise}",
                urn=pool.urn,
            )


def _compare_taints(pool: DeclaredPool, planned: tuple[Taint, ...]) -> Iterator[Finding]:
    if pool.taints is None:
        yield _unknown(pool, "its taints")
        return
    for taint in planned:
        if taint not in pool.taints:
            yield Finding(
                message=f"the nodes in {pool.title} don't have the taint {taint}, which the plan expects",
                fix="add the taint to the pool. Otherwise, other pods can use the CPU and memory "
                "that the plan reserves for pods with claims",
                urn=pool.urn,
            )
    for taint in pool.taints:
        if taint not in planned and taint.effect != "PreferNoSchedule":
            yield Finding(
                message=f"the nodes in {pool.title} have the taint {taint}, which isn't in the plan",
                fix=f"remove the taint from the pool, or add the taint to the pool in {FLEET} and "
                f"{PLAN_AGAIN}",
                urn=pool.urn,
            )


def _absent(view: StackView, rows: dict[str, PoolRow]) -> Iterator[Finding]:
    """Yield rows of the plan without a resource in the whole stack."""
    declared = {pool.name for pool in view.pools}
    for name in [] if None in declared else sorted(set(rows) - declared):
        row = rows[name]
        if row.nodes.max > 0:
            nodes = counted(row.nodes.max, "node")
            yield Finding(
                message=f'the plan has a pool "{name}" ({row.machine}, at most {nodes}), but '
                f'no node group or node pool in this stack is labeled {POOL}="{name}"',
                fix=f"declare the pool, or remove it from {FLEET} and {PLAN_AGAIN}",
                urn=view.record.urn if view.record else "",
            )


def _unknown(pool: DeclaredPool, what: str) -> Finding:
    return Finding(
        message=f"{pool.title}: {what} isn't known yet, so it can't be compared with the plan",
        urn=pool.urn,
        certain=False,
    )


def _names(rows: dict[str, PoolRow]) -> str:
    return ", ".join(sorted(rows)) or "none"


def _fix(what: str, planned: object) -> str:
    return f"set the {what} to {planned}. To keep the current value, set it in {FLEET}, and {PLAN_AGAIN}"


RULE = Rule(
    id="pool-differs-from-plan",
    description="A GPU pool's machine type, counts, labels, or taints differ from the plan.",
    why="The plan checked the claims against the planned pools. Other pools might have fewer "
    "devices, or reject the pods.",
    fix=f"Use the planned value in the pool, or change {FLEET} and {PLAN_AGAIN}.",
    level="mandatory",
    needs="stack",
    check=check,
    can_remediate=True,
)

"""Placement settings that conflict with bought capacity or with the upgrade strategy."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    for pool in view.pools:
        yield from _of_nvlink(pool)
        yield from _of_spread(pool, view)
        subnets = pool.own.texts("subnetIds")
        if (
            subnets
            and len(subnets) > 1
            and pool.template is not None
            and pool.template.text("placement.groupName")
        ):
            yield Finding(
                message=f"{pool.title} has {len(subnets)} subnets, but the placement group of its "
                "launch template supports only one zone",
                fix="name one subnet in subnetIds",
                urn=pool.urn,
            )


def _of_nvlink(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a pool whose nodes share NVLink, without the policy that starts them in one domain."""
    path, machine = cloud(pool.cloud).pool.nvlink_placement, known_machine(pool.cloud, pool.machine)
    if (
        path
        and machine
        and machine.nvlink_nodes
        and pool.count_max != 1
        and pool.own.has(path) is False
    ):
        yield Finding(
            message=f"{pool.title} has no placement policy, so its {machine.name} nodes may be in "
            "different NVLink "
            f"domains (of {machine.nvlink_nodes} nodes each)",
            fix=f"name a placement policy in {path}, one for each domain",
            urn=pool.urn,
        )


def _of_spread(pool: DeclaredPool, view: StackView) -> Iterator[Finding]:
    """Yield a pool that may have more nodes than its spread placement group holds."""
    template = cloud(pool.cloud).pool.template
    most, subnets = pool.count_max, pool.own.texts("subnetIds")
    if template is None or template.spread is None or not pool.template_urn or most is None:
        return
    declared = {each.urn: each for each in view.declared}
    used = declared.get(pool.template_urn)
    for urn in sorted(used.sources_of(template.spread.used_by) if used is not None else ()):
        group = declared.get(urn)
        if group is None or group.type != template.spread.token or not subnets:
            continue
        holds = template.spread.most_per_zone * len(subnets)
        if group.props.text("strategy") == "spread" and most > holds:
            yield Finding(
                message=f"{pool.title} may have {most} nodes, but its spread placement group holds "
                f"{template.spread.most_per_zone} in each zone, {holds} in all",
                fix=f"set the maximum of the pool to {holds}, or use a group with the strategy "
                "cluster or partition",
                urn=pool.urn,
            )


RULE = Rule(
    id="placement-cannot-be-met",
    says="Placement, capacity, and upgrade settings of a pool conflict.",
    why="The cloud rejects nodes when the pool is created or upgraded.",
    fix="Remove one of the settings.",
    level="advisory",
    needs="stack",
    check=check,
)

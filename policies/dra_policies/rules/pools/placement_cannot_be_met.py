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
        yield from _of_fixed_count(pool)
        yield from _of_cluster_limits(pool, view)
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
                fix="set only one subnet in subnetIds",
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
            message=f"{pool.title} doesn't set a placement policy, so its {machine.name} nodes "
            f"may be in different NVLink domains (of {machine.nvlink_nodes} nodes each)",
            fix=f"set {path} to a placement policy, with one pool and one policy for each domain",
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
                message=f"{pool.title} can have up to {most} nodes, but its spread placement "
                f"group allows {template.spread.most_per_zone} per zone ({holds} in "
                "total)",
                fix=f"set the pool's maximum to {holds}, or use a placement group with the "
                "`cluster` or `partition` strategy",
                urn=pool.urn,
            )


def _of_fixed_count(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield an autoscaled pool whose number of nodes each update sets again."""
    path = cloud(pool.cloud).pool.fixed_count
    if path and not pool.is_fixed and not pool.leaves_desired and pool.own.has(path) is not False:
        yield Finding(
            message=f"{pool.title} is autoscaled, but it also sets {path}, so updates remove nodes "
            "that the autoscaler added",
            fix=f"remove {path}, or add it to ignoreChanges",
            urn=pool.urn,
        )


def _of_cluster_limits(pool: DeclaredPool, view: StackView) -> Iterator[Finding]:
    """Yield limits of a cluster's autoscaler that a pool exceeds at its maximum."""
    path, resource, maximum = cloud(pool.cloud).cluster.autoscaler_limits
    machine, most = known_machine(pool.cloud, pool.machine), pool.count_max
    cluster = next((each for each in view.declared if each.urn == pool.cluster_urn), None)
    if not path or machine is None or cluster is None or not most or pool.is_fixed:
        return
    for limit in cluster.props.items(path) or ():
        named, allowed = limit.text(resource), limit.count(maximum, -1)
        size = {"cpu": machine.vcpus, "memory": (machine.memory_mib or 0) // 1024}.get(named or "")
        if size and allowed is not None and 0 <= allowed < size * most:
            yield Finding(
                message=f"{pool.title} may have {most} nodes, but the {named} limit of its "
                f"cluster's autoscaler, {allowed}, only allows {allowed // size}",
                fix=f"raise the limit of {named} in {path} of the cluster to {size * most} or more",
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

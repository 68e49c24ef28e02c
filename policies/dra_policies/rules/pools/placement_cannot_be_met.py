"""Placement settings that conflict with purchased capacity or with the upgrade strategy."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_planner.wording import listed
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.address_ranges import zones_of_subnets
from dra_policies.view.node_limits import needed_nodes, node_limits
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    for limit in node_limits(view):
        if needed_nodes(view, limit.pool) <= limit.allowed:
            yield Finding(
                message=f"{limit.pool.title} can grow to {limit.pool.count_max} nodes, but "
                f"{limit.name}",
                fix=f"set the pool's maximum to {limit.allowed}. Alternatively, {limit.fix}",
                urn=limit.pool.urn,
            )
    for pool in view.pools:
        yield from _of_nvlink(pool)
        yield from _of_fixed_count(pool)
        yield from _of_fast_network(view, pool)
        subnets = pool.own.texts("subnetIds")
        if (
            subnets
            and len(subnets) > 1
            and pool.template is not None
            and pool.template.text("placement.groupName")
        ):
            yield Finding(
                message=f"{pool.title} has {len(subnets)} subnets, but the placement group of its "
                "launch template requires all nodes to be in one zone",
                fix="keep only one subnet in subnetIds",
                urn=pool.urn,
            )


def _of_fast_network(view: StackView, pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a pool that spans several zones, although its multi-node network doesn't connect zones.

    AWS EC2 user guide, "Elastic Fabric Adapter": traffic of EFA can't cross zones.
    """
    network, zones = cloud(pool.cloud).pool.fast_network, zones_of_subnets(view, pool)
    if network is None or pool.template is None or pool.count_max == 1 or None in zones:
        return
    key, value = network.kind
    interfaces = pool.template.items(network.interfaces) if network.interfaces else ()
    fast = [each for each in interfaces or () if (each.text(key) or "").startswith(value)]
    if fast and len(set(zones)) > 1:
        yield Finding(
            message=f"{pool.title} has nodes in several zones "
            f"({listed(sorted(filter(None, zones)))}), but traffic between {network.interface}s "
            "can't cross zones, so jobs with nodes in different zones fail",
            fix="use subnets in only one zone for this pool, and create a separate pool for "
            "each additional zone",
            urn=pool.urn,
        )


def _of_nvlink(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a pool with NVLink between nodes that lacks the policy that starts its nodes in one
    domain.
    """
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
            f"can be in different NVLink domains (of {machine.nvlink_nodes} nodes each)",
            fix=f"set {path} to a placement policy. Use one pool and one policy per NVLink domain",
            urn=pool.urn,
        )


def _of_fixed_count(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield an autoscaled pool whose node count every update resets."""
    paths = cloud(pool.cloud).pool
    path, is_inside = paths.fixed_count, pool.urn == pool.cluster_urn
    is_left = pool.is_fixed or pool.leaves_desired or is_inside
    if path and not is_left and pool.own.has(path) is not False:
        yield Finding(
            message=f"{pool.title} is autoscaled, but it also sets {path}, so updates remove nodes "
            "that the autoscaler added",
            fix=f"remove {path}, or add {path} to the resource's ignoreChanges"
            if len(paths.desired) > 1
            else f"add {path} to the resource's ignoreChanges",
            urn=pool.urn,
        )


RULE = Rule(
    id="placement-cannot-be-met",
    description="A pool's placement, capacity, and upgrade settings conflict.",
    why="The cloud can't create nodes when you create or upgrade the pool.",
    fix="Remove one of the conflicting settings.",
    level="advisory",
    needs="stack",
    check=check,
)

"""Limits outside a pool that allow fewer nodes than its maximum: placement groups and limits of the
cluster's autoscaler.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dra_planner.clouds import cloud
from dra_planner.wording import counted
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView

_MIB_PER_GIB = 1024


class NodeLimit(Struct, frozen=True, kw_only=True):
    """The number of nodes that a limit allows for a pool, with the limit's name, and the fix that
    allows more nodes.
    """

    pool: DeclaredPool
    allowed: int
    name: str
    fix: str


def node_limits(view: StackView) -> Iterator[NodeLimit]:
    """Yield the limits that a pool at its maximum exceeds."""
    for pool in view.pools:
        for limit in (*_of_spread(pool, view), *_of_cluster(pool, view)):
            if pool.count_max is not None and pool.count_max > limit.allowed:
                yield limit


def needed_nodes(view: StackView, pool: DeclaredPool) -> int:
    """Return the number of nodes that a pool always has: its minimum, or the lower bound for all
    claims.
    """
    least = max(pool.count_min or 0, pool.count_desired or 0)
    judgement = view.judgement
    sizing = judgement.sizings.get(judgement.level) if judgement is not None else None
    bounds = [size.bound for size in sizing.pools if size.name == pool.offer_name] if sizing else []
    return max(least, *bounds) if bounds else least


def _of_spread(pool: DeclaredPool, view: StackView) -> Iterator[NodeLimit]:
    template = cloud(pool.cloud).pool.template
    subnets = pool.own.texts("subnetIds")
    if template is None or template.spread is None or not pool.template_urn:
        return
    declared = {each.urn: each for each in view.declared}
    used = declared.get(pool.template_urn)
    for urn in sorted(used.sources_of(template.spread.used_by) if used is not None else ()):
        group = declared.get(urn)
        if group is None or group.type != template.spread.token or not subnets:
            continue
        if group.props.text("strategy") == "spread":
            allowed = template.spread.most_per_zone * len(subnets)
            yield NodeLimit(
                pool=pool,
                allowed=allowed,
                name=f"its spread placement group allows only {template.spread.most_per_zone} "
                f"nodes per zone ({allowed} in total)",
                fix="add subnets in other zones, or use a placement group with the `cluster` or "
                "`partition` strategy",
            )


def _of_cluster(pool: DeclaredPool, view: StackView) -> Iterator[NodeLimit]:
    path, resource, maximum = cloud(pool.cloud).cluster.autoscaler_limits
    machine, most = known_machine(pool.cloud, pool.machine), pool.count_max
    cluster = next((each for each in view.declared if each.urn == pool.cluster_urn), None)
    if not path or machine is None or cluster is None or not most or pool.is_fixed:
        return
    for limit in cluster.props.items(path) or ():
        named, amount = limit.text(resource), limit.count(maximum, -1)
        size = {
            "cpu": machine.vcpus,
            "memory": (machine.memory_mib or 0) // _MIB_PER_GIB,
        }.get(named or "")
        if size and amount is not None and amount >= 0:
            shown = {"cpu": "CPU"}.get(named or "", named)
            yield NodeLimit(
                pool=pool,
                allowed=amount // size,
                name=f"the {shown} limit of the cluster's autoscaler ({amount}) allows only "
                f"{counted(amount // size, 'node')}",
                fix=f"raise the {shown} limit in the cluster's {path} to at least {size * most}",
            )

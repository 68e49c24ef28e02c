"""Clusters in which every pool has a taint that the cluster's own pods don't tolerate."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import ClusterResource, cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import has_value
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or not view.pools or _has_other_nodes(view):
        return
    # without such pools, the system nodes might be in another stack
    plain = [pool for pool in view.pools if pool.has_gpus is False]
    if plain and all(_barrier(pool) for pool in view.pools):
        pool, barrier = plain[0], _barrier(plain[0])
        yield Finding(
            message=f'CoreDNS doesn\'t tolerate the taints of any pool (for example, taint "{barrier}" on '
            f"{pool.title}), so CoreDNS stays pending and pods can't resolve names",
            fix="remove the taint from a pool without GPUs, or replace it with the "
            "CriticalAddonsOnly taint",
            urn=pool.urn,
        )


def _barrier(pool: DeclaredPool) -> str:
    """Return a taint that keeps the cluster's own pods off the nodes. "" if there is no such taint,
    or if it's unknown.
    """
    return next(
        (
            taint.key
            for taint in pool.taints or ()
            if taint.effect in ("NoSchedule", "NoExecute")
            and taint.key not in cloud(pool.cloud).tolerated_by_system
        ),
        "",
    )


def _has_other_nodes(view: StackView) -> bool:
    """Return True if pods without devices can run on nodes outside the stack, or if an add-on sets
    its own tolerations.
    """
    if any("karpenter" in chart for chart in view.charts):
        return True
    of_cloud = cloud(view.pools[0].cloud)
    clusters = [each for each in view.declared if each.type == of_cloud.cluster.token]
    settings = of_cloud.cluster.addons.settings if of_cloud.cluster.addons else ""
    return (
        not clusters
        or any(_adds_nodes(of_cloud.cluster, each) for each in clusters)
        or any(
            each.type == of_cloud.serverless_token
            or (settings and "tolerations" in (each.props.text(settings) or ""))
            for each in view.declared
        )
    )


def _adds_nodes(of_cluster: ClusterResource, cluster: DeclaredResource) -> bool:
    """Return True unless all nodes of a cluster are in its pools."""
    first = of_cluster.first_pool
    if first and cluster.props.flag(first, False) is not True:
        return True
    return any(
        has_value(cluster.props.at(path), value) is not False
        for path, value in of_cluster.own_nodes
    )


RULE = Rule(
    id="system-pods-have-no-node",
    description="No pool accepts the cluster's system pods.",
    why="CoreDNS and other cluster add-ons stay pending, so pods can't resolve names.",
    fix="Keep one pool without taints, or with only the CriticalAddonsOnly taint.",
    level="mandatory",
    is_outage=True,
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/",
    needs="stack",
    check=check,
)

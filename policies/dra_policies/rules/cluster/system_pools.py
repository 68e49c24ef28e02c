"""Clusters whose own pools can't run system pods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import DeclaredPool, StackView


def clusters_without_system_pool(view: StackView) -> Iterator[Finding]:
    """Yield a cluster with its own pools if none of them has the mode for system pods. A pool
    without a mode doesn't run system pods.
    """
    by_cluster: dict[str, list[DeclaredPool]] = defaultdict(list)
    for pool in view.inner_pools:
        by_cluster[pool.urn].append(pool)
    for urn, pools in by_cluster.items():
        key, value = cloud(pools[0].cloud).system_mode
        modes = [pool.own.text(key, "") for pool in pools if key]
        if key and None not in modes and value not in modes:
            yield Finding(
                message=f"{pools[0].title}: {cloud(pools[0].cloud).title} requires at least "
                f'one pool with {key} set to "{value}" in each cluster',
                fix=f'set {key} to "{value}" in one of the cluster\'s pools',
                urn=urn,
            )

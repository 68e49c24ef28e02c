"""Node pools that a cluster's own resource declares, so changes of the pools affect the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import Cloud, cloud, names
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

_FIRST_POOL: Final = "default-pool"  # pool of a new GKE cluster, which programs don't declare


def check(view: StackView) -> Iterator[Finding]:
    for name in names():
        of_cluster = cloud(name).cluster
        most, problem = of_cluster.inner_pools
        for cluster in view.declared if problem else ():
            if cluster.type != of_cluster.token or of_cluster.pools in cluster.ignore_changes:
                continue
            pools = cluster.props.items(of_cluster.pools) or ()
            # a second system pool is also part of the cluster
            path, value = cloud(name).system_mode
            users = [
                pool.text("name")
                for pool in pools
                if not path or pool.text(path) not in (value, None)
            ]
            apart = _separate_pools(view, cloud(name))
            inside = [user for user in users if user not in apart and user != _FIRST_POOL]
            if len(pools) > most and inside and None not in apart:
                yield Finding(
                    message=f'cluster "{cluster.name}" declares pool "{inside[0]}" in its '
                    f"{of_cluster.pools}. {problem}",
                    fix=f"declare the pool as a separate {cloud(name).pool.token.rpartition(':')[2]}",
                    urn=cluster.urn,
                )


def _separate_pools(view: StackView, of_cloud: Cloud) -> set[str | None]:
    """Return the names of the pools that are separate resources. After an update, a cluster's
    outputs list them too.
    """
    return {
        each.props.text("agentPoolName") or each.props.text("name", each.name)
        for each in view.declared
        if each.type == of_cloud.pool.token
    }


RULE = Rule(
    id="pools-inside-cluster",
    description="A cluster resource contains node pools, so you can't change these pools "
    "independently.",
    why="Changing a GPU pool can fail, or replace the whole cluster.",
    fix="Declare each GPU pool as its own resource.",
    level="advisory",
    url="https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/container_cluster",
    needs="stack",
    check=check,
)

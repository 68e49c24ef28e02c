"""Pod ranges and subnets that have addresses for fewer nodes than the maximum of the pools."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from msgspec import Struct

from dra_planner.clouds import AllocatableSettings, Cloud, ClusterResource, cloud, names
from dra_planner.wording import counted, listed, noun
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.address_ranges import has_setting, networks_of, subnets_of, subnets_of_pool
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView


def check(view: StackView) -> Iterator[Finding]:
    for name in names() if view.complete else ():
        of_cloud = cloud(name)
        of_cluster = of_cloud.cluster
        for cluster in view.declared if of_cluster.pod_range else ():
            if cluster.type == of_cluster.token:
                pools = [pool for pool in view.pools if pool.cluster_urn == cluster.urn]
                for pod_range in _ranges(view, cluster, of_cloud):
                    yield from _of_range(cluster, of_cluster, pod_range, pools)
    if view.complete:
        yield from _of_subnets(view)


class _Range(Struct, frozen=True):
    """A range for pods, its name in messages, and the name with which pools select it. "" is the
    range of pools that don't select one.
    """

    shown: str
    addresses: int
    name: str = ""


def _ranges(view: StackView, cluster: DeclaredResource, of_cloud: Cloud) -> Iterator[_Range]:
    """Yield the known ranges of a cluster's pods, its own and the ranges of its subnets."""
    of_cluster = of_cloud.cluster
    own = _addresses(cluster.props.text(of_cluster.pod_range))
    if own is not None:
        yield _Range(of_cluster.pod_range, own)
    named, addresses = of_cluster.named_pod_range, of_cloud.node_network.addresses
    if named is None or addresses is None:
        return
    default = cluster.props.text(named.of_cluster)
    for subnet in subnets_of(view, cluster, addresses):
        for item in subnet.props.items(named.ranges) or ():
            name, size = item.text(named.name), _addresses(item.text(named.addresses))
            if not name or size is None:
                continue
            shown = f'range "{name}" of subnet "{subnet.name}"'
            yield _Range(shown, size, name)
            if name == default and not own and cluster.props.has(named.more) is False:
                yield _Range(shown, size)


def _of_subnets(view: StackView) -> Iterator[Finding]:
    """Yield subnets with addresses for fewer nodes than the maximum of a pool, or of all pools
    whose pods use addresses of these subnets.
    """
    pools = [(pool, subnets) for pool in view.pools if (subnets := subnets_of_pool(view, pool))]
    reported = set[tuple[str, ...]]()
    for first, subnets in pools:
        here = {subnet.urn for subnet in subnets}
        free = _free_addresses(first, subnets)
        if free is None or tuple(sorted(here)) in reported:
            continue
        reported.add(tuple(sorted(here)))
        users = [
            (pool, pool.count_max, each)
            for pool, own in pools
            if {subnet.urn for subnet in own} <= here
            and pool.count_max is not None
            and (each := _addresses_of_node(view, pool)) is not None
        ]
        too_large = [user for user in users if user[1] * user[2] > free]
        if too_large:
            yield from (_short_subnet(subnets[0].name, free, [user]) for user in too_large)
        # the cloud rejects pools together only if their nodes reserve addresses for pods
        together = [user for user in users if user[2] > 1]
        if not too_large and sum(most * each for _, most, each in together) > free:
            yield _short_subnet(subnets[0].name, free, together)


def _short_subnet(
    subnet: str, free: int, users: Sequence[tuple[DeclaredPool, int, int]]
) -> Finding:
    nodes = counted(sum(most for _, most, _ in users), "node")
    if len(users) == 1:
        each = users[0][2]
        of_each = f"{each} addresses (for the node and its pods)" if each > 1 else "one address"
        needs = f"{nodes}, and each node needs {of_each}"
    else:
        needs = (
            f"{nodes} in total, which need {sum(most * each for _, most, each in users)} addresses"
        )
    owner = "'s" if len(users) == 1 else "s'"
    return Finding(
        message=f"{listed([pool.title for pool, _, _ in users])} can grow to {needs}, but "
        f'subnet "{subnet}" has only {free} addresses',
        fix=f"choose a larger range for the subnet, or lower the pool{owner} maximum "
        f"node {noun(len(users), 'count')}",
        urn=users[0][0].urn,
    )


def _free_addresses(pool: DeclaredPool, subnets: Sequence[DeclaredResource]) -> int | None:
    """Return how many addresses subnets have for nodes and pods, or None if it's unknown."""
    addresses = cloud(pool.cloud).node_network.addresses
    if addresses is None:
        return None
    found = [next(networks_of(each.props, addresses.ranges[0]), None) for each in subnets]
    if None in found:
        return None
    return sum(each.num_addresses - addresses.kept for each in found if each is not None)


def _addresses_of_node(view: StackView, pool: DeclaredPool) -> int | None:
    """Return how many addresses of its subnet a node needs, or None if it's unknown."""
    addresses, of_pool = cloud(pool.cloud).node_network.addresses, cloud(pool.cloud).pool
    cluster = next((each for each in view.declared if each.urn == pool.cluster_urn), None)
    has_pods = (
        cluster is not None
        and addresses is not None
        and addresses.pods_in_subnet
        and all(has_setting(cluster.props, *each) for each in addresses.pods_in_subnet)
        and not any(pool.own.has(own) is not False for own in of_pool.own_pod_ranges)
    )
    if addresses is None or not has_pods:
        return 1
    pods = pool.own.count(of_pool.max_pods, addresses.default_pods)
    return None if pods is None else 1 + pods


def _of_range(
    cluster: DeclaredResource,
    of_cluster: ClusterResource,
    pod_range: _Range,
    pools: list[DeclaredPool],
) -> Iterator[Finding]:
    needed, nodes = 0, 0
    named = of_cluster.named_pod_range
    for pool in pools:
        most = pool.count_max
        of_cloud = cloud(pool.cloud)
        ranges = of_cloud.pool.own_pod_ranges
        selected = pool.own.text(named.of_pool) if named is not None else ""
        is_here = (
            selected == pod_range.name
            if pod_range.name
            else not any(pool.own.has(own) is not False for own in ranges)
        )
        if most is None or not is_here:
            continue
        default = cluster.props.count(of_cluster.max_pods, 0) if of_cluster.max_pods else 0
        pods = pool.own.count(of_cloud.pool.max_pods, 0) if of_cloud.pool.max_pods else 0
        if pods is None or default is None:
            return
        each = of_cloud.pod_range_addresses(AllocatableSettings(max_pods=pods or default or None))
        if each is None:
            return
        needed, nodes = needed + most * each, nodes + most
    if needed > pod_range.addresses:
        yield Finding(
            message=f'cluster "{cluster.name}": its pools can grow to '
            f"{counted(nodes, 'node')} in total, which need {needed} pod addresses, but {pod_range.shown} "
            f"has only {pod_range.addresses}",
            fix=f"re-create the cluster with {_larger(pod_range)}, or lower the pools' maximum "
            "node counts",
            urn=cluster.urn,
        )


def _larger(pod_range: _Range) -> str:
    if pod_range.shown.startswith("range "):
        return f"a larger pod range than {pod_range.shown.removeprefix('range ')}"
    return f"a larger {pod_range.shown}"


def _addresses(text: str | None) -> int | None:
    """Return the number of addresses in a range ("10.0.0.0/16" or "/16"), or None if it isn't
    known.
    """
    try:
        return ipaddress.ip_network(
            f"0.0.0.0{text}" if text and text[0] == "/" else text or ""
        ).num_addresses
    except ValueError:
        return None


RULE = Rule(
    id="pod-range-too-small",
    description="A pod range or a subnet has too few addresses for the pools.",
    why="Without unused addresses, the autoscaler or the cloud can't add nodes, and you can't "
    "enlarge the range later.",
    fix="Choose a larger range when you create the cluster.",
    level="mandatory",
    url="https://docs.cloud.google.com/kubernetes-engine/docs/concepts/alias-ips",
    needs="stack",
    check=check,
)

"""Ranges of addresses that overlap, and addresses outside their range."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from dra_planner.clouds import AddressRanges, cloud, names
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.address_ranges import networks_of, ranges_of, subnets_of
from dra_policies.view.stack_view import DeclaredResource, StackView


class _Range(NamedTuple):
    title: str  # for example: 'the pod range of cluster "research"'
    urn: str
    network: ipaddress.IPv4Network


def check(view: StackView) -> Iterator[Finding]:
    for name in names() if view.complete else ():
        of_cloud, addresses = cloud(name), cloud(name).node_network.addresses
        if addresses is None:
            continue
        for cluster in view.declared:
            if cluster.type == of_cloud.cluster.token:
                yield from _of_cluster(view, cluster, addresses, of_cloud.title)
        subnets = [each for each in view.declared if each.type == addresses.token]
        for subnet in subnets:
            yield from _within(_of_subnet(subnet, addresses), of_cloud.title)
        for one, other in combinations(subnets, 2):
            shared = one.sources_of(addresses.network) & other.sources_of(addresses.network)
            if shared:
                yield from _overlaps(
                    _of_subnet(one, addresses), _of_subnet(other, addresses), of_cloud.title
                )


def _of_cluster(
    view: StackView, cluster: DeclaredResource, addresses: AddressRanges, title: str
) -> Iterator[Finding]:
    own = [
        _Range(f'the {kind} range of cluster "{cluster.name}"', cluster.urn, found)
        for path, kind, default in addresses.of_cluster
        for found in ranges_of(cluster.props.text(path, default))
    ]
    around = [
        each
        for subnet in subnets_of(view, cluster, addresses)
        for each in (*_of_subnet(subnet, addresses), *_of_network(view, subnet, addresses))
    ]
    for one, other in combinations(own, 2):
        yield from _overlaps([one], [other], title)
    yield from _overlaps(own, list(dict.fromkeys(around)), title)
    yield from _dns(cluster, addresses, title)


def _of_subnet(subnet: DeclaredResource, addresses: AddressRanges) -> list[_Range]:
    return [
        _Range(f'subnet "{subnet.name}"', subnet.urn, network)
        for path in addresses.ranges
        for network in networks_of(subnet.props, path)
    ]


def _of_network(
    view: StackView, subnet: DeclaredResource, addresses: AddressRanges
) -> list[_Range]:
    """Return the ranges of a subnet's network if the cloud compares them."""
    urns = subnet.sources_of(addresses.network)
    return [
        _Range(f'network "{each.name}"', each.urn, network)
        for each in view.declared
        if addresses.network_ranges and each.urn in urns and each.type == addresses.network_token
        for network in networks_of(each.props, addresses.network_ranges)
    ]


def _overlaps(some: list[_Range], others: list[_Range], title: str) -> Iterator[Finding]:
    """Yield the first pair of ranges that overlap."""
    for one in some:
        for other in others:
            if one.network.overlaps(other.network):
                yield Finding(
                    message=f"{one.title} ({one.network}) overlaps {other.title} "
                    f"({other.network}), so either {title} rejects one of the ranges, "
                    "or traffic is lost",
                    fix="choose ranges that don't overlap",
                    urn=one.urn,
                )
                return


def _within(ranges: list[_Range], title: str) -> Iterator[Finding]:
    """Yield the first pair of ranges of one subnet that overlap."""
    for one, other in combinations(ranges, 2):
        if one.network.overlaps(other.network):
            yield Finding(
                message=f"the address ranges {one.network} and {other.network} of {one.title} "
                f"overlap, so {title} rejects the subnet",
                fix="choose ranges that don't overlap",
                urn=one.urn,
            )
            return


def _dns(cluster: DeclaredResource, addresses: AddressRanges, title: str) -> Iterator[Finding]:
    """Yield the address of a DNS service that isn't in the service range."""
    path, of_services = addresses.dns
    default = next((each for name, _, each in addresses.of_cluster if name == of_services), "")
    found = ranges_of(cluster.props.text(of_services, default)) if path else ()
    try:
        address = ipaddress.IPv4Address(cluster.props.text(path) or "")
    except ValueError:
        return
    if found and (address not in found[0] or address in (found[0][0], found[0][1])):
        problem = (
            f"is one of the first two addresses of {of_services} ({found[0]}), which are reserved"
            if address in found[0]
            else f"is outside {of_services} ({found[0]})"
        )
        yield Finding(
            message=f'cluster "{cluster.name}": {path} ({address}) {problem}, so {title} rejects '
            "the cluster",
            fix=f"set {path} to an address in the range, for example {found[0][10]}",
            urn=cluster.urn,
        )


RULE = Rule(
    id="address-ranges-conflict",
    description="The address ranges of a cluster, its subnets, or its network overlap.",
    why=(
        "The cloud rejects the cluster or the subnet, or the network routes packets to the wrong "
        "destination."
    ),
    fix="Before you create the cluster, choose ranges that don't overlap.",
    level="mandatory",
    url="https://kubernetes.io/docs/concepts/cluster-administration/networking/",
    needs="stack",
    check=check,
)

"""Ranges of addresses that resources declare, and the subnets that clusters and pools use."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from dra_planner.clouds import AddressRanges, cloud
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView


def ranges_of(text: str | None) -> tuple[ipaddress.IPv4Network, ...]:
    """Return the IPv4 range in a text. () for a size without an address ("/14"), for other texts,
    and for None.
    """
    try:
        return (ipaddress.IPv4Network(text or "", strict=False),)
    except ValueError:
        return ()


def networks_of(props: Properties, path: str) -> Iterator[ipaddress.IPv4Network]:
    """Yield the ranges in a property, which is a text, a list of texts, or a property of each item
    in a list.
    """
    head, _, rest = path.partition(".")
    if isinstance(props.at(head), str):
        yield from ranges_of(props.text(head))
    elif rest:
        for item in props.items(head) or ():
            yield from ranges_of(item.text(rest))
    else:
        for text in props.texts(head) or ():
            yield from ranges_of(text)


def subnets_of(
    view: StackView, cluster: DeclaredResource, addresses: AddressRanges
) -> tuple[DeclaredResource, ...]:
    """Return the subnets of the stack that a cluster or its pools use."""
    pools = {pool.urn for pool in view.pools if pool.cluster_urn == cluster.urn}
    users = [each for each in view.declared if each.urn == cluster.urn or each.urn in pools]
    return _used(view, users, addresses)


def subnets_of_pool(view: StackView, pool: DeclaredPool) -> tuple[DeclaredResource, ...] | None:
    """Return the subnets of a pool's nodes; None if some of them aren't resources of the stack."""
    addresses = cloud(pool.cloud).node_network.addresses
    if addresses is None:
        return None
    users = [each for each in view.declared if each.urn == pool.urn]
    own = _used(view, users, addresses)
    named = max(
        (len(user.props.texts(path) or ()) for user in users for path in addresses.used_by),
        default=0,
    )
    if not own and not named:
        users = [each for each in view.declared if each.urn == pool.cluster_urn]
        own = _used(view, users, addresses)
    return own if own and named <= len(own) else None


def zones_of_subnets(view: StackView, pool: DeclaredPool) -> tuple[str | None, ...]:
    """Return the zones of a pool's subnets if they decide the zones of its nodes."""
    addresses = cloud(pool.cloud).node_network.addresses
    if addresses is None or not addresses.zone:
        return ()
    return tuple(each.props.text(addresses.zone) for each in subnets_of_pool(view, pool) or ())


def _used(
    view: StackView, users: list[DeclaredResource], addresses: AddressRanges
) -> tuple[DeclaredResource, ...]:
    urns = {urn for user in users for path in addresses.used_by for urn in user.sources_of(path)}
    return tuple(
        each for each in view.declared if each.urn in urns and each.type == addresses.token
    )


def has_setting(props: Properties, path: str, value: str) -> bool:
    """Return True if a property certainly has a value or, if "!" precedes its path, certainly
    doesn't have it.
    """
    text = props.text(path.lstrip("!"))
    return text is not None and (text == value) != path.startswith("!")

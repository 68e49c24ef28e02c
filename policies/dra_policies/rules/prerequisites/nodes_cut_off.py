"""Networks in the stack in which nodes can't reach the API server or registries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_planner.clouds import (
    Gateway,
    NodeNetwork,
    PublicEndpoint,
    SecurityGroups,
    TrafficFilter,
    cloud,
    names,
)
from dra_planner.wording import either
from dra_policies.rules.prerequisites.missing_default_routes import (
    networks_without_default_route,
    subnets_without_default_route,
)
from dra_policies.rules.prerequisites.node_routes import subnets_without_way_out
from dra_policies.rules.prerequisites.node_traffic_rules import (
    closed_endpoints,
    closing_firewalls,
    groups_for_private_addresses,
    groups_not_admitted,
    groups_of_template,
    outbound_rules,
)
from dra_policies.rules.resource_rows import EVERYWHERE, broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import Properties
from dra_policies.view.address_ranges import subnets_of_pool
from dra_policies.view.stack_view import DeclaredResource, StackView

Declared = Mapping[str, DeclaredResource]


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    declared = {each.urn: each for each in view.declared}
    for name in names() if view.complete else ():
        of_cloud = cloud(name)
        network = of_cloud.node_network
        if network.filters is not None:
            yield from _closed_filters(view, network.filters, declared)
        clusters = [each for each in view.declared if each.type == of_cloud.cluster.token]
        if network.groups is not None:
            yield from _closed_groups(view, network.groups, declared)
        yield from subnets_without_way_out(view, network, name, declared)
        yield from _of_traffic_rules(view, network, name, declared)
        yield from closed_endpoints(view, network, name, declared)
        for cluster in clusters:
            if network.endpoint is not None:
                yield from _closed_endpoint(view, network.endpoint, cluster)
            if network.gateway is not None:
                yield from _network_without_gateway(view, network.gateway, cluster, declared)
            if network.routes is not None:
                yield from subnets_without_default_route(
                    view, of_cloud, network.routes, cluster, declared
                )
            if network.own_default_route is not None:
                yield from networks_without_default_route(
                    view, network.own_default_route, cluster, declared
                )


def _of_traffic_rules(
    view: StackView, network: NodeNetwork, name: str, declared: Declared
) -> Iterator[Finding]:
    """Yield security groups and firewalls that block the traffic of nodes, each once."""
    reported = set[str]()
    for pool in view.node_pools:
        if pool.cloud != name:
            continue
        found = [
            *groups_for_private_addresses(view, network, pool, declared),
            *groups_not_admitted(view, network, pool, declared),
        ]
        if network.firewall is not None:
            found += closing_firewalls(view, network.firewall, pool, declared)
        yield from (each for each in found if each.urn not in reported)
        reported |= {each.urn for each in found}


def _closed_groups(
    view: StackView, groups: SecurityGroups, declared: Declared
) -> Iterator[Finding]:
    """Yield security groups of nodes that don't have a rule for outbound traffic."""
    for pool in {pool.template_urn: pool for pool in view.node_pools if pool.template_urn}.values():
        found = groups_of_template(view, groups, pool, declared)
        if found and all(outbound_rules(view, groups, each) == [] for each in found):
            yield Finding(
                message=f'security group "{found[0].name}" of {pool.title} doesn\'t have an '
                "egress rule, so its nodes can't reach the API server to join the "
                "cluster",
                fix="add an egress rule for all protocols",
                urn=found[0].urn,
            )


def _closed_filters(
    view: StackView, filters: TrafficFilter, declared: Declared
) -> Iterator[Finding]:
    """Yield network ACLs of node subnets that deny all outbound traffic before another rule allows
    it.
    """
    used: set[str] = set()
    for pool in view.node_pools:
        for subnet in subnets_of_pool(view, pool) or ():
            used |= subnet.sources_of(filters.used_by)
    token, owner = filters.rule
    for urn in sorted(urn for urn in used if urn in declared):
        listed = declared[urn].props.items(filters.rules) or ()
        single = [
            each.props
            for each in view.declared
            if each.type == token and urn in each.sources_of(owner)
        ]
        outbound = [each for each in (*listed, *single) if each.text("direction") == "Outbound"]
        outbound.sort(key=lambda each: each.count("priority", 0) or 0)
        denied = next((each for each in outbound if each.text("access") != "Allow"), None)
        allows_first = bool(outbound) and outbound[0] is not denied
        if denied is not None and not allows_first and _is_for_everything(denied, filters):
            yield Finding(
                message=f'network security group "{declared[urn].name}" denies all outbound traffic, '
                "so nodes can't pull images or join the cluster",
                fix="add a rule with a lower priority number that allows the outbound traffic that "
                "nodes need",
                urn=urn,
            )


def _is_for_everything(rule: Properties, filters: TrafficFilter) -> bool:
    return (
        rule.text("access") == "Deny"
        and rule.text("destinationAddressPrefix") in filters.everywhere
        and rule.text("destinationPortRange") in ("*", "443")
        and rule.text("protocol") in ("*", "Tcp")
    )


def _closed_endpoint(
    view: StackView, endpoint: PublicEndpoint, cluster: DeclaredResource
) -> Iterator[Finding]:
    """Yield clusters whose nodes must use the public endpoint, although it allows only some
    networks.
    """
    allowed = cluster.props.texts(endpoint.allowed)
    if (
        cluster.props.flag(endpoint.private, False) is not False
        or not allowed
        or None in allowed
        or EVERYWHERE & set(allowed)
    ):
        return
    yield Finding(
        message=f'cluster "{cluster.name}" doesn\'t have a private endpoint, and its public '
        f"endpoint allows only {either(filter(None, allowed))}, so nodes with other "
        "outbound addresses can't join the cluster",
        fix=endpoint.fix,
        urn=cluster.urn,
        # otherwise, the list might contain the addresses of the nodes
        certain=any(each.type in endpoint.addresses for each in view.declared),
    )


def _network_without_gateway(
    view: StackView, gateway: Gateway, cluster: DeclaredResource, declared: Declared
) -> Iterator[Finding]:
    """Yield clusters with private nodes whose network is in the stack and doesn't have a
    gateway.
    """
    networks = [
        urn
        for urn in cluster.sources_of(gateway.network)
        if urn in declared and declared[urn].type == gateway.network_token
    ]
    is_private = cluster.props.flag(gateway.private, False) or any(
        pool.own.flag(gateway.private_pool, False)
        for pool in view.pools
        if pool.cluster_urn == cluster.urn
    )
    gateways = [each for each in view.declared if each.type == gateway.token]
    subnets = cluster.sources_of(gateway.subnet)
    if is_private and networks and not any(_is_for(each, gateway, subnets) for each in gateways):
        closed = [each for each in map(declared.get, sorted(subnets)) if _is_closed(each, gateway)]
        yield from (_without_access(each, gateway) for each in closed if each is not None)
        values = [driver.values for driver in view.drivers]
        yield Finding(
            message=f'cluster "{cluster.name}" has private nodes, but its network doesn\'t '
            f"have a {gateway.title}, so nodes can't pull images from registries "
            "outside Google Cloud, such as the DRA driver image",
            fix=gateway.fix,
            urn=cluster.urn,
            certain=bool(values)
            and all(each is not None and gateway.mirror not in repr(each) for each in values),
        )


def _is_closed(subnet: DeclaredResource | None, gateway: Gateway) -> bool:
    """Return whether a program disables access to the cloud's services from private addresses."""
    flag, _ = gateway.private_access
    if subnet is None or flag in subnet.of_outputs:
        return False
    return subnet.props.flag(flag, True) is False


def _without_access(subnet: DeclaredResource, gateway: Gateway) -> Finding:
    flag, title = gateway.private_access
    return Finding(
        message=f'subnet "{subnet.name}" disables {title}, and its network doesn\'t have a '
        f"{gateway.title}, so private nodes can't reach the cloud's services and registries",
        fix=f"set {flag} to true",
        urn=subnet.urn,
    )


def _is_for(resource: DeclaredResource, gateway: Gateway, subnets: frozenset[str]) -> bool:
    """Return False if a gateway certainly lists only other subnets."""
    path, value, listed = gateway.listed
    sources = resource.sources_of(listed)
    if resource.props.text(path) != value or not subnets or not sources:
        return True
    return bool(subnets & sources)


RULE = Rule(
    id="nodes-cut-off",
    description="Nodes can't reach the API server, the registries, or their instance metadata.",
    why="Nodes don't join the cluster, or pods can't pull images, but you still pay for the nodes.",
    fix="Allow the outbound traffic that the finding reports.",
    level="mandatory",
    is_outage=True,
    url="https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
    needs="stack",
    check=check,
)

"""Node subnets that have neither a route to the internet nor endpoints that replace it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dra_planner.clouds import Cloud, DefaultRoutes, NodeNetwork, ServiceEndpoints
from dra_planner.wording import listed
from dra_policies.rules.resource_rows import EVERYWHERE
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import Properties
from dra_policies.view.address_ranges import subnets_of_pool
from dra_policies.view.stack_view import DeclaredResource, StackView

Declared = Mapping[str, DeclaredResource]
Route = tuple[DeclaredResource, Properties]


def subnets_without_way_out(
    view: StackView, network: NodeNetwork, name: str, declared: Declared
) -> Iterator[Finding]:
    """Yield the subnets of a cloud's nodes that can't reach the API server or registries."""
    routes = network.default_routes
    if routes is None or not any(each.type == routes.token for each in view.declared):
        return  # the routes are managed outside the stack
    subnets = {
        subnet.urn: subnet
        for pool in view.node_pools
        if pool.cloud == name
        for subnet in subnets_of_pool(view, pool) or ()
    }
    reported = set[tuple[str, ...]]()
    for urn in sorted(subnets):
        tables = _tables(view, routes, subnets[urn], declared)
        home = subnets[urn].sources_of(network.addresses.network) if network.addresses else ()
        names = (*sorted(home), *(table.urn for table in tables or ()))
        if names not in reported:  # other subnets with the same route tables have the same fault
            found = list(_of_subnet(view, network, routes, subnets[urn], declared))
            reported |= {names} if found else set()
            yield from found


def _of_subnet(
    view: StackView,
    network: NodeNetwork,
    routes: DefaultRoutes,
    subnet: DeclaredResource,
    declared: Declared,
) -> Iterator[Finding]:
    found = _default_routes(view, routes, _tables(view, routes, subnet, declared))
    if found is None:
        return
    fault = next(
        (fault for each in found if (fault := _dead_end(view, routes, each, subnet, declared))),
        None,
    )
    if fault is not None:
        problem, fix = fault
        yield Finding(
            message=f'the default route of subnet "{subnet.name}" {problem}, so nodes can\'t pull '
            "images or join the cluster",
            fix=fix,
            urn=subnet.urn,
        )
    elif not found and network.endpoints is not None:
        yield from _without_endpoints(view, network.endpoints, routes, subnet, declared)


def _tables(
    view: StackView, routes: DefaultRoutes, subnet: DeclaredResource, declared: Declared
) -> tuple[DeclaredResource, ...] | None:
    """Return the route tables of a subnet, or None if they aren't resources of the stack."""
    token, of_subnet, of_table = routes.association
    urns = set(subnet.sources_of(routes.of_subnet)) if routes.of_subnet else set[str]()
    named = bool(routes.of_subnet) and subnet.props.has(routes.of_subnet) is not False
    for each in view.declared:
        if token and each.type == token and subnet.urn in each.sources_of(of_subnet):
            urns |= each.sources_of(of_table)
            named = True
    tables = tuple(
        declared[urn]
        for urn in sorted(urns)
        if urn in declared and declared[urn].type == routes.token
    )
    return None if named and not tables else tables


def default_routes_of(
    view: StackView, of_cloud: Cloud, subnet: DeclaredResource, declared: Declared
) -> list[Route] | None:
    """Return the default routes of a subnet, or None if they are unknown."""
    routes = of_cloud.node_network.default_routes
    if routes is None:
        return None
    return _default_routes(view, routes, _tables(view, routes, subnet, declared))


def _default_routes(
    view: StackView, routes: DefaultRoutes, tables: Sequence[DeclaredResource] | None
) -> list[Route] | None:
    """Return the default routes in route tables, or None if they are unknown."""
    if tables is None:
        return None
    token, owner = routes.route
    urns = {table.urn for table in tables}
    listed: list[Route] = []
    for table in tables:
        items = table.props.items(routes.routes)
        if items is None:
            return None
        listed += [(table, item) for item in items]
    listed += [
        (each, each.props)
        for each in view.declared
        if each.type == token and urns & each.sources_of(owner)
    ]
    ranges = [[route.text(path) for path in routes.destinations] for _, route in listed]
    if any(None in each for each in ranges):
        return None
    return [route for route, each in zip(listed, ranges, strict=True) if EVERYWHERE & set(each)]


def _dead_end(
    view: StackView,
    routes: DefaultRoutes,
    route: Route,
    subnet: DeclaredResource,
    declared: Declared,
) -> tuple[str, str] | None:
    """Return the reason why a default route doesn't lead to the internet, with the fix."""
    owner, props = route
    path, value = routes.dead
    if path and props.text(path) == value:
        return (
            f"drops packets ({path} is {value})",
            f'set {path} to a type that forwards packets, for example "VirtualAppliance", or '
            "remove the route",
        )
    through, token, setting, closed = routes.gateway
    is_direct = _leads_to_internet(routes, route, declared)
    if is_direct and not _has_public_addresses(view, routes, subnet):
        return (
            "leads to an internet gateway, but nodes don't have public addresses",
            f"route the traffic to a NAT gateway, or set the subnet's {routes.public[0]} to true",
        )
    if not through or props.is_given(through) is False:
        return None
    sources = owner.sources_of(through) or owner.sources_of(routes.routes)
    gateways = [declared[urn] for urn in sources if urn in declared and declared[urn].type == token]
    if len(gateways) != 1:
        return None
    gateway = gateways[0]
    if gateway.props.text(setting) == closed:
        return (
            f'uses NAT gateway "{gateway.name}", which doesn\'t lead to the internet ({setting} is '
            f"{closed})",
            f"remove the NAT gateway's {setting}, and assign a public address to this gateway",
        )
    homes = [urn for urn in gateway.sources_of(routes.gateway_subnet) if urn in declared]
    if len(homes) != 1:
        return None
    onward = _default_routes(view, routes, _tables(view, routes, declared[homes[0]], declared))
    if onward is None or any(
        _leads_to_internet(routes, each, declared) is not False for each in onward
    ):
        return None
    return (
        f'uses NAT gateway "{gateway.name}", but this gateway\'s subnet '
        f'("{declared[homes[0]].name}") doesn\'t have a route to an internet gateway',
        f'put NAT gateway "{gateway.name}" in a public subnet',
    )


def _leads_to_internet(routes: DefaultRoutes, route: Route, declared: Declared) -> bool | None:
    """Return whether a route leads to an internet gateway. None if it might lead to another kind of
    gateway, for example a VPN gateway.
    """
    through, token, prefix = routes.internet
    owner, props = route
    if not through or props.is_given(through) is False:
        return False
    if named := props.text(through):
        return named.startswith(prefix)
    sources = owner.sources_of(through) or owner.sources_of(routes.routes)
    types = {declared[urn].type for urn in sources if urn in declared}
    return token in types if len(types) == 1 else None


def _has_public_addresses(view: StackView, routes: DefaultRoutes, subnet: DeclaredResource) -> bool:
    """Return True unless the nodes in a subnet certainly have no public addresses."""
    of_subnet, interfaces, of_interface = routes.public
    if subnet.props.flag(of_subnet, False) is not False:
        return True
    for pool in view.node_pools:
        listed = pool.template.items(interfaces) if pool.template is not None else ()
        if listed is None or any(
            str(each.at(of_interface)).lower() not in ("none", "false") for each in listed
        ):
            return True
    return False


def _without_endpoints(
    view: StackView,
    endpoints: ServiceEndpoints,
    routes: DefaultRoutes,
    subnet: DeclaredResource,
    declared: Declared,
) -> Iterator[Finding]:
    """Yield a subnet without a default route whose network lacks endpoints, if both are the
    stack's.
    """
    networks = {urn for urn in subnet.sources_of(endpoints.network) if urn in declared}
    if not networks or any(each.type in endpoints.default_tables for each in view.declared):
        return
    token, owner = routes.route
    if any(each.type == token and networks & each.sources_of(owner) for each in view.declared):
        # a route in the network's main route table, which subnets use if they don't name a table
        return
    names = [
        each.props.text(endpoints.service)
        for each in view.declared
        if each.type == endpoints.token
        and networks & each.sources_of(endpoints.network)
        and _is_usable(view, endpoints, each)
    ]
    if None in names:
        return
    missing = [
        each
        for each in endpoints.needed
        if not any((name or "").endswith(f".{each}") for name in names)
    ]
    route = f'subnet "{subnet.name}" doesn\'t have a default route'
    values = [driver.values for driver in view.drivers]
    if missing:
        yield Finding(
            message=f"{route}, and its VPC doesn't have usable endpoints for "
            f"{listed(missing)}, so nodes can't pull images and never become ready",
            fix="add a default route to a NAT gateway, or create VPC endpoints for "
            f"{listed(missing)}",
            urn=subnet.urn,
        )
    elif values and all(each is not None and endpoints.mirror not in repr(each) for each in values):
        yield Finding(
            message=f"{route}, so nodes can't pull the DRA driver image from its public registry",
            fix="add a default route to a NAT gateway, or copy the image to your registry "
            "and set image.repository in the driver's chart values",
            urn=subnet.urn,
        )


def _is_usable(view: StackView, endpoints: ServiceEndpoints, endpoint: DeclaredResource) -> bool:
    """Return True if nodes certainly don't use an endpoint: a gateway endpoint without route
    tables, or another endpoint without private DNS names.
    """
    path, routed, default = endpoints.kind
    if endpoint.props.text(path, default) != routed:
        return endpoint.props.flag(endpoints.private_names, False) is not False
    return endpoint.props.is_given(endpoints.tables) is not False or any(
        each.type == endpoints.route_token for each in view.declared
    )

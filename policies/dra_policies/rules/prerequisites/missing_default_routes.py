"""Clusters whose network needs the user's own default route, but doesn't have one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_planner.clouds import Cloud, OwnDefaultRoute, UserRoutes
from dra_policies.rules.prerequisites.node_routes import default_routes_of
from dra_policies.rules.resource_rows import EVERYWHERE
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import DeclaredResource, StackView

Declared = Mapping[str, DeclaredResource]


def subnets_without_default_route(
    view: StackView,
    of_cloud: Cloud,
    routes: UserRoutes,
    cluster: DeclaredResource,
    declared: Declared,
) -> Iterator[Finding]:
    """Yield subnets without a default route, in clusters whose outbound traffic uses user-defined
    routes.
    """
    path, value = routes.outbound
    if cluster.props.text(path) != value:
        return
    users = {of_cloud.pool.token: routes.used_by, of_cloud.cluster.token: of_cloud.cluster.pools}
    subnets = {
        urn
        for each in declared.values()
        if each.type in users
        for urn in each.sources_of(users[each.type])
        if urn in declared and declared[urn].type == routes.subnet_token
    }
    for urn in sorted(subnets):
        subnet = declared[urn]
        needs = (
            f'cluster "{cluster.name}" uses your routes for outbound traffic ({value}), so '
            f"{of_cloud.title} rejects the cluster"
        )
        if subnet.props.has(routes.routes) is False and not subnet.sources_of(routes.routes):
            yield Finding(
                message=f'subnet "{subnet.name}" doesn\'t have a route table, but {needs}',
                fix=f"set the subnet's {routes.routes} to a route table with a default route",
                urn=urn,
            )
        elif default_routes_of(view, of_cloud, subnet, declared) == []:
            yield Finding(
                message=f'the route table of subnet "{subnet.name}" doesn\'t have a default route, '
                f"but {needs}",
                fix="in the route table, add a route for 0.0.0.0/0 to a firewall or gateway",
                urn=urn,
            )


def networks_without_default_route(
    view: StackView, network: OwnDefaultRoute, cluster: DeclaredResource, declared: Declared
) -> Iterator[Finding]:
    """Yield networks of a cluster from which the cloud deletes its default route, if no route
    replaces it.
    """
    routes = [each for each in view.declared if each.type == network.route]
    for urn in sorted(cluster.sources_of(network.used_by)):
        found = declared.get(urn)
        if found is None or found.props.flag(network.deleted, False) is not True:
            continue
        ranges = [each.props.text(network.destination) for each in routes]
        if None not in ranges and not EVERYWHERE & set(ranges):
            yield Finding(
                message=f'network "{found.name}" deletes its default route ({network.deleted}), '
                "and the stack doesn't declare another one, so nodes can't reach registries "
                "outside Google Cloud",
                fix=f"remove {network.deleted}, or add a route for 0.0.0.0/0 to the network",
                urn=urn,
            )

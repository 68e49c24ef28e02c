"""Properties of a cloud's resources that determine how nodes reach the API server and
registries.
"""

from __future__ import annotations

from msgspec import Struct


class SecurityGroups(Struct, frozen=True, kw_only=True):
    """Groups of rules that block outbound traffic unless a rule allows it.

    `token` is the type of the resource, and `egress` is its list of rules. `used_by` are the
    properties of a pool's template that list groups. An item of the second property has a list
    `interface_groups`. `rules` are the types of separate rule resources, each with a property and
    the value that marks inbound rules. `rule_group` names the group of such a rule. `ranges` and
    `lists` are properties of rules with address ranges, and with lists of the cloud's ranges.
    `ports` are the properties with the first and last port.
    """

    token: str
    egress: str
    used_by: tuple[str, str]
    interface_groups: str
    rules: tuple[tuple[str, str, str], ...]
    rule_group: str
    ranges: tuple[str, ...]
    lists: tuple[str, ...]
    ports: tuple[str, str]
    protocols: tuple[str, ...]  # properties of rules that contain a protocol
    tcp: tuple[str, ...]  # values that include TCP


class PublicEndpoint(Struct, frozen=True, kw_only=True):
    """A public endpoint of the API server that allows only the networks that `allowed` lists.

    Nodes must use it unless `private` is true. `addresses` are the resources that give nodes their
    outbound addresses.
    """

    private: str
    allowed: str
    addresses: tuple[str, ...]
    fix: str


class Gateway(Struct, frozen=True, kw_only=True):
    """A gateway that private nodes need to reach registries outside the cloud.

    `private` is the property of clusters that makes nodes private, and `private_pool` is the same
    property of pools. `network` is the property that names their network. `network_token` and
    `token` are the types of the network and the gateway. `mirror` is part of the names of
    registries that nodes reach without the gateway. `listed` is a property of gateways, with the
    value that limits them to the subnets in another property. `subnet` is the clusters' property
    with their subnet. `private_access` is a subnet's flag that gives its private nodes access to
    the cloud's own services and registries, with its title.
    """

    private: str
    private_pool: str
    network: str
    network_token: str
    token: str
    mirror: str
    title: str
    fix: str
    listed: tuple[str, str, str]
    subnet: str
    private_access: tuple[str, str]


class DefaultRoutes(Struct, frozen=True, kw_only=True):
    """Paths from the subnets of nodes to other networks.

    `token` is a route table with the list `routes`, and `route` is a separate route resource, with
    the property that names its table. `destinations` are properties with the range of a route. A
    subnet names its table in `of_subnet`, or `association` (a type, and its properties with the
    subnet and the table) connects them. `dead` is a property of a route, with the value that drops
    packets. `gateway` is a property of a route, with the gateway's type, and the property and value
    with which the gateway doesn't lead to the internet. `internet` is a property of a route with
    the gateway to the internet, the gateway's type, and the prefix of its IDs. Nodes need public
    addresses to use that gateway: `public` are the properties of a subnet, and of the interfaces in
    a template, that assign public addresses. A gateway in a subnet (`gateway_subnet`) also needs
    such a route.
    """

    token: str
    routes: str
    route: tuple[str, str]
    destinations: tuple[str, ...]
    of_subnet: str = ""
    association: tuple[str, str, str] = ("", "", "")
    dead: tuple[str, str] = ("", "")
    gateway: tuple[str, str, str, str] = ("", "", "", "")
    gateway_subnet: str = ""
    internet: tuple[str, str, str] = ("", "", "")
    public: tuple[str, str, str] = ("", "", "")


class ServiceEndpoints(Struct, frozen=True, kw_only=True):
    """Endpoints of the cloud's services inside a network, for nodes without a default route.

    `token` has the properties `network` and `service`. The services that nodes need have names
    that end with an item of `needed`. An endpoint with the kind `routed` works only with route
    tables, which the endpoint or a `route_token` names. Other endpoints work only with the flag
    `private_names`, and only for nodes that their security `groups` admit. `default_tables` are
    resources that give subnets a table without naming the subnets. `mirror` is part of the
    names of registries that nodes reach through an endpoint.
    """

    token: str
    network: str
    service: str
    needed: tuple[str, ...]
    kind: tuple[str, str, str]
    tables: str
    route_token: str
    private_names: str
    groups: str
    default_tables: tuple[str, ...]
    mirror: str


class ControlPlaneGroups(Struct, frozen=True, kw_only=True):
    """Security groups of the control plane, which must admit the groups of nodes.

    `of_cluster` is the clusters' property with additional groups, and `more_groups` is the list in
    it. `rules` are the types of inbound rule resources, each with a property and the value that
    marks inbound rules, and its properties with the source, starting with a group. `rule_group`
    names the group of a rule, and `ingress` contains a group's own rules.
    """

    of_cluster: str
    more_groups: str
    rules: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    rule_group: str
    ingress: str


class NetworkFirewall(Struct, frozen=True, kw_only=True):
    """A firewall rule for all nodes of a network.

    The fields are its properties with the network, the direction (and the value for outbound
    traffic), the denied and allowed protocols, the destinations, the priority (lower numbers take
    precedence), the flag that disables it, and the tags of the nodes to which it applies, with the
    pools' property with tags.
    """

    token: str
    network: str
    direction: tuple[str, str]
    denied: str
    allowed: str
    destinations: str
    priority: tuple[str, int]
    is_off: str
    targets: tuple[str, ...]
    tags: str


class UserRoutes(Struct, frozen=True, kw_only=True):
    """User-defined routes that replace the cloud's routes: the property of clusters and its value,
    the property of pools that names their subnet, the subnet, and the subnet's property with the
    routes.
    """

    outbound: tuple[str, str]
    used_by: str
    subnet_token: str
    routes: str


class WebhookPorts(Struct, frozen=True, kw_only=True):
    """Ports of nodes that the control plane of a private cluster reaches.

    `private` is the property of clusters that makes nodes private. The control plane reaches only
    the `open` ports, unless a rule of the type `firewall` lists another port in `allowed`.
    """

    private: str
    open: tuple[int, ...]
    firewall: str
    allowed: str


class OwnDefaultRoute(Struct, frozen=True, kw_only=True):
    """A network without the cloud's default route: the clusters' property with the network, the
    network's flag that deletes the route, and the type of a route with its destination.
    """

    used_by: str
    deleted: str
    route: str
    destination: str


class AddressRanges(Struct, frozen=True, kw_only=True):
    """Ranges of addresses of a cluster, its nodes, and their network, which must not overlap.

    `of_cluster` are properties of clusters, each with its name in messages and the cloud's default.
    `token` is the type of a subnet of nodes. `used_by` are the properties of pools and clusters
    that name it, `ranges` are its properties with one range or a list, and `zone` is its property
    with the zone. `network` is the property that names its network, and `network_token` and
    `network_ranges` are the type and the ranges of this network. The cloud reserves `kept`
    addresses of each subnet. `dns` is a property with an address in the services' range, and the
    property with that range. `pods_in_subnet` are properties of clusters, with the values with
    which pods use addresses of the subnet. In that case, `default_pods` is the number of addresses
    that each node uses by default.
    """

    of_cluster: tuple[tuple[str, str, str], ...]
    token: str
    used_by: tuple[str, ...]
    ranges: tuple[str, ...]
    zone: str = ""
    network: str
    network_token: str
    network_ranges: str
    inside: str = ""  # the network's property with a list of subnets
    kept: int
    dns: tuple[str, str] = ("", "")
    pods_in_subnet: tuple[tuple[str, str], ...] = ()
    default_pods: int = 0


class TrafficFilter(Struct, frozen=True, kw_only=True):
    """A list of rules for a subnet.

    `token` is its type, `used_by` is the subnet's property that names it, and `rules` is its list
    of rules. `rule` is the type of a separate rule resource, and the property that names the list.
    `everywhere` are destinations that nodes need.
    """

    token: str
    used_by: str
    rules: str
    rule: tuple[str, str]
    everywhere: tuple[str, ...]


class NodeNetwork(Struct, frozen=True, kw_only=True):
    """All settings that can cut nodes off. A setting is None if the cloud doesn't have it."""

    groups: SecurityGroups | None = None
    endpoint: PublicEndpoint | None = None
    gateway: Gateway | None = None
    routes: UserRoutes | None = None
    own_default_route: OwnDefaultRoute | None = None
    webhook_ports: WebhookPorts | None = None
    addresses: AddressRanges | None = None
    filters: TrafficFilter | None = None
    default_routes: DefaultRoutes | None = None
    endpoints: ServiceEndpoints | None = None
    control_plane: ControlPlaneGroups | None = None
    firewall: NetworkFirewall | None = None

"""Properties of a cloud's resources that determine how nodes reach the API server and
registries.
"""

from __future__ import annotations

from msgspec import Struct


class SecurityGroups(Struct, frozen=True, kw_only=True):
    """Groups of rules that close outbound traffic unless a rule opens it.

    `token` is the resource, and `egress` its list of rules. `used_by` are the properties of a
    pool's template that list groups; an item of the second has a list `interface_groups`.
    `rules` are the resources that are a rule of the group that `rule_group` names, each with a
    property and the value that makes it a rule for inbound traffic.
    """

    token: str
    egress: str
    used_by: tuple[str, str]
    interface_groups: str
    rules: tuple[tuple[str, str, str], ...]
    rule_group: str


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
    """A gateway that private nodes need to reach registries of others.

    `private` is the property of clusters that makes nodes private, `network` the property that
    names their network, and `network_token` and `token` are the resources. `mirror` is part of the
    names of registries that nodes reach without the gateway.
    """

    private: str
    network: str
    network_token: str
    token: str
    mirror: str
    title: str
    fix: str


class UserRoutes(Struct, frozen=True, kw_only=True):
    """Routes of the user that replace those of the cloud: the property of clusters and its value,
    the property of pools that names their subnet, the subnet, and its property with the routes.
    """

    outbound: tuple[str, str]
    used_by: str
    subnet_token: str
    routes: str


class AddressRanges(Struct, frozen=True, kw_only=True):
    """Ranges of addresses of a cluster, its nodes, and their network, which must not overlap.

    `of_cluster` are properties of clusters, each with its name in messages and the cloud's default.
    `token` is a subnet of nodes, `used_by` the properties of pools and clusters that name it,
    `ranges` its properties with one range or a list, and `zone` the one with its zone. `network` is
    the property that names its network, and `network_token` and `network_ranges` are that
    resource. `kept` addresses of a subnet are the cloud's. `dns` is a property with an address of
    the services' range, and the property with that range. `pods_in_subnet` are properties of
    clusters with the values with which pods have addresses of the subnet, and `default_pods` the
    number that each node then takes by default.
    """

    of_cluster: tuple[tuple[str, str, str], ...]
    token: str
    used_by: tuple[str, ...]
    ranges: tuple[str, ...]
    zone: str = ""
    network: str
    network_token: str
    network_ranges: str
    kept: int
    dns: tuple[str, str] = ("", "")
    pods_in_subnet: tuple[tuple[str, str], ...] = ()
    default_pods: int = 0


class TrafficFilter(Struct, frozen=True, kw_only=True):
    """A list of rules of a subnet: `token` is the resource, `used_by` the subnet's property that
    names it, and `rules` its list. `rule` is a rule that is its own resource, and the property that
    names the list. `everywhere` are destinations without which nodes don't work.
    """

    token: str
    used_by: str
    rules: str
    rule: tuple[str, str]
    everywhere: tuple[str, ...]


class NodeNetwork(Struct, frozen=True, kw_only=True):
    """All settings that can cut nodes off. None if the cloud doesn't have them."""

    groups: SecurityGroups | None = None
    endpoint: PublicEndpoint | None = None
    gateway: Gateway | None = None
    routes: UserRoutes | None = None
    addresses: AddressRanges | None = None
    filters: TrafficFilter | None = None

"""Where the resources of a cloud say how nodes reach the API server and registries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroups:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicEndpoint:
    """A public endpoint of the API server that allows only the networks that `allowed` lists.

    Nodes must use it unless `private` is true. `addresses` are the resources that give nodes their
    outbound addresses.
    """

    private: str
    allowed: str
    addresses: tuple[str, ...]
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRoutes:
    """Routes of the user that replace those of the cloud: the property of clusters and its value,
    the property of pools that names their subnet, the subnet, and its property with the routes.
    """

    outbound: tuple[str, str]
    used_by: str
    subnet_token: str
    routes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNetwork:
    """All that can cut nodes off; None if the cloud doesn't have it."""

    groups: SecurityGroups | None = None
    endpoint: PublicEndpoint | None = None
    gateway: Gateway | None = None
    routes: UserRoutes | None = None

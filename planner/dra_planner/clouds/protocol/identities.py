"""Identities of clusters and nodes, and the resources that grant permissions to them."""

from __future__ import annotations

from msgspec import Struct


class GrantResource(Struct, frozen=True, kw_only=True):
    """A resource that grants permissions: its type, the property with identities, and the property
    with permissions, or with a policy as text.
    """

    token: str
    identity: str
    rights: str


class RegistryResource(Struct, frozen=True, kw_only=True):
    """A registry from which nodes pull only with a grant: its type, the property with its name,
    the end of its address, the grants, and parts of the rights that are enough.
    """

    token: str
    name: str
    domain: str
    grants: tuple[GrantResource, ...]
    rights: tuple[str, ...]
    fix: str


class NodeAdmission(Struct, frozen=True, kw_only=True):
    """Entries with which a cluster admits nodes that the cloud didn't start.

    `token` is the type of an entry, and `kinds` are the values of its property `kind` for nodes.
    `required` is a property of clusters and the value with which nodes need an entry. `groups` is
    the type of resources that start nodes. Their tags have keys that begin with `tag` and end with
    the name of the cluster.
    """

    token: str
    kind: str
    kinds: tuple[str, ...]
    required: tuple[str, str]
    groups: str
    tag: str


class IdentityResource(Struct, frozen=True, kw_only=True):
    """A resource that is an identity.

    `rights` are its own properties that name rights or hold policies as text, `trust` the one that
    says who may act as it. `policy` is a resource that is a set of rights, and its text.
    `grants` are the resources that grant rights. `everything` are rights that include all others.
    `of_cloud` is in the names of rights whose contents the cloud defines.
    """

    token: str
    kind: str  # "role", in messages
    name: str
    rights: tuple[str, ...] = ()
    trust: str = ""
    policy: tuple[str, str] = ("", "")
    grants: tuple[GrantResource, ...]
    everything: tuple[str, ...] = ()
    of_cloud: str = ""

"""Identities of clusters and nodes, and the resources that grant permissions to them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class GrantResource(Struct, frozen=True, kw_only=True):
    """A resource that grants permissions: its type, the property with identities, and the property
    with permissions, or with a policy as text. `scope` is the property with the resource that the
    permissions are for.
    """

    token: str
    identity: str
    rights: str
    scope: str = ""


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
    the name of the cluster. `identity` is an entry's property with the role, and `role` are the
    properties that lead from a group to its role, each of the resource that the one before names.
    The cloud creates the entry for the role in its pools' property `pool_role` itself.
    """

    token: str
    kind: str
    kinds: tuple[str, ...]
    required: tuple[str, str]
    groups: str
    tag: str
    identity: str
    role: tuple[str, ...]
    pool_role: str


class IdentityResource(Struct, frozen=True, kw_only=True):
    """A resource that is an identity.

    `rights` are its own properties that contain the names of rights, or policies as text. `trust`
    is the property that lists who can act as the identity. `policy` is a resource that is a set of
    rights, and its text. `grants` are the resources that grant rights. `everything` are rights that
    include all others. `of_cloud` are parts of names of rights whose contents the cloud defines,
    and `names` those that messages use instead of an ID.
    """

    token: str
    kind: str  # "role", in messages
    name: str
    rights: tuple[str, ...] = ()
    trust: str = ""
    policy: tuple[str, str] = ("", "")
    grants: tuple[GrantResource, ...]
    everything: tuple[str, ...] = ()
    of_cloud: tuple[str, ...] = ("",)
    names: Mapping[str, str] = field(default_factory=dict[str, str])


class PodIdentity(Struct, frozen=True, kw_only=True):
    """A resource that gives pods with a service account an identity of the cloud: its type, and its
    properties with the namespace, the service account, and the identity. The identity must trust
    the service `trusted`.
    """

    token: str
    namespace: str
    account: str
    identity: str = ""
    trusted: str = ""

"""Identities of clusters and nodes, and the resources that grant permissions to them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class GrantResource(Struct, frozen=True, kw_only=True):
    """A resource that grants permissions: its type, the property with identities, and the property
    with permissions, or with a policy as text. `scope` is the property with the resource to
    which the permissions apply.
    """

    token: str
    identity: str
    rights: str
    scope: str = ""


class RegistryResource(Struct, frozen=True, kw_only=True):
    """A registry from which nodes can pull images only with a grant: its type, the property with
    its name, the suffix of its address, the grants, and parts of the names of sufficient rights.
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
    the cluster's name. `identity` is an entry's property with the role. `role` is the path of
    properties from a group to its role, in which each property names the next resource. The cloud
    itself creates the entry for the role in its pools' property `pool_role`. `association` is the
    type of resources that add permissions to an entry. `node_class` is the property of Karpenter's
    node classes with the role of their nodes.
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
    association: str
    node_class: str


class IdentityResource(Struct, frozen=True, kw_only=True):
    """A resource that is an identity.

    `rights` are its own properties that contain the names of rights, or policies as text. `trust`
    is the property that lists who can assume the identity. `policy` is the type of a resource with
    a set of rights, and its property with the text. `grants` are the resources that grant rights.
    `everything` are rights that include all other rights. `of_cloud` are parts of the names of
    rights whose contents the cloud defines, and `names` are the names that messages use instead of
    an ID.
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
    the service `trusted`, and allow it the action `session`. Nodes need the add-on `agent`,
    unless the cluster includes it (property and value `built_in`). `addon` is an add-on's list
    of service accounts with identities.
    """

    token: str
    namespace: str
    account: str
    identity: str = ""
    trusted: str = ""
    session: str = ""
    agent: str = ""
    built_in: tuple[str, object] = ("", None)
    addon: str = ""


class AddonAccount(Struct, frozen=True, kw_only=True):
    """A service account of an add-on that needs an identity of the cloud."""

    addon: str
    namespace: str
    name: str


class FederatedAccounts(Struct, frozen=True, kw_only=True):
    """How service accounts use an identity through the cluster's OIDC issuer.

    `token` is the type of the resource that allows this use, and `kind` is its name in messages.
    `subject` is the property with the allowed service accounts, and `pattern` extracts their
    namespaces and names. `identity` is the property with the identity's name, or "" if the name is
    unknown before the identity exists. `annotation` is the annotation in which a service account
    names its identity, and `role` is an add-on's property with the identity. `provider` is a part
    of the addresses of the cloud's issuers, and `audience` is the prefix of their tokens' audience.
    `issuer` and `audiences` are properties of a resource that isn't a policy. `pool` is the
    property of clusters with the identity pool, and the end of the pool's name. `pod_label` is the
    label of pods that get a token for the identity, or "" if every pod of the account gets one.
    `grants` are the types of all resources that can allow the use of an identity.
    """

    token: str
    kind: str
    subject: str
    pattern: str
    identity: str = ""
    annotation: str
    role: str = ""
    provider: str = ""
    audience: str = ""
    issuer: str = ""
    audiences: str = ""
    pool: tuple[str, str] = ("", "")
    pod_label: str = ""
    grants: tuple[str, ...] = ()
